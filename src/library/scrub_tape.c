/* SPDX-License-Identifier: MIT */
/*
 * scrub_tape.c -- secrets out of a recording.
 *
 * What was made is not believed: it is read again, by the scanner until that finds
 * nothing, by verify, which must count the same bytes, records and times as in the old
 * one, and through the terminal model, for a secret may stand on a line although it never
 * stood in the stream.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "library/scrub_priv.h"
#include "play/report.h"
#include "tape/rewrite.h"
#include "tape/verify.h"

enum { PASSES = 4, KINDS = 2 };

/* -- one pass over a recording -- */

struct filter {
    struct redact_stream *streams[KINDS]; /* DATA and INPUT */
    struct scrub *labels;
    struct scrub_count found, in_labels;
};

static void
on_find(void *ctx, const struct redact_find *find)
{
    struct filter *f = ctx;
    (void)find;
    f->found.places++;
}

static int
filter_feed(void *ctx, enum tape_tag kind, struct view bytes, struct buf *out)
{
    struct filter *f = ctx;
    return redact_stream_feed(f->streams[kind == TAPE_INPUT], bytes.p, bytes.n, out);
}

static int
filter_flush(void *ctx, enum tape_tag kind, struct buf *out)
{
    struct filter *f = ctx;
    return redact_stream_flush(f->streams[kind == TAPE_INPUT], out);
}

static void
filter_resize(void *ctx, uint16_t cols, uint16_t rows)
{
    struct filter *f = ctx;
    (void)rows;
    for (int i = 0; i < KINDS; i++)
        redact_stream_resize(f->streams[i], cols);
}

static int
filter_label(void *ctx, struct view label, struct buf *out)
{
    struct filter *f = ctx;
    return scrub_text(f->labels, label, out, &f->in_labels);
}

static void
filter_release(struct filter *f)
{
    for (int i = 0; i < KINDS; i++)
        redact_stream_free(f->streams[i]);
    scrub_free(f->labels);
}

static int
filter_init(struct filter *f, struct redact *secrets)
{
    struct redact_options opt = {
        .is_terminal = true, .keeps_length = true, .on_find = on_find, .ctx = f
    };
    int e = scrub_new(&f->labels, secrets);
    for (int i = 0; !e && i < KINDS; i++)
        e = redact_stream_new(&f->streams[i], secrets, &opt);
    return e;
}

static int
pass(struct redact *secrets, const char *from, const char *to,
     const struct tape_progress *progress, struct scrub_count *count,
     struct tape_rewrite_report *ret, struct err *err)
{
    AUTO(filter) f = { 0 };
    const struct tape_filter calls = { &f, filter_feed, filter_flush, filter_resize,
                                       filter_label };
    int e = filter_init(&f, secrets);
    if (e < 0)
        return err_code(err, e, "cannot mask '%s'", from);
    e = tape_rewrite(tape_io_files(), from, to, &calls, progress, ret, err);
    if (e < 0)
        return e;
    bool is_changed = ret->changed_bytes || ret->changed_labels;
    count->places += is_changed ? f.found.places + f.in_labels.places : 0;
    count->bytes += is_changed ? ret->changed_bytes + f.in_labels.bytes : 0;
    return 0;
}

/* -- until nothing is found -- */

static int
settle(struct redact *secrets, const char *to, struct scrub_count *count, struct err *err)
{
    AUTO(buf) next = { 0 };
    int e = buf_printf(&next, "%s.pass", to);
    if (e < 0)
        return err_code(err, e, "cannot mask '%s'", to);
    for (int i = 1; i < PASSES; i++) {
        struct tape_rewrite_report report = { 0 };
        e = pass(secrets, to, buf_str(&next), NULL, count, &report, err);
        if (e < 0)
            return e;
        bool is_done = !report.changed_bytes && !report.changed_labels;
        tape_rewrite_report_release(&report);
        e = is_done ? unlink(buf_str(&next)) : rename(buf_str(&next), to);
        if (e < 0)
            return err_sys(err, "cannot write '%s'", to);
        if (is_done)
            return 0;
    }
    return err_set(err, ERR_LIMIT,
                   "cannot mask '%s': however often, something is found in it", to);
}

/* -- the same recording -- */

static bool
is_like(const struct tape_verify_report *a, const struct tape_verify_report *b)
{
    return a->blocks == b->blocks && a->records == b->records && a->bytes == b->bytes &&
           a->resizes == b->resizes && a->snapshots == b->snapshots &&
           a->first_ts_ns == b->first_ts_ns && a->last_ts_ns == b->last_ts_ns &&
           (!b->notes.damages || a->notes.damages);
}

