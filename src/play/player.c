/* SPDX-License-Identifier: MIT */
#include "play/player.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "play/player_priv.h"

/* -- gaps -- */

/* Each is told once; of more than can be held the oldest go. */
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

/* -- open, close -- */

static const struct play_watch shown_watch = {
    .gap = note_gap,
    .record = play_way_record,
    .sized = play_way_sized,
    .blind = play_way_blind,
};

static const struct play_watch scout_watch = {
    .record = play_way_record,
    .sized = play_way_sized,
    .blind = play_way_blind,
};

static uint64_t
time_of(const struct play_player *p, uint64_t ts_ns)
{
    return ts_ns - p->now.first_ts_ns;
}

static int
learn_extent(struct play_player *p, struct err *err)
{
    const struct play_keyframes *k = &p->frames;
    struct tape_reader_options quiet = { 0 };
    struct tape_reader *tape;
    uint64_t end_byte = k->end_byte, end_ts_ns = k->end_ts_ns;
    p->extent.start_ts_ns = p->now.first_ts_ns;
    if (!k->is_complete) {
        int e = tape_reader_open(&tape, p->now.io, p->path, &quiet, err);
        if (e < 0)
            return e;
        e = tape_reader_reach(tape, &end_byte, &end_ts_ns);
        tape_reader_close(tape);
        if (e < 0)
            return err_code(err, e, "cannot read '%s'", p->path);
    }
    p->extent.total_bytes = end_byte;
    p->extent.duration_ns = end_ts_ns > p->now.first_ts_ns ? time_of(p, end_ts_ns) : 0;
    return 0;
}

static int
begin(struct play_player *p, struct tape_io *io, const struct play_options *opt,
      struct err *err)
{
    int e = play_keyframes_init(&p->frames, io, opt->keyframes_path);
    if (e < 0)
        return err_code(err, e, "cannot open '%s'", p->path);
    if (opt->keyframe_bytes)
        p->frames.spacing = opt->keyframe_bytes;
    p->now = (struct play_walk){
        .io = io,
        .path = p->path,
        .tell = { opt->notice, opt->ctx, NULL },
        .first_cols = opt->cols < TERM_COLS_MAX ? opt->cols : TERM_COLS_MAX,
        .first_rows = opt->rows < TERM_ROWS_MAX ? opt->rows : TERM_ROWS_MAX,
        .watch = &shown_watch,
        .ctx = p,
    };
    p->scout = p->now;
    p->scout.tell = (struct tape_reader_options){ 0 };
    p->scout.watch = &scout_watch;
    e = play_walk_begin(&p->now, err);
    if (e < 0)
        return e;
    e = play_keyframes_load(&p->frames, &p->now, &p->snapshots);
    p->is_unsorted = p->snapshots.count > 0;
    if (e < 0)
        return err_code(err, e, "cannot open '%s'", p->path);
    return learn_extent(p, err);
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
    int e = begin(p, io, opt, err);
    if (e < 0) {
        play_close(p);
        return e;
    }
    *ret = p;
    return 0;
}

