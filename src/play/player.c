/* SPDX-License-Identifier: MIT */
#include "play/player.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "play/player_priv.h"

/* -- what is met on the way -- */

/* Each gap is told once; of more than can be held the oldest go. */
static void
note_gap(void *ctx, const struct play_gap *gap)
{
    struct play_player *p = ctx;
    if (p->gap_count == PLAY_GAPS_HELD) {
        memmove(p->gaps, p->gaps + 1, (PLAY_GAPS_HELD - 1) * sizeof(p->gaps[0]));
        p->gap_count--;
    }
    p->gaps[p->gap_count++] = *gap;
}

bool
play_take_gap(struct play_player *p, struct play_gap *ret)
{
    if (!p->gap_count)
        return false;
    *ret = p->gaps[0];
    p->gap_count--;
    memmove(p->gaps, p->gaps + 1, p->gap_count * sizeof(p->gaps[0]));
    return true;
}

static bool
is_behind(struct play_spot a, struct play_spot b)
{
    return a.ordinal > b.ordinal || (a.ordinal == b.ordinal && a.record > b.record);
}

static int
add_snapshot(struct play_player *p, const struct tape_record *rec)
{
    struct play_event event = {
        .kind = PLAY_SNAPSHOT,
        .id = rec->snapshot_id,
        .ts_ns = rec->ts_ns,
        .anchor_byte = rec->byte_off,
        .text = rec->bytes,
        .snapshot_id = PLAY_NONE,
    };
    size_t n = p->snapshots.count;
    if (n && play_events_at(&p->snapshots, n - 1).anchor_byte > event.anchor_byte)
        p->is_unsorted = true;
    int e = play_events_add(&p->snapshots, &event);
    return e == ERR_LIMIT ? 0 : e; /* there are enough of them */
}

/* Every record comes by here; those that are new are looked at. */
static int
note_record(void *ctx, struct play_walk *w)
{
    struct play_player *p = ctx;
    if (p->has_seen && !is_behind(w->spot, p->seen))
        return 0;
    p->has_seen = true;
    p->seen = w->spot;
    return w->next.tag == TAPE_SNAPSHOT ? add_snapshot(p, &w->next) : 0;
}

const struct play_events *
play_snapshots(const struct play_player *p)
{
    /* The order is no part of what a caller sees change. */
    struct play_player *own = (struct play_player *)(uintptr_t)p;
    if (p->is_unsorted)
        play_events_sort(&own->snapshots);
    own->is_unsorted = false;
    return &p->snapshots;
}

/* -- open, close -- */

static uint64_t
time_of(const struct play_player *p, uint64_t ts_ns)
{
    return ts_ns - p->now.first_ts_ns;
}

static void
learn_extent(struct play_player *p)
{
    struct tape_record rec;
    struct tape_reader *tape;
    struct tape_reader_options quiet = { 0 };
    p->extent.start_ts_ns = p->now.first_ts_ns;
    if (tape_reader_open(&tape, p->now.io, p->path, &quiet, NULL) < 0)
        return;
    if (!tape_reader_seek_time(tape, p->now.first_ts_ns))
        while (tape_reader_next(tape, &rec)) {
            p->extent.duration_ns = time_of(p, rec.ts_ns);
            if (rec.tag == TAPE_DATA)
                p->extent.total_bytes = rec.byte_off + rec.bytes.n;
        }
    tape_reader_close(tape);
}

int
play_open(struct play_player **ret, struct tape_io *io, const char *path,
          const struct play_options *opt, struct err *err)
{
    struct play_player *p = calloc(1, sizeof(*p));
    if (!p || !(p->path = strdup(path))) {
        free(p);
        return err_code(err, -ENOMEM, "cannot open '%s'", path);
    }
    p->now = (struct play_walk){
        .io = io,
        .path = p->path,
        .tell = { opt->notice, opt->ctx, NULL },
        .first_cols = opt->cols,
        .first_rows = opt->rows,
        .gap = note_gap,
        .record = note_record,
        .ctx = p,
    };
    int e = play_walk_begin(&p->now, err);
    if (e < 0) {
        play_close(p);
        return e;
    }
    learn_extent(p);
    *ret = p;
    return 0;
}

void
play_close(struct play_player *p)
{
    play_walk_release(&p->now);
    play_events_release(&p->snapshots);
    free(p->path);
    free(p);
}

/* -- the place -- */

const struct term *
play_term(const struct play_player *p)
{
    return p->now.term;
}

struct play_extent
play_extent(const struct play_player *p)
{
    return p->extent;
}

struct play_place
play_place(const struct play_player *p)
{
    return (struct play_place){
        .time_ns = p->time_ns,
        .byte_off = p->now.byte_off,
        .is_end = p->now.is_end,
    };
}

/* The walk has come to a stop; ts_ns is what the place is called. */
static void
arrive(struct play_player *p, uint64_t time_ns)
{
    const struct play_walk *w = &p->now;
    uint64_t last_ns = time_of(p, w->last_ts_ns);
    if (w->byte_off > p->extent.total_bytes)
        p->extent.total_bytes = w->byte_off;
    if (last_ns > p->extent.duration_ns)
        p->extent.duration_ns = last_ns;
    p->time_ns = w->is_end && time_ns > last_ns ? last_ns : time_ns;
}

