/* SPDX-License-Identifier: MIT */
/*
 * cast.c -- a recording as an asciicast.
 *
 * Each record becomes one event. Where the stream is masked, what the scanner still holds
 * lacks its bytes: such events wait, in their order, until it has handed them out, which
 * keeps their length. Times are whole microseconds since the first record; version 3 has
 * their differences, so that nothing adds up to an error.
 */
#include "play/cast.h"

#include <errno.h>
#include <inttypes.h>

#include "play/cast_text_priv.h"
#include "play/clean.h"

enum {
    COLS = 80,
    ROWS = 24,
    OUTPUT_MAX = 1 << 20,    /* bytes of an event */
    PIECE_BYTES = 256 << 10, /* written away when there is this much */
    WAITING_MAX = 64 << 10,  /* events; past it those without bytes wait no more */
    WAITING_TEXT_MAX = 4 << 20,
};

/* An event that waits for bytes, or behind one. */
struct waiting {
    char code; /* 'o', 'r', 'm' */
    uint64_t ts_ns;
    size_t n; /* of its bytes: in `masked`, or in `texts` */
};

struct cast {
    const struct play_cast_options *opt;
    play_write_fn write;
    void *wctx;
    struct buf out;

    bool has_head;
    unsigned cols, rows;
    uint64_t first_ts_ns, last_us; /* of the last event */
    uint64_t next_byte;
    uint64_t unrecorded; /* bytes that the recorder owned up to since the last DATA */
    size_t next_event;
    struct cast_text text;

    struct redact_stream *mask; /* NULL: bytes as they are */
    struct buf masked;          /* handed out, not yet in an event */
    size_t masked_at;
    struct buf waiting, texts;
    size_t waiting_at, texts_at;
    bool is_ended;
};

/* -- events -- */

static int
flush(struct cast *c, size_t least)
{
    if (c->out.n < least)
        return c->out.failed;
    int r = c->out.failed;
    if (!r)
        r = c->write(c->wctx, (struct view){ c->out.p, c->out.n });
    buf_clear(&c->out);
    return r;
}

static void
put_text(struct cast *c, struct json *j, const char *key, const char *text)
{
    struct cast_text own = { 0 };
    json_key(j, key);
    buf_puts(&c->out, "\"");
    (void)cast_text_put(&own, (struct view){ (const uint8_t *)text, strlen(text) },
                        &c->out);
    (void)cast_text_end(&own, &c->out); /* a failure is remembered there */
    buf_puts(&c->out, "\"");
    j->comma = true;
}

static void
put_title(struct cast *c, struct json *j)
{
    AUTO(buf) title = { 0 };
    if (c->opt->title)
        buf_puts(&title, c->opt->title);
    if (!c->opt->redact)
        buf_puts(&title,
                 title.n ? " (secrets are not masked)" : "secrets are not masked");
    if (title.n)
        put_text(c, j, "title", buf_str(&title));
}

static void
put_head(struct cast *c)
{
    struct json json = { .out = &c->out }, *j = &json;
    bool is_three = c->opt->version == 3;
    json_open(j, '{');
    json_key(j, "version"), json_u64(j, is_three ? 3 : 2);
    if (is_three)
        json_key(j, "term"), json_open(j, '{');
    json_key(j, is_three ? "cols" : "width"), json_u64(j, c->cols);
    json_key(j, is_three ? "rows" : "height"), json_u64(j, c->rows);
    if (is_three)
        json_close(j, '}');
    json_key(j, "timestamp"), json_u64(j, c->first_ts_ns / 1000000000);
    if (c->opt->command)
        put_text(c, j, "command", c->opt->command);
    put_title(c, j);
    json_key(j, "ahr"), json_open(j, '{');
    json_key(j, "masked"), json_bool(j, c->opt->redact != NULL);
    json_close(j, '}');
    json_close(j, '}');
    buf_puts(&c->out, "\n");
    c->has_head = true;
}