void
play_close(struct play_player *p)
{
    play_keyframes_save(&p->frames, &p->now);
    play_walk_release(&p->now);
    play_walk_release(&p->scout);
    play_keyframes_release(&p->frames);
    play_events_release(&p->snapshots);
    play_search_release(&p->search);
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

/* The walk has come to a stop; the place is called by that time. */
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

const struct play_events *
play_snapshots(struct play_player *p)
{
    if (p->is_unsorted)
        play_events_sort(&p->snapshots);
    p->is_unsorted = false;
    return &p->snapshots;
}

/* -- on -- */

/* The model lacks rows that it needs here: it is made again, from the start. */
static int
begin_regain(struct play_player *p)
{
    p->is_regaining = true;
    p->lost = (struct play_way){ .kind = PLAY_TO_SPOT, .spot = p->now.spot };
    return play_walk_begin(&p->now, NULL);
}

static int
regain(struct play_player *p, size_t max_bytes)
{
    int e = p->is_regaining ? play_way_go(p, &p->now, &p->lost, max_bytes) : 0;
    p->is_regaining &= e > 0;
    return e;
}

static int
regain_all(struct play_player *p)
{
    int e;
    while ((e = regain(p, PLAY_WORK_SLICE)) > 0)
        continue;
    return e;
}

static int
peek(struct play_player *p)
{
    int e = regain_all(p);
    if (e >= 0)
        e = play_walk_peek(&p->now);
    if (e != PLAY_BLIND)
        return e;
    e = begin_regain(p);
    if (e >= 0)
        e = regain_all(p);
    return e < 0 ? e : play_walk_peek(&p->now);
}

uint64_t
play_next_ns(struct play_player *p)
{
    return peek(p) > 0 ? time_of(p, p->now.next.ts_ns) : UINT64_MAX;
}

static uint64_t
stamp_at(const struct play_player *p, uint64_t time_ns)
{
    uint64_t first = p->now.first_ts_ns;
    return time_ns > UINT64_MAX - first ? UINT64_MAX : first + time_ns;
}

/* Who plays on does not want to be elsewhere; other work can go on beside. */
static void
stop_seek(struct play_player *p)
{
    if (p->work == PLAY_WORK_SEEK)
        play_stop(p);
}

int
play_advance(struct play_player *p, uint64_t time_ns, size_t max_bytes)
{
    struct play_way way = { .kind = PLAY_TO_TIME, .ts_ns = stamp_at(p, time_ns) };
    stop_seek(p);
    int e = regain(p, max_bytes);
    if (e)
        return e;
    e = play_way_step(p, &p->now, &way, max_bytes);
    if (e == PLAY_BLIND) {
        e = begin_regain(p);
        return e < 0 ? e : 1;
    }
    arrive(p, e ? time_of(p, p->now.shown_ts_ns) : time_ns);
    return e;
}

int
play_step(struct play_player *p)
{
    struct play_walk *w = &p->now;
    int e;
    stop_seek(p);
    while ((e = peek(p)) > 0) {
        bool is_shown = w->next.tag == TAPE_DATA && w->next.bytes.n;
        ssize_t n = play_walk_take(w, SIZE_MAX);
        e = n == PLAY_BLIND ? begin_regain(p) : n < 0 ? (int)n : 0;
        if (e < 0)
            return e;
        if (n < 0 || !is_shown)
            continue;
        e = peek(p); /* is it the last one? */
        arrive(p, time_of(p, w->shown_ts_ns));
        return e < 0 ? e : 1;
    }
    arrive(p, UINT64_MAX);
    return e;
}

/* -- anywhere -- */

static int
begin_seek(struct play_player *p, struct play_way way)
{
    play_stop(p);
    p->is_regaining = false;
    int e = play_way_begin(p, &p->now, &way);
    if (e < 0)
        return e;
    p->work = PLAY_WORK_SEEK;
    p->way = way;
    p->way_from = p->now.byte_off;
    p->gap_count = 0;
    return 0;
}

int
play_seek_ns(struct play_player *p, uint64_t time_ns)
{
    struct play_way way = { .kind = PLAY_TO_TIME, .ts_ns = stamp_at(p, time_ns) };
    return begin_seek(p, way);
}

int
play_seek_byte(struct play_player *p, uint64_t byte_off)
{
    struct play_way way = { .kind = PLAY_TO_BYTE, .byte_off = byte_off };
    return begin_seek(p, way);
}

int
play_search(struct play_player *p, struct view text, bool is_backwards)
{
    play_stop(p);
    int e = play_search_begin(p, text, is_backwards);
    if (e >= 0)
        p->work = PLAY_WORK_SEARCH;
    return e;
}

int
play_index(struct play_player *p)
{
    play_stop(p);
    if (p->is_indexed || p->frames.is_complete)
        return 0;
    struct play_way way = { .kind = PLAY_TO_END };
    int e = play_way_begin(p, &p->scout, &way);
    if (e < 0)
        return e;
    p->work = PLAY_WORK_INDEX;
    p->way = way;
    p->way_from = 0;
    return 0;
}

static int
work_search(struct play_player *p, size_t max_bytes)
{
    uint64_t byte_off;
    int e = play_search_work(p, max_bytes, &byte_off);
    if (e)
        return e;
    e = play_seek_byte(p, byte_off);
    return e < 0 ? e : 1;
}

/* What was asked for is done. */
static void
finish(struct play_player *p)
{
    if (p->work == PLAY_WORK_SEEK)
        arrive(p, p->way.kind == PLAY_TO_TIME ? time_of(p, p->way.ts_ns)
                                              : time_of(p, p->now.shown_ts_ns));
    if (p->work == PLAY_WORK_INDEX) {
        p->is_indexed = true;
        play_walk_release(&p->scout); /* it holds all rows that have scrolled off */
    }
    p->work = PLAY_WORK_NONE;
    if (p->frames.is_complete)
        play_keyframes_save(&p->frames, &p->now);
}

int
play_work(struct play_player *p, size_t max_bytes)
{
    int e = 0;
    switch (p->work) {
    case PLAY_WORK_SEEK:
        e = play_way_go(p, &p->now, &p->way, max_bytes);
        break;
    case PLAY_WORK_INDEX:
        e = play_way_go(p, &p->scout, &p->way, max_bytes);
        break;
    case PLAY_WORK_SEARCH:
        e = work_search(p, max_bytes);
        break;
    case PLAY_WORK_NONE:
        return 0;
    }
    if (e < 0)
        p->work = PLAY_WORK_NONE;
    else if (!e)
        finish(p);
    return e;
}

void
play_stop(struct play_player *p)
{
    if (p->work == PLAY_WORK_SEEK)
        arrive(p, time_of(p, p->now.shown_ts_ns));
    p->work = PLAY_WORK_NONE;
}

static unsigned
permille(uint64_t done, uint64_t total)
{
    if (!total || done >= total)
        return total ? 1000 : 0;
    return (unsigned)(total > UINT64_MAX / 1000 ? done / (total / 1000)
                                                : done * 1000 / total);
}

unsigned
play_work_permille(const struct play_player *p)
{
    uint64_t total = p->extent.total_bytes, to = p->way.byte_off;
    switch (p->work) {
    case PLAY_WORK_NONE:
        return 1000;
    case PLAY_WORK_SEARCH:
        return play_search_permille(p);
    case PLAY_WORK_INDEX:
        return permille(p->scout.byte_off, total);
    case PLAY_WORK_SEEK:
        break;
    }
    if (p->way.kind == PLAY_TO_TIME)
        return permille(time_of(p, p->now.last_ts_ns), time_of(p, p->way.ts_ns));
    to = p->way.kind == PLAY_TO_BYTE && to < total ? to : total;
    return permille(p->now.byte_off - p->way_from, to - p->way_from);
}

int
play_work_all(struct play_player *p)
{
    int e;
    while ((e = play_work(p, PLAY_WORK_SLICE)) > 0)
        continue;
    return e;
}
