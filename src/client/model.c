/* SPDX-License-Identifier: MIT */
#include "client/model_priv.h"

#include <unistd.h>

#include "tape/reader.h"
#include "term/term.h"

static int
open_at(struct tape_reader **ret, const struct model_tape *tape, uint64_t off)
{
    struct tape_reader_options opt = { 0 };
    struct tape_reader *r;
    struct err ignored;
    bool is_done = tape->done_path && access(tape->path, F_OK) != 0;
    int e = tape_reader_open(&r, tape_io_files(), is_done ? tape->done_path : tape->path,
                             &opt, &ignored);
    if (e < 0)
        return e;
    e = tape_reader_seek_byte(r, off);
    if (e < 0) {
        tape_reader_close(r);
        return e;
    }
    *ret = r;
    return 0;
}

/* What of a DATA record lies in from..to. */
static struct view
cut(const struct tape_record *rec, uint64_t from, uint64_t to)
{
    uint64_t start = rec->byte_off, end = start + rec->bytes.n;
    from = from > start ? from : start;
    to = to < end ? to : end;
    if (from >= to)
        return (struct view){ 0 };
    return (struct view){ rec->bytes.p + (from - start), (size_t)(to - from) };
}

/* False when there is nothing left before `to`. */
static bool
feed(struct term *t, const struct model_tape *tape, const struct tape_record *rec,
     uint64_t *from, uint64_t to)
{
    if (rec->tag == TAPE_RESIZE)
        term_resize(t, rec->cols, rec->rows);
    if (rec->tag != TAPE_DATA)
        return true;
    struct view v = cut(rec, *from, to);
    if (v.n) {
        *from = rec->byte_off + (uint64_t)(v.p - rec->bytes.p);
        term_feed(t, v.p, v.n, *from);
        *from += v.n;
        if (tape->fed)
            tape->fed(tape->ctx, *from);
    }
    return rec->byte_off + rec->bytes.n < to;
}

int
model_catch_up(struct term *t, const struct model_tape *tape, uint64_t from, uint64_t to)
{
    struct tape_reader *r;
    struct tape_record rec;
    if (from >= to)
        return 0;
    if (to - from > MODEL_REPLAY_MAX) {
        from = to - MODEL_REPLAY_MAX;
        term_feed(t, "\030", 1, from); /* no sequence goes on over the hole */
    }
    int e = open_at(&r, tape, from);
    if (e < 0)
        return e;
    while (tape_reader_next(r, &rec) && feed(t, tape, &rec, &from, to))
        continue;
    tape_reader_close(r);
    return 0;
}

uint64_t
model_copy(const struct model_tape *tape, uint64_t from, uint64_t to,
           int (*fn)(void *ctx, struct view bytes), void *ctx)
{
    struct tape_reader *r;
    struct tape_record rec;
    if (from >= to || open_at(&r, tape, from) < 0)
        return from;
    while (from < to && tape_reader_next(r, &rec)) {
        if (rec.tag != TAPE_DATA)
            continue;
        struct view v = cut(&rec, from, to);
        if (v.n && fn(ctx, v) < 0)
            break;
        if (v.n)
            from = rec.byte_off + (uint64_t)(v.p - rec.bytes.p) + v.n;
    }
    tape_reader_close(r);
    return from;
}
