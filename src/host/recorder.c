/* SPDX-License-Identifier: MIT */
#include "host/recorder_priv.h"

static int
open_masks(struct recorder *r, const struct host_options *opt, struct redact *redact)
{
    struct redact_options mask = { .is_terminal = true,
                                   .cols = opt->cols,
                                   .keeps_length = true };
    int e = redact_stream_new(&r->out_mask, redact, &mask);
    if (!e && opt->keeps_input)
        e = redact_stream_new(&r->in_mask, redact, &mask);
    return e;
}

int
recorder_open(struct recorder *r, const char *tape_path, const struct host_options *opt,
              struct redact *redact, void (*on_news)(void *ctx), void *ctx,
              struct err *err)
{
    *r = (struct recorder){ .clock = opt->clock };
    struct tape_writer_options tape = tape_writer_defaults;
    tape.quality = opt->quality;
    tape.block_ns = opt->block_ns;
    tape.sync = opt->sync;
    tape.start_ts_ns = opt->clock.real_ns;
    tape.cols = opt->cols;
    tape.rows = opt->rows;
    tape.on_news = on_news;
    tape.news_ctx = ctx;
    memcpy(tape.session_id, opt->uuid, sizeof(tape.session_id));
    int e = redact ? open_masks(r, opt, redact) : 0;
    if (e < 0)
        err_code(err, e, "cannot mask secrets");
    else
        e = tape_writer_open(&r->tape, tape_io_files(), tape_path, &tape, err);
    if (e < 0) {
        redact_stream_free(r->out_mask);
        redact_stream_free(r->in_mask);
    }
    return e;
}

uint64_t
recorder_now_ns(const struct recorder *r)
{
    return clock_now_ns(&r->clock);
}

static enum tape_append
append(struct recorder *r, struct tape_record rec)
{
    if (!rec.ts_ns)
        rec.ts_ns = clock_now_ns(&r->clock);
    int64_t step_ns = clock_step_ns(&r->clock, &r->clock_base_ns);
    if (step_ns)
        tape_writer_append(r->tape,
                           (struct tape_record){ .tag = TAPE_MARK,
                                                 .ts_ns = rec.ts_ns,
                                                 .code = TAPE_MARK_CLOCK,
                                                 .val = (uint32_t)(step_ns / 1000000) });
    return tape_writer_append(r->tape, rec);
}

static struct view
append_output(struct recorder *r, struct view bytes)
{
    if (bytes.n)
        (void)append(r, (struct tape_record){ .tag = TAPE_DATA, .bytes = bytes });
    r->byte_off += bytes.n;
    return bytes;
}

static struct view
as_stars(struct recorder *r, size_t n)
{
    buf_clear(&r->stars);
    uint8_t *p = buf_grow(&r->stars, n);
    if (!p)
        return (struct view){ 0 };
    memset(p, '*', n);
    return (struct view){ p, n };
}

struct view
recorder_output(struct recorder *r, struct view bytes)
{
    if (!r->out_mask)
        return append_output(r, bytes);
    buf_clear(&r->masked);
    /* A scanner without memory lets nothing through; nor do we. */
    if (redact_stream_feed(r->out_mask, bytes.p, bytes.n, &r->masked) < 0)
        return append_output(r, as_stars(r, bytes.n));
    return append_output(r, (struct view){ r->masked.p, r->masked.n });
}

/* What of the input is held: all of it, or what cannot be a secret at rest. */
static void
flush_input(struct recorder *r, bool is_all)
{
    if (!r->in_mask || !redact_stream_held(r->in_mask))
        return;
    buf_clear(&r->masked);
    int e = is_all ? redact_stream_flush(r->in_mask, &r->masked)
                   : redact_stream_rest(r->in_mask, &r->masked);
    if (!e && r->masked.n)
        (void)append(r, (struct tape_record){ .tag = TAPE_INPUT,
                                              .bytes = { r->masked.p, r->masked.n } });
}

struct view
recorder_rest(struct recorder *r)
{
    flush_input(r, false);
    buf_clear(&r->masked);
    if (r->out_mask)
        redact_stream_rest(r->out_mask, &r->masked);
    return append_output(r, (struct view){ r->masked.p, r->masked.n });
}

struct view
recorder_flush(struct recorder *r)
{
    flush_input(r, true);
    buf_clear(&r->masked);
    if (r->out_mask)
        redact_stream_flush(r->out_mask, &r->masked);
    return append_output(r, (struct view){ r->masked.p, r->masked.n });
}

bool
recorder_holds(const struct recorder *r)
{
    return (r->out_mask && redact_stream_held(r->out_mask)) ||
           (r->in_mask && redact_stream_held(r->in_mask));
}

void
recorder_input(struct recorder *r, struct view bytes, bool is_secret)
{
    if (is_secret)
        flush_input(r, true); /* what was typed before it stands before it */
    if (!is_secret && r->in_mask) {
        buf_clear(&r->masked);
        if (redact_stream_feed(r->in_mask, bytes.p, bytes.n, &r->masked) < 0)
            return;
        bytes = (struct view){ r->masked.p, r->masked.n };
    } else if (is_secret) {
        bytes = as_stars(r, bytes.n);
    }
    if (!bytes.n)
        return;
    (void)append(r, (struct tape_record){ .tag = TAPE_INPUT, .bytes = bytes });
    if (is_secret)
        (void)append(
            r, (struct tape_record){ .tag = TAPE_MARK, .code = TAPE_MARK_REDACTED });
}

uint64_t
recorder_seen_off(const struct recorder *r)
{
    return r->byte_off + (r->out_mask ? redact_stream_held(r->out_mask) : 0);
}

enum tape_append
recorder_snapshot(struct recorder *r, uint64_t id, uint64_t anchor, struct view label,
                  uint64_t ts_ns)
{
    return append(r, (struct tape_record){ .tag = TAPE_SNAPSHOT,
                                           .ts_ns = ts_ns,
                                           .snapshot_id = id,
                                           .byte_off = anchor,
                                           .bytes = label });
}

void
recorder_resize(struct recorder *r, uint16_t cols, uint16_t rows)
{
    if (r->out_mask)
        redact_stream_resize(r->out_mask, cols);
    if (r->in_mask)
        redact_stream_resize(r->in_mask, cols);
    (void)append(r,
                 (struct tape_record){ .tag = TAPE_RESIZE, .cols = cols, .rows = rows });
}

int
recorder_finish(struct recorder *r, struct tape_writer_status *ret, struct err *err)
{
    int e = tape_writer_finish(r->tape, clock_now_ns(&r->clock), ret, err);
    redact_stream_free(r->out_mask);
    redact_stream_free(r->in_mask);
    buf_release(&r->masked);
    buf_release(&r->stars);
    return e;
}
