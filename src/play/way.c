/* SPDX-License-Identifier: MIT */
/*
 * way.c -- a walk's way to a place: from the last keyframe before it, or on from where it
 * is, or from the start.
 */
#include "play/player_priv.h"

/* -- what is met on the way -- */

int
play_way_record(void *ctx, struct play_walk *w)
{
    struct play_player *p = ctx;
    size_t n = p->snapshots.count;
    int e = play_keyframes_record(&p->frames, w, &p->snapshots);
    p->is_unsorted |= p->snapshots.count > n;
    return e;
}

int
play_way_sized(void *ctx, struct play_walk *w)
{
    struct play_player *p = ctx;
    play_keyframes_sized(&p->frames, w);
    return 0;
}

int
play_way_blind(void *ctx, struct play_walk *w)
{
    struct play_player *p = ctx;
    struct play_keyframe *f = play_keyframes_by_size(&p->frames, w->spot);
    if (!f)
        return 0;
    struct term *term = play_keyframes_picture(&p->frames, f);
    if (!term) {
        f->is_bad = true;
        return 0;
    }
    term_free(w->term);
    w->term = term;
    w->term_cols = w->cols;
    w->term_rows = w->rows;
    w->is_whole = !term_scrollback_dropped(term);
    return 1;
}

/* -- where to begin -- */

static bool
is_past(const struct play_walk *w, const struct play_way *way)
{
    switch (way->kind) {
    case PLAY_TO_TIME:
        return w->taken_ts_ns > way->ts_ns || w->sized_ts_ns > way->ts_ns;
    case PLAY_TO_BYTE:
        return w->byte_off > way->byte_off || w->sized_byte > way->byte_off;
    case PLAY_TO_SPOT:
        return play_spot_is_before(way->spot, w->spot) ||
               (!play_spot_is_before(w->spot, way->spot) && w->next_fed);
    case PLAY_TO_END:
        break;
    }
    return false;
}

static struct play_keyframe *
nearest(const struct play_keyframes *k, const struct play_way *way)
{
    switch (way->kind) {
    case PLAY_TO_TIME:
        return play_keyframes_by_time(k, way->ts_ns);
    case PLAY_TO_BYTE:
        return play_keyframes_by_byte(k, way->byte_off);
    case PLAY_TO_END:
        return play_keyframes_by_byte(k, UINT64_MAX);
    case PLAY_TO_SPOT: /* only those who must come from the start go there */
        break;
    }
    return NULL;
}

int
play_way_begin(struct play_player *p, struct play_walk *w, const struct play_way *way)
{
    struct play_keyframe *f;
    int e = 0;
    if (!w->term && (e = play_walk_begin(w, NULL)) < 0)
        return e;
    bool is_good = !is_past(w, way);
    while ((f = nearest(&p->frames, way)) != NULL) {
        if (is_good && f->spot.ordinal <= w->spot.ordinal)
            return 0;
        e = play_keyframes_go(&p->frames, f, w);
        if (e)
            return e < 0 ? e : 0;
        is_good = false;
    }
    return is_good ? 0 : play_walk_begin(w, NULL);
}

/* -- on -- */

/* Is the walk where it should be? Else at most *max bytes of `next` are still before it.
 */
static bool
is_there(const struct play_walk *w, const struct play_way *way, size_t *max)
{
    switch (way->kind) {
    case PLAY_TO_TIME:
        return w->next.ts_ns > way->ts_ns;
    case PLAY_TO_BYTE:
        if (w->next.tag != TAPE_DATA)
            return false;
        uint64_t off = play_walk_next_off(w);
        if (off >= way->byte_off)
            return w->next.bytes.n || off > way->byte_off;
        if (way->byte_off - off < *max)
            *max = (size_t)(way->byte_off - off);
        return false;
    case PLAY_TO_SPOT:
        return !play_spot_is_before(w->spot, way->spot);
    case PLAY_TO_END:
        break;
    }
    return false;
}

static int
go(struct play_walk *w, const struct play_way *way, size_t max_bytes)
{
    int e;
    while ((e = play_walk_peek(w)) > 0) {
        size_t max = max_bytes;
        if (is_there(w, way, &max))
            return 0;
        if (!max_bytes)
            return 1;
        uint64_t size_cost = w->size_cost;
        ssize_t n = play_walk_take(w, max);
        if (n < 0)
            return (int)n;
        uint64_t cost = PLAY_RECORD_COST + (uint64_t)n + (w->size_cost - size_cost);
        max_bytes -= cost < max_bytes ? (size_t)cost : max_bytes;
    }
    return e;
}

int
play_way_step(struct play_player *p, struct play_walk *w, const struct play_way *way,
              size_t max_bytes)
{
    int e = go(w, way, max_bytes);
    if (!e && w->is_end)
        play_keyframes_end(&p->frames, w);
    return e;
}

int
play_way_go(struct play_player *p, struct play_walk *w, const struct play_way *way,
            size_t max_bytes)
{
    int e = play_way_step(p, w, way, max_bytes);
    if (e != PLAY_BLIND)
        return e;
    e = play_walk_begin(w, NULL);
    return e < 0 ? e : 1;
}