/* -- on -- */

uint64_t
play_next_ns(struct play_player *p)
{
    return play_walk_peek(&p->now) > 0 ? time_of(p, p->now.next.ts_ns) : UINT64_MAX;
}

/* All records up to that time. 1: the bytes were used up, 0: done. */
static int
go_to_time(struct play_player *p, uint64_t time_ns, size_t max_bytes)
{
    struct play_walk *w = &p->now;
    int e;
    while ((e = play_walk_peek(w)) > 0 && time_of(p, w->next.ts_ns) <= time_ns) {
        if (!max_bytes)
            return 1;
        ssize_t n = play_walk_take(w, max_bytes);
        if (n < 0)
            return (int)n;
        n += PLAY_RECORD_COST;
        max_bytes -= (size_t)n < max_bytes ? (size_t)n : max_bytes;
    }
    return e < 0 ? e : 0;
}

int
play_advance(struct play_player *p, uint64_t time_ns, size_t max_bytes)
{
    int e = go_to_time(p, time_ns, max_bytes);
    if (e > 0)
        time_ns = time_of(p, p->now.shown_ts_ns);
    arrive(p, time_ns);
    return e;
}

int
play_step(struct play_player *p)
{
    struct play_walk *w = &p->now;
    int e;
    while ((e = play_walk_peek(w)) > 0) {
        bool is_shown = w->next.tag == TAPE_DATA && w->next.bytes.n;
        uint64_t ts_ns = w->next.ts_ns;
        ssize_t n = play_walk_take(w, SIZE_MAX);
        if (n < 0)
            return (int)n;
        if (!is_shown)
            continue;
        e = play_walk_peek(w); /* is it the last one? */
        arrive(p, time_of(p, ts_ns));
        return e < 0 ? e : 1;
    }
    arrive(p, UINT64_MAX);
    return e;
}

/* -- anywhere -- */

static int
begin_work(struct play_player *p, enum play_work_kind kind, uint64_t target)
{
    p->work = kind;
    p->target = target;
    p->gap_count = 0;
    return 0;
}

int
play_seek_ns(struct play_player *p, uint64_t time_ns)
{
    begin_work(p, PLAY_WORK_TIME, time_ns);
    struct play_walk *w = &p->now;
    return time_of(p, w->taken_ts_ns) > time_ns ? play_walk_begin(w, NULL) : 0;
}

int
play_seek_byte(struct play_player *p, uint64_t byte_off)
{
    begin_work(p, PLAY_WORK_BYTE, byte_off);
    return p->now.byte_off > byte_off ? play_walk_begin(&p->now, NULL) : 0;
}

/* Behind the last byte before that one; records without bytes are taken, too. */
static int
go_to_byte(struct play_player *p, uint64_t byte_off, size_t max_bytes)
{
    struct play_walk *w = &p->now;
    int e;
    while ((e = play_walk_peek(w)) > 0) {
        size_t max = max_bytes;
        if (w->next.tag == TAPE_DATA) {
            uint64_t off = play_walk_next_off(w);
            if (off >= byte_off)
                return 0;
            max = byte_off - off < max ? (size_t)(byte_off - off) : max;
        }
        if (!max_bytes)
            return 1;
        ssize_t n = play_walk_take(w, max);
        if (n < 0)
            return (int)n;
        n += PLAY_RECORD_COST;
        max_bytes -= (size_t)n < max_bytes ? (size_t)n : max_bytes;
    }
    return e < 0 ? e : 0;
}

int
play_search(struct play_player *p, struct view text, bool is_backwards)
{
    (void)p, (void)text, (void)is_backwards;
    return ERR_MISSING;
}

int
play_index(struct play_player *p)
{
    (void)p;
    return 0;
}

int
play_work(struct play_player *p, size_t max_bytes)
{
    int e = 0;
    switch (p->work) {
    case PLAY_WORK_TIME:
        e = go_to_time(p, p->target, max_bytes);
        break;
    case PLAY_WORK_BYTE:
        e = go_to_byte(p, p->target, max_bytes);
        break;
    case PLAY_WORK_NONE:
        break;
    }
    if (e > 0)
        return e;
    if (p->work == PLAY_WORK_TIME)
        arrive(p, p->target);
    else if (p->work == PLAY_WORK_BYTE)
        arrive(p, time_of(p, p->now.shown_ts_ns));
    p->work = PLAY_WORK_NONE;
    return e;
}

void
play_stop(struct play_player *p)
{
    if (p->work != PLAY_WORK_NONE)
        arrive(p, time_of(p, p->now.shown_ts_ns));
    p->work = PLAY_WORK_NONE;
}

unsigned
play_work_permille(const struct play_player *p)
{
    return p->work == PLAY_WORK_NONE ? 1000 : 0;
}

int
play_work_all(struct play_player *p)
{
    int e;
    while ((e = play_work(p, PLAY_WORK_SLICE)) > 0)
        continue;
    return e;
}
