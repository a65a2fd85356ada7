/* SPDX-License-Identifier: MIT */
/*
 * ledger.h -- what a session has used, by message, model and day.
 *
 * Pure. The sum of all rows, and of what totals have used, is what turn_totals_usage()
 * says of the same events, and so are their calls: each event gives what it has changed
 * of the total to the row of its message, its model and its day. What a DONE adds to its
 * span (the messages since the DONE before) has rows of its own, by model where it tells
 * so; what it takes away is taken from the span.
 *
 * A message is known by a hash of its id where that is unique in the world, so that
 * sessions that repeat each other's messages can tell; and what a DONE adds by the
 * messages of its span. It may be what messages of sub-agents have used that a stream
 * does not show: who has these can tell by the message that called them.
 *
 * Some agents do not name their messages, but tell at the end of an answer what their
 * session (`thread`) has used since it was begun, in whatever process: then that total is
 * what is known, and who has all the totals of a thread can tell what each has added.
 */
#ifndef TURN_LEDGER_H
#define TURN_LEDGER_H

#include "turn/totals.h"

enum {
    TURN_LEDGER_ROWS_MAX = 1 << 18, /* what comes later counts in the last one */
};

/* How far what is told of a message can be believed. */
enum turn_trust {
    TURN_TRUST_LEAST, /* its final count was not told: a lower bound */
    TURN_TRUST_DONE,  /* a DONE has told what its span was in all, not what of it was this
                       */
    TURN_TRUST_FINAL,
};

struct turn_ledger_row {
    uint64_t message; /* 0: of those without a unique id, all in one */
    uint64_t caller;  /* of a sub-agent's: the session's own message that called it */
    uint32_t span;    /* it was told last in this one, from 1 */
    bool is_extra;    /* what the DONE of that span has told beyond its messages */
    enum turn_trust trust;
    struct view model;       /* empty: not told */
    uint32_t day;            /* since 1970, UTC; 0: not known */
    struct turn_usage usage; /* TURN_UNKNOWN each: never told */
    uint64_t calls;
    uint64_t open; /* of these, that are a lower bound */
};

struct turn_ledger_total {
    uint64_t thread;
    bool is_history; /* its messages are known, and have rows */
    struct view model;
    uint32_t day;
    struct turn_usage all;  /* since it was begun */
    struct turn_usage used; /* of that, what this session knows of; 0: not told */
    uint64_t calls;
};

/* Zeroed it is ready for use. */
struct turn_ledger {
    struct turn_totals totals;
    /* private: */
    struct buf models, rows, slots, span, since, extra, sum_totals, calls;
    size_t next_call;
    size_t model; /* the session's, now */
    size_t last,
        main;        /* rows of the span's last message, + 1; and outside of sub-agents */
    uint32_t number; /* of the span */
};

int turn_ledger_add(struct turn_ledger *l, const struct turn_event *e, uint64_t ts_ns);
/* An error (< 0) that it returns ends the walk and is returned. */
typedef int (*turn_ledger_fn)(void *ctx, const struct turn_ledger_row *row);
int turn_ledger_each(const struct turn_ledger *l, turn_ledger_fn fn, void *ctx);
typedef int (*turn_ledger_total_fn)(void *ctx, const struct turn_ledger_total *t);
int turn_ledger_each_total(const struct turn_ledger *l, turn_ledger_total_fn fn,
                           void *ctx);
void turn_ledger_release(struct turn_ledger *l);

#endif