/* The event's text is what the caller appends between these two. */
static void
begin_event(struct cast *c, uint64_t ts_ns, char code)
{
    uint64_t us = ts_ns > c->first_ts_ns ? (ts_ns - c->first_ts_ns) / 1000 : 0;
    if (us < c->last_us)
        us = c->last_us;
    uint64_t told = c->opt->version == 3 ? us - c->last_us : us;
    c->last_us = us;
    if (!c->has_head)
        put_head(c);
    buf_printf(&c->out, "[%" PRIu64 ".%06" PRIu64 ",\"%c\",\"", told / 1000000,
               told % 1000000, code);
}

static int
end_event(struct cast *c)
{
    buf_puts(&c->out, "\"]\n");
    return flush(c, PIECE_BYTES);
}

static int
put_output(struct cast *c, uint64_t ts_ns, struct view bytes)
{
    uint64_t before_us = c->last_us;
    size_t start = c->has_head ? c->out.n : SIZE_MAX;
    begin_event(c, ts_ns, 'o');
    size_t text = c->out.n;
    int r = cast_text_put(&c->text, bytes, &c->out);
    if (!r && bytes.n && c->out.n == text && start != SIZE_MAX) {
        c->out.n = start; /* all of it is the beginning of a character */
        c->last_us = before_us;
        return 0;
    }
    return r < 0 ? r : end_event(c);
}

/* A character that was cut off will not go on. */
static int
end_text(struct cast *c, uint64_t ts_ns)
{
    if (!c->text.carried)
        return 0;
    begin_event(c, ts_ns, 'o');
    int r = cast_text_end(&c->text, &c->out);
    return r < 0 ? r : end_event(c);
}

/* A size or a label: a whole text. */
static int
put_whole(struct cast *c, char code, uint64_t ts_ns, struct view text)
{
    struct cast_text own = { 0 };
    begin_event(c, ts_ns, code);
    int r = cast_text_put(&own, text, &c->out);
    if (!r)
        r = cast_text_end(&own, &c->out);
    return r < 0 ? r : end_event(c);
}

/* -- events that wait -- */

static bool
is_waiting(const struct cast *c)
{
    return c->waiting_at < c->waiting.n;
}

static int
wait_event(struct cast *c, char code, uint64_t ts_ns, struct view text, size_t n)
{
    struct waiting w = { code, ts_ns, n };
    int r = buf_append(&c->texts, text.p, text.n);
    return r < 0 ? r : buf_append(&c->waiting, &w, sizeof(w));
}

/* Forgets what was taken from the front, when that is most of it. */
static void
compact(struct buf *b, size_t *at)
{
    if (*at < b->n && *at < PIECE_BYTES)
        return;
    b->n -= *at;
    memmove(b->p, b->p + *at, b->n);
    *at = 0;
}

/* Events whose bytes are there. */
static int
drain(struct cast *c)
{
    int r = 0;
    while (!r && is_waiting(c)) {
        struct waiting w;
        memcpy(&w, c->waiting.p + c->waiting_at, sizeof(w));
        bool is_output = w.code == 'o';
        struct buf *from = is_output ? &c->masked : &c->texts;
        size_t *at = is_output ? &c->masked_at : &c->texts_at;
        if (from->n - *at < w.n)
            break;
        struct view bytes = { from->p + *at, w.n };
        r = is_output ? put_output(c, w.ts_ns, bytes)
                      : put_whole(c, w.code, w.ts_ns, bytes);
        *at += w.n;
        c->waiting_at += sizeof(w);
    }
    if (c->waiting_at)
        compact(&c->waiting, &c->waiting_at);
    if (c->texts_at)
        compact(&c->texts, &c->texts_at);
    if (c->masked_at)
        compact(&c->masked, &c->masked_at);
    return r;
}

static int
output_piece(struct cast *c, uint64_t ts_ns, struct view bytes)
{
    if (!c->mask)
        return put_output(c, ts_ns, bytes);
    int r = wait_event(c, 'o', ts_ns, (struct view){ 0 }, bytes.n);
    if (!r)
        r = redact_stream_feed(c->mask, bytes.p, bytes.n, &c->masked);
    return r < 0 ? r : drain(c);
}

