/* SPDX-License-Identifier: MIT */
#include "client/model_priv.h"

#include <errno.h>
#include <unistd.h>

#include "tape/reader.h"

struct term_options
model_options(unsigned cols, unsigned rows, bool keeps_rows)
{
    struct term_options how = term_options_default();
    how.cols = cols;
    how.rows = rows;
    if (!keeps_rows) {
        how.scrollback_rows = MODEL_SCROLLBACK;
        how.alternate_rows = 0;
    }
    return how;
}

int
model_make(struct model *m, const struct term_options *how)
{
    model_release(m);
    m->term = term_new(how);
    m->off = 0;
    return m->term ? 0 : -ENOMEM;
}

int
model_restore(struct model *m, struct view snapshot, uint64_t off,
              const struct term_options *how, struct err *err)
{
    struct term *t;
    int r = term_restore(snapshot, how, &t, err);
    if (r < 0)
        return r;
    model_release(m);
    m->term = t;
    m->off = off;
    return 0;
}

void
model_release(struct model *m)
{
    term_free(m->term);
    m->term = NULL;
}

/* Bytes that it does not have yet. */
static void
feed(struct model *m, uint64_t off, struct view bytes)
{
    uint64_t end = off + bytes.n;
    if (end <= m->off)
        return;
    if (off < m->off) {
        bytes.p += m->off - off;
        bytes.n -= (size_t)(m->off - off);
    }
    term_feed(m->term, bytes.p, bytes.n, end - bytes.n);
    m->off = end;
    if (m->fed)
        m->fed(m->ctx);
}

const char *
model_tape_path(const struct model_tape *tape)
{
    bool is_done = tape->done_path && access(tape->path, F_OK) != 0;
    return is_done ? tape->done_path : tape->path;
}

static int
open_at(struct tape_reader **ret, const struct model_tape *tape, uint64_t off)
{
    struct tape_reader_options opt = { 0 };
    struct tape_reader *r;
    struct err ignored;
    int e = tape_reader_open(&r, tape_io_files(), model_tape_path(tape), &opt, &ignored);
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

/* Of a DATA record what lies before `to`. */
static struct view
cut(const struct tape_record *rec, uint64_t to)
{
    uint64_t n = to > rec->byte_off ? to - rec->byte_off : 0;
    return (struct view){ rec->bytes.p, n < rec->bytes.n ? (size_t)n : rec->bytes.n };
}

static int
replay(struct model *m, uint64_t from, uint64_t to)
{
    struct tape_reader *r;
    struct tape_record rec;
    int e = open_at(&r, &m->tape, from);
    if (e < 0)
        return e;
    while (m->off < to && tape_reader_next(r, &rec)) {
        if (rec.tag == TAPE_RESIZE)
            term_resize(m->term, rec.cols, rec.rows);
        else if (rec.tag == TAPE_DATA)
            feed(m, rec.byte_off, cut(&rec, to));
        if (rec.tag == TAPE_DATA && m->stamps)
            play_stamps_add(m->stamps, m->off, rec.ts_ns);
    }
    tape_reader_close(r);
    return 0;
}

int
model_skip(struct model *m, uint64_t off, unsigned cols, unsigned rows)
{
    uint64_t from = m->off;
    bool is_cut = off > from && off - from > MODEL_REPLAY_MAX;
    int r = 0;
    if (is_cut) {
        from = off - MODEL_REPLAY_MAX;
        term_feed(m->term, "\030", 1, from); /* no sequence goes on over the hole */
    }
    if (off > from)
        r = replay(m, from, off);
    m->off = off;
    if (cols && rows)
        term_resize(m->term, cols, rows);
    return r < 0 ? r : is_cut;
}

int
model_feed(struct model *m, uint64_t off, struct view bytes)
{
    int r = off > m->off ? model_skip(m, off, 0, 0) : 0;
    feed(m, off, bytes);
    return r;
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
        uint64_t end = rec.byte_off + rec.bytes.n;
        if (rec.tag != TAPE_DATA || end <= from)
            continue;
        struct view v = cut(&rec, to);
        uint64_t done = from > rec.byte_off ? from - rec.byte_off : 0;
        if (v.n <= done || fn(ctx, (struct view){ v.p + done, v.n - (size_t)done }) < 0)
            break;
        from = rec.byte_off + v.n;
    }
    tape_reader_close(r);
    return from;
}
