/* SPDX-License-Identifier: MIT */
/* talk_priv.h -- what of a conversation is known: what was said, and how it was asked. */
#ifndef CALLS_TALK_PRIV_H
#define CALLS_TALK_PRIV_H

#include <stdbool.h>

#include "turn/reply.h"

/* -- talk_said.c -- */

/* Hashes (not 0), by open addressing. */
struct talk_set {
    uint64_t *slots;
    size_t n, room;
};

/* The latest some hundred thousands. Zeroed it is empty. */
struct talk_said {
    struct talk_set now, before;
};

int talk_said_add(struct talk_said *s, uint64_t hash);
bool talk_said_has(const struct talk_said *s, uint64_t hash);
void talk_said_release(struct talk_said *s);

/* -- talk_known.c -- */

enum {
    TALK_KNOWN_MAX = 1024,    /* requests: as many as may ask at the same time */
    TALK_EVENTS_MAX = 1 << 17 /* of one of them */
};

/* A request, as the hashes of its events; what the user says has an odd one. */
struct talk_request {
    enum turn_api api; /* AUTO: none */
    uint64_t used;
    struct buf hashes; /* uint64_t */
    uint64_t id;       /* of all of them together */
    bool is_answered;
};

/* The latest requests, one of each conversation. Zeroed it is empty. */
struct talk_known {
    struct talk_request requests[TALK_KNOWN_MAX];
    uint64_t uses;
    struct buf trial;
};

/* Which of the events had a request before, in their place among the others? A byte for
 * each into `flags` (cleared first), 1 if so. The request is then known itself, by
 * *ret_id (0: there is nothing in it). */
int talk_known_match(struct talk_known *k, enum turn_api api, const struct buf *hashes,
                     struct buf *flags, uint64_t *ret_id);
void talk_known_answered(struct talk_known *k, uint64_t id);
void talk_known_release(struct talk_known *k);

#endif
