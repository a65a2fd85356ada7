/* SPDX-License-Identifier: MIT */
/*
 * crowd_script.h -- what a crowd of agents asks of a model's API, and what it answers:
 * every byte follows from a seed. tests/support/crowd.py makes the same by itself.
 *
 * Each of the streams (agents) leads talk after talk, each turn of which asks once more
 * with all that was said. What goes wrong is asked again: attempts 0, 1, 2 …, of which
 * the last one is answered whole.
 */
#ifndef TESTS_CROWD_SCRIPT_H
#define TESTS_CROWD_SCRIPT_H

#include <stdbool.h>
#include <zlib.h>

#include "base/buf.h"

enum crowd_way {
    CROWD_STREAM,  /* a stream of events, whole */
    CROWD_PLAIN,   /* a reply in one piece */
    CROWD_REFUSED, /* 429, 529 */
    CROWD_ERROR,   /* an error among the events, which ends them */
    CROWD_DROPPED, /* the upstream breaks off */
    CROWD_ABORTED, /* the client does */
};

struct crowd {
    uint64_t seed;
    uint32_t events; /* deltas of a reply, on the average */
    uint32_t spoken; /* bytes that a user says at a time, at most */
    uint32_t turns;  /* of a talk, at most */
};

/* SEED EVENTS SPOKEN TURNS, as words. */
void crowd_init(struct crowd *c, char **words);

struct crowd_call {
    uint32_t stream, talk, turn, attempt;
};

struct crowd_plan {
    enum crowd_way way;
    uint32_t status;
    uint32_t deltas;
    uint32_t stop; /* ERROR, DROPPED, ABORTED: behind so many pieces of the body */
    bool is_packed, has_length, is_reset, is_early;
    bool is_sent_in_chunks; /* the request */
    bool is_slow;           /* the client */
    bool closes;            /* … leaves behind it */
};

struct crowd_plan crowd_plan(const struct crowd *c, const struct crowd_call *call);
/* How many turns that talk has. */
uint32_t crowd_turns(const struct crowd *c, uint32_t stream, uint32_t talk);
/* "stream.talk.turn.attempt" */
void crowd_name(const struct crowd_call *call, struct buf *out);
bool crowd_named(const char *name, struct crowd_call *ret);
/* The body of the request. */
void crowd_ask(const struct crowd *c, const struct crowd_call *call, struct buf *out);

/* The body of the reply, piece by piece: those of a stream are its events. */
struct crowd_reply {
    const struct crowd *crowd;
    struct crowd_call call;
    struct crowd_plan plan;
    uint32_t next, count; /* pieces */
    z_stream packer;
    bool has_packer;
    struct buf plain, piece;
};

int crowd_reply_init(struct crowd_reply *r, const struct crowd *c,
                     const struct crowd_call *call);
void crowd_reply_release(struct crowd_reply *r);
/* False: there is no more. Borrowed until the next one. */
bool crowd_reply_next(struct crowd_reply *r, struct view *ret);

#endif
