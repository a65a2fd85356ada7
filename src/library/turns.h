/* SPDX-License-Identifier: MIT */
/* turns.h -- the events of a run (play/turns.h), counted, and summed up. */
#ifndef LIBRARY_TURNS_H
#define LIBRARY_TURNS_H

#include "session/lines.h"
#include "turn/line.h"

/* number: of the event, from 1. An error (< 0) that it returns ends the reading and is
 * returned. What is handed over is borrowed. */
typedef int (*library_turn_fn)(void *ctx, const struct turn_event *e,
                               const struct turn_stamp *at, uint64_t number);

/* Each event of the file at path, in its order, in memory for one line at a time. A file
 * that is missing has none. */
int library_turns_read(const char *path, library_turn_fn fn, void *ctx,
                       struct session_unread *ret);

/* What they say of the run as a whole; "" and TURN_UNKNOWN: nothing. Zeroed it is ready
 * for use. */
struct library_run {
    struct buf agent_session_id, model; /* the last that were told */
    struct turn_usage usage;
    uint64_t calls, iterations, events;
    struct session_unread unread;
};

void library_run_release(struct library_run *r);
int library_run_read(struct library_run *ret, const char *path);

#endif
