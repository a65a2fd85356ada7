/* SPDX-License-Identifier: MIT */
/*
 * cassette_priv.h -- a reply that is played: cassette.c finds it, cassette_play.c plays
 * it.
 */
#ifndef WIRE_CASSETTE_PRIV_H
#define WIRE_CASSETTE_PRIV_H

#include "calls/match.h"
#include "calls/read.h"
#include "wire/cassette.h"

/* A recorded call. */
struct take {
    uint64_t hash;  /* of its request's normal form */
    struct buf ids; /* in it: calls_match_normal_ids() */
    struct calls_outline outline;
    size_t call;
    bool has_reply; /* else it is only known that it was asked */
    bool was_played;
};

struct cassette {
    struct calls *calls;
    struct redact *redact; /* borrowed */
    struct buf takes;      /* struct take, in their order */
    size_t replies;        /* of so many of them */
    cassette_miss_fn on_miss;
    void *ctx;
};

struct take *cassette_takes(const struct cassette *c, size_t *ret_count);

/* -- cassette_near.c -- */

/* The call with a reply whose request is most like this one, in its normal form.
 * SIZE_MAX: there is none, or no memory to tell. */
size_t cassette_nearest(struct cassette *c, struct view normal);

/* -- cassette_play.c -- */

/* NULL: there is no memory for it. What follows is one of the two … */
struct cassette_play *cassette_play_new(uv_loop_t *loop, bool is_original,
                                        const struct fetch_events *events, void *ctx);
/* The reply of this call is copied. */
int cassette_play_load(struct cassette_play *p, const struct calls_whole *w);
/* There is none: where to say why. */
struct buf *cassette_play_miss(struct cassette_play *p);
/* … and this. result < 0: neither could be done. May end it. */
void cassette_play_begin(struct cassette_play *p, int result);

#endif
