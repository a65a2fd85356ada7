/* SPDX-License-Identifier: MIT */
/*
 * cassette_priv.h -- a reply that is played: cassette.c finds it, cassette_play.c plays
 * it.
 */
#ifndef WIRE_CASSETTE_PRIV_H
#define WIRE_CASSETTE_PRIV_H

#include "calls/read.h"
#include "wire/cassette.h"

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
