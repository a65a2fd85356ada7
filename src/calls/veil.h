/* SPDX-License-Identifier: MIT */
/*
 * veil.h -- secrets out of the events of one streamed reply.
 *
 * What a model says comes in pieces, a few letters an event: a secret lies across many.
 * The texts inside the events (text, thinking, arguments of a tool, …) are therefore also
 * searched as the one text that they are. Most events come out as they are, at once. One
 * whose text may be the beginning of a secret comes out held, with that left out of it.
 * When it is decided that it was none, the events that were held come out again, whole;
 * else what is left of the text, masked, stands in a later event. Pure.
 */
#ifndef CALLS_VEIL_H
#define CALLS_VEIL_H

#include "calls/mask.h"
#include "calls/split.h"

struct calls_veil;

/* An event's bytes as they may be written: its number, when it came, whether something of
 * it is held, and whether it was handed out before. Borrowed. */
struct calls_veiled {
    uint64_t event, ts_ns;
    struct view bytes;
    bool is_held, is_again;
};

/* Errors (< 0) end the call and are returned. */
struct calls_veil_to {
    int (*write)(void *ctx, const struct calls_veiled *v);
    /* Nothing of it changes any more: each event once, in their order. */
    int (*settled)(void *ctx, const struct calls_veiled *v);
    void *ctx;
};

/* mask is borrowed. */
int calls_veil_new(struct calls_veil **ret, struct calls_mask *mask);
void calls_veil_free(struct calls_veil *v);
/* The next event, all of its bytes ("event: …\ndata: …\n\n"), or a piece of one. Hands
 * out at least that event, after those that are decided by it. */
int calls_veil_event(struct calls_veil *v, struct view bytes, enum calls_split_end end,
                     uint64_t ts_ns, const struct calls_veil_to *to);
/* The reply is over: what is still held is decided as it stands. */
int calls_veil_end(struct calls_veil *v, const struct calls_veil_to *to);

#endif