static int
compare(const char *from, const char *to, struct err *err)
{
    struct tape_verify_report old = { 0 }, new = { 0 };
    int e = tape_verify(tape_io_files(), from, NULL, &old, err);
    if (!e)
        e = tape_verify(tape_io_files(), to, NULL, &new, err);
    if (!e && !is_like(&old, &new))
        e = err_set(err, -EIO, "'%s' made anew is not what it was; nothing was changed",
                    from);
    tape_verify_report_release(&old);
    tape_verify_report_release(&new);
    return e;
}

/* -- its final lines -- */

/* Two reports, one masked, held against each other line by line. */
struct lines {
    struct buf hashes; /* of the first one's lines: uint64_t */
    uint64_t hash;     /* of the line so far */
    size_t at;         /* which line */
    bool is_second;
    uint64_t differs_at; /* the first, from 1; 0: none */
};

static void
lines_release(struct lines *l)
{
    buf_release(&l->hashes);
}

static int
end_line(struct lines *l)
{
    uint64_t hash = l->hash, first;
    l->hash = 0;
    l->at++;
    if (!l->is_second)
        return buf_append(&l->hashes, &hash, sizeof(hash));
    if (l->at * sizeof(first) > l->hashes.n)
        first = ~hash;
    else
        memcpy(&first, l->hashes.p + (l->at - 1) * sizeof(first), sizeof(first));
    if (first != hash && !l->differs_at)
        l->differs_at = l->at;
    return 0;
}

/* A play_write_fn. */
static int
take(void *ctx, struct view bytes)
{
    struct lines *l = ctx;
    int e = 0;
    for (size_t i = 0; !e && i < bytes.n; i++) {
        if (bytes.p[i] == '\n')
            e = end_line(l);
        else
            l->hash = (l->hash ^ bytes.p[i]) * UINT64_C(0x100000001b3) + 1;
    }
    return e;
}

static int
look_at_lines(struct redact *secrets, const char *path, struct lines *l, struct err *err)
{
    struct play_loaded loaded = { 0 };
    int e = play_load(&loaded, tape_io_files(), path, &(struct play_load_options){ 0 },
                      err);
    if (e < 0)
        return e;
    const struct play_about about = { .cols = term_cols(loaded.term),
                                      .rows = term_rows(loaded.term),
                                      .is_masked = true };
    struct play_report_options opt = { .about = &about };
    l->hashes.ceiling = SIZE_MAX;
    e = play_report(&loaded, NULL, &play_format_txt, &opt, take, l, err);
    l->is_second = true;
    l->at = 0;
    opt.redact = secrets;
    if (!e)
        e = play_report(&loaded, NULL, &play_format_txt, &opt, take, l, err);
    play_loaded_release(&loaded);
    return e < 0 ? err_code(err, e, "cannot look at the lines of '%s'", path) : 0;
}

static int
check_lines(struct redact *secrets, const char *from, const char *to, struct err *err)
{
    AUTO(lines) l = { 0 };
    int e = look_at_lines(secrets, to, &l, err);
    if (!e && l.differs_at)
        e = err_set(err, ERR_LIMIT,
                    "line %" PRIu64 " of '%s' shows it, but was not written in one go: "
                    "it cannot be masked, and nothing was changed",
                    l.differs_at, from);
    return e;
}

/* -- all of it -- */

/* Bytes of its files that are no good, and not only blocks that are missing already. */
static bool
has_bad_bytes(const struct tape_notes *notes)
{
    for (size_t i = 0; i < notes->count; i++)
        if (notes->list[i].kind != TAPE_NOTE_WARNING && notes->list[i].length)
            return true;
    return notes->damages && notes->left_out;
}

static int
make(struct redact *secrets, const char *from, const char *to,
     const struct tape_progress *progress, struct scrub_count *count,
     struct tape_rewrite_report *ret, struct err *err)
{
    int e = pass(secrets, from, to, progress, count, ret, err);
    if (e < 0)
        return e;
    if (!ret->blocks && ret->notes.damages)
        e = err_set(err, ERR_DAMAGED,
                    "nothing of '%s' can be read, so that nothing of it can be masked",
                    from);
    if (!e && (ret->changed_bytes || ret->changed_labels))
        e = settle(secrets, to, count, err);
    if (!e)
        e = compare(from, to, err);
    return e ? e : check_lines(secrets, from, to, err);
}

int
scrub_tape(struct redact *secrets, const char *from, const char *to,
           const struct tape_progress *progress, struct scrub_count *count,
           bool *ret_is_damaged, struct err *err)
{
    struct tape_rewrite_report report = { 0 };
    struct scrub_count found = { 0 };
    int e = make(secrets, from, to, progress, &found, &report, err);
    if (!e) {
        count->places += found.places;
        count->bytes += found.bytes;
        *ret_is_damaged = has_bad_bytes(&report.notes);
    }
    tape_rewrite_report_release(&report);
    return e;
}