/* A record that another program wrote may be larger than an event should be. */
static int
output(struct cast *c, uint64_t ts_ns, struct view bytes)
{
    int r = 0;
    while (!r && bytes.n) {
        size_t n = bytes.n < OUTPUT_MAX ? bytes.n : OUTPUT_MAX;
        r = output_piece(c, ts_ns, (struct view){ bytes.p, n });
        bytes.p += n;
        bytes.n -= n;
    }
    return r;
}

/* An event between outputs. Too many that wait stand before their place rather than fill
 * the memory. */
static int
between(struct cast *c, char code, uint64_t ts_ns, struct view text)
{
    bool is_full = c->waiting.n - c->waiting_at > WAITING_MAX * sizeof(struct waiting) ||
                   c->texts.n - c->texts_at > WAITING_TEXT_MAX;
    if (!is_waiting(c) || is_full)
        return put_whole(c, code, ts_ns, text);
    return wait_event(c, code, ts_ns, text, text.n);
}

/* All that the scanner holds is decided now. */
static int
end_stretch(struct cast *c, uint64_t ts_ns)
{
    int r = c->mask ? redact_stream_flush(c->mask, &c->masked) : 0;
    if (!r)
        r = drain(c);
    return r < 0 ? r : end_text(c, ts_ns);
}

/* -- records -- */

static int
marker(struct cast *c, uint64_t ts_ns, const char *before, struct view text)
{
    AUTO(buf) label = { 0 };
    int r = buf_puts(&label, before);
    if (!r)
        r = play_clean_masked(c->opt->redact, text, false, &label);
    return r < 0 ? r : between(c, 'm', ts_ns, (struct view){ label.p, label.n });
}

static int
gap(struct cast *c, uint64_t ts_ns, uint64_t bytes, const char *why)
{
    char text[100];
    if (!bytes)
        return 0;
    snprintf(text, sizeof(text), "%" PRIu64 " bytes %s", bytes, why);
    return marker(c, ts_ns, text, (struct view){ 0 });
}

/* The stream goes on at byte_off, or ends there. Over a gap nothing goes on: not a
 * character, nor what may be a secret. */
static int
close_gap(struct cast *c, uint64_t byte_off, uint64_t ts_ns)
{
    uint64_t missing = byte_off > c->next_byte ? byte_off - c->next_byte : 0;
    uint64_t owned = play_gap_owned(missing, c->unrecorded);
    c->unrecorded = 0;
    c->next_byte += missing;
    int r = missing ? end_stretch(c, ts_ns) : 0;
    if (!r)
        r = gap(c, ts_ns, owned, "were not recorded here");
    return r < 0 ? r
                 : gap(c, ts_ns, missing - owned,
                       "are missing here: the recording is damaged");
}

/* Other writers' offsets may go back; as in load.c, ours do not. */
static int
data(struct cast *c, const struct tape_record *rec)
{
    struct view bytes = rec->bytes;
    uint64_t end = c->opt->to_byte ? c->opt->to_byte : UINT64_MAX;
    uint64_t at = rec->byte_off > c->next_byte ? rec->byte_off : c->next_byte;
    if (at >= end) {
        c->is_ended = true;
        return 0;
    }
    if (bytes.n > end - at)
        bytes.n = (size_t)(end - at);
    int r = close_gap(c, at, rec->ts_ns);
    c->next_byte = at + bytes.n;
    return r < 0 ? r : output(c, rec->ts_ns, bytes);
}

static int
resize(struct cast *c, const struct tape_record *rec)
{
    char text[24];
    if (!rec->cols || !rec->rows)
        return 0;
    if (c->mask)
        redact_stream_resize(c->mask, rec->cols);
    c->cols = rec->cols;
    c->rows = rec->rows;
    if (!c->has_head) { /* before the first output: the size it begins with */
        put_head(c);
        return 0;
    }
    int n = snprintf(text, sizeof(text), "%ux%u", c->cols, c->rows);
    return between(c, 'r', rec->ts_ns, (struct view){ (const uint8_t *)text, (size_t)n });
}

