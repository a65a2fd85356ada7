/* SPDX-License-Identifier: MIT */
#include "play/times_priv.h"

#include <errno.h>
#include <stdlib.h>

#include "base/num.h"

void
play_times_release(struct play_times *t)
{
    buf_release(&t->stamps);
    buf_release(&t->times);
}

static uint64_t *
items(const struct buf *b)
{
    return (uint64_t *)(void *)b->p;
}

static size_t
count(const struct buf *b)
{
    return b->n / sizeof(uint64_t);
}

/* A term_line_fn. */
static int
note_stamp(void *ctx, const struct term_line *line)
{
    struct play_times *t = ctx;
    return buf_append(&t->stamps, &line->last_write_byte, sizeof(uint64_t));
}

static int
take_stamps(struct play_times *t, const struct term *term)
{
    t->stamps.ceiling = t->times.ceiling = SIZE_MAX;
    int e = term_final_lines(term, note_stamp, t);
    if (e < 0 || !t->stamps.n)
        return e;
    uint64_t *v = items(&t->stamps);
    size_t n = count(&t->stamps), kept = 1;
    qsort(v, n, sizeof(*v), num_compare_u64);
    for (size_t i = 1; i < n; i++)
        if (v[i] != v[kept - 1])
            v[kept++] = v[i];
    t->stamps.n = kept * sizeof(*v);
    uint8_t *times = buf_grow(&t->times, t->stamps.n);
    if (!times)
        return t->times.failed;
    memset(times, 0, t->times.n);
    return 0;
}

/* A stamp is the offset behind its byte. Offsets are counted as in load.c. */
static void
take_times(struct play_times *t, struct tape_reader *tape)
{
    uint64_t *stamps = items(&t->stamps), *times = items(&t->times), end = 0;
    size_t n = count(&t->stamps), i = 0;
    struct tape_record rec;
    while (i < n && !stamps[i])
        i++; /* never written */
    while (i < n && tape_reader_next(tape, &rec)) {
        if (rec.tag != TAPE_DATA)
            continue;
        end = rec.byte_off > end ? rec.byte_off : end;
        end = rec.bytes.n > UINT64_MAX - end ? UINT64_MAX : end + rec.bytes.n;
        for (; i < n && stamps[i] <= end; i++)
            times[i] = rec.ts_ns;
    }
}

int
play_times_read(struct play_times *t, const struct play_loaded *l, struct tape_io *io,
                const char *path, struct err *err)
{
    if (l->times.n) {
        t->taken = (const void *)l->times.p;
        t->n_taken = l->times.n / sizeof(*t->taken);
        return 0;
    }
    struct tape_reader_options opt = { 0 };
    struct tape_reader *tape;
    int e = take_stamps(t, l->term);
    if (e < 0)
        return err_code(err, e, "cannot tell the times of '%s'", path);
    e = tape_reader_open(&tape, io, path, &opt, err);
    if (e < 0)
        return e;
    take_times(t, tape);
    e = tape_reader_error(tape);
    tape_reader_close(tape);
    if (e == -ENOMEM)
        return err_code(err, e, "cannot tell the times of '%s'", path);
    return 0;
}

/* Of the first record that reaches so far. */
static uint64_t
taken_at(const struct play_times *t, uint64_t last_write_byte)
{
    size_t low = 0, high = t->n_taken;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (t->taken[middle].end < last_write_byte)
            low = middle + 1;
        else
            high = middle;
    }
    return low < t->n_taken && last_write_byte ? t->taken[low].ts_ns : 0;
}

uint64_t
play_times_at(const struct play_times *t, uint64_t last_write_byte)
{
    if (t->n_taken)
        return taken_at(t, last_write_byte);
    if (!t->stamps.n)
        return 0;
    const uint64_t *stamps = items(&t->stamps);
    const uint64_t *found = bsearch(&last_write_byte, stamps, count(&t->stamps),
                                    sizeof(*stamps), num_compare_u64);
    return found ? items(&t->times)[found - stamps] : 0;
}
