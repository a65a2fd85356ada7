/* SPDX-License-Identifier: MIT */
/*
 * complete.h -- what a proxy that was killed has left, put in order.
 *
 * Its last line is mended; calls without an end have one, which says that they were cut
 * off; and what was said in its calls and is not in session.turns.jsonl yet goes there.
 * Done once more it changes nothing.
 */
#ifndef CALLS_COMPLETE_H
#define CALLS_COMPLETE_H

#include "base/err.h"
#include "calls/talk.h"

struct calls_complete_options { /* borrowed */
    const char *wire_path, *turns_path;
    const char *session; /* its id */
    uint64_t start_ns;
    struct calls_talk *talk; /* is fed with all of it; NULL: nobody goes on with it */
    turn_event_fn heard; /* … and so is this, event by event; NULL: nobody wants it */
    void (*pace)(void *ctx); /* called often while it works; NULL: nobody waits */
    void *ctx;
};

struct calls_completed {
    uint64_t last_call; /* the highest number */
    uint64_t last_ns;   /* the latest stamp; 0: there is none */
    uint64_t cut;       /* calls that had no end */
    uint64_t turns;     /* lines that were added */
    const char *agent;  /* who asks (calls/agent.h); NULL: it is not known */
    bool is_changed;
};

/* Where there is no such file, or an archived one, there is nothing to do. Nobody else is
 * at it. */
int calls_complete(const struct calls_complete_options *opt, struct calls_completed *ret,
                   struct err *err);

#endif