/* Instructions that were given before this record. */
static int
instructions(struct cast *c, uint64_t ts_ns)
{
    const struct play_events *all = c->opt->events;
    for (; all && c->next_event < all->count; c->next_event++) {
        struct play_event e = play_events_at(all, c->next_event);
        if (e.kind != PLAY_INSTRUCTION)
            continue;
        if (e.ts_ns > ts_ns)
            return 0;
        int r = marker(c, e.ts_ns, "instruction: ", e.text);
        if (r < 0)
            return r;
    }
    return 0;
}

static int
record(struct cast *c, const struct tape_record *rec)
{
    int r = instructions(c, rec->ts_ns);
    if (r < 0)
        return r;
    switch ((enum tape_tag)rec->tag) {
    case TAPE_DATA:
        return data(c, rec);
    case TAPE_RESIZE:
        return resize(c, rec);
    case TAPE_SNAPSHOT:
        return marker(c, rec->ts_ns, "", rec->bytes);
    case TAPE_MARK:
        if (rec->code == TAPE_MARK_GAP)
            c->unrecorded += rec->val;
        break;
    case TAPE_INPUT:
        break;
    }
    return 0;
}

/* The last moment counts, too: a pause before the end is part of the session. */
static int
finish(struct cast *c, uint64_t last_ts_ns)
{
    char text[16];
    int r = end_stretch(c, last_ts_ns);
    if (!r && c->unrecorded < UINT64_MAX - c->next_byte)
        r = close_gap(c, c->next_byte + c->unrecorded, last_ts_ns);
    if (!r)
        r = instructions(c, UINT64_MAX);
    uint64_t us = last_ts_ns > c->first_ts_ns ? (last_ts_ns - c->first_ts_ns) / 1000 : 0;
    if (!r && c->opt->version == 3 && c->opt->has_exit) {
        int n = snprintf(text, sizeof(text), "%d", c->opt->exit_code);
        r = put_whole(c, 'x', last_ts_ns,
                      (struct view){ (const uint8_t *)text, (size_t)n });
    } else if (!r && us > c->last_us) {
        r = put_output(c, last_ts_ns, (struct view){ 0 });
    }
    if (!c->has_head)
        put_head(c);
    return r < 0 ? r : flush(c, 1);
}

static int
copy(struct cast *c, struct tape_reader *reader)
{
    struct tape_record rec;
    uint64_t last_ts_ns = 0;
    int r = 0;
    bool is_first = true;
    while (!r && !c->is_ended && tape_reader_next(reader, &rec)) {
        if (c->opt->to_ns && rec.ts_ns > c->opt->to_ns)
            break;
        if (is_first)
            c->first_ts_ns = rec.ts_ns;
        is_first = false;
        last_ts_ns = rec.ts_ns;
        if (c->opt->record)
            c->opt->record(c->opt->ctx, &rec);
        r = record(c, &rec);
    }
    return r < 0 ? r : finish(c, last_ts_ns);
}

static int
open_mask(struct cast *c)
{
    struct redact_options opt = { .is_terminal = true,
                                  .cols = c->cols,
                                  .keeps_length = true };
    return c->opt->redact ? redact_stream_new(&c->mask, c->opt->redact, &opt) : 0;
}

int
play_cast_write(struct tape_io *io, const char *path, const struct play_cast_options *opt,
                play_write_fn write, void *wctx, struct err *err)
{
    struct tape_reader_options read = { opt->notice, opt->ctx, opt->progress };
    struct cast c = { .opt = opt,
                      .write = write,
                      .wctx = wctx,
                      .cols = opt->cols ? opt->cols : COLS,
                      .rows = opt->rows ? opt->rows : ROWS };
    struct tape_reader *reader;
    int r = tape_reader_open(&reader, io, path, &read, err);
    if (r < 0)
        return r;
    r = open_mask(&c);
    if (!r)
        r = copy(&c, reader);
    tape_reader_close(reader);
    if (c.mask)
        redact_stream_free(c.mask);
    buf_release(&c.out);
    buf_release(&c.masked);
    buf_release(&c.waiting);
    buf_release(&c.texts);
    if (opt->ret_bad_bytes)
        *opt->ret_bad_bytes = c.text.bad_bytes;
    return r < 0 ? err_code(err, r, "cannot write '%s' as a cast", path) : 0;
}
