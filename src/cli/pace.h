/* SPDX-License-Identifier: MIT */
/*
 * pace.h -- waiting for the moments of a recording, while somebody reads our standard
 * output.
 */
#ifndef CLI_PACE_H
#define CLI_PACE_H

#include "play/clock.h"

struct cli_pace {
    bool is_off; /* nothing is waited for */
    struct play_clock clock;
    uint64_t last_ns; /* the last moment that was waited for */
};

/* The session is at time_ns now; speed and idle limit are in the clock already. */
void cli_pace_begin(struct cli_pace *p, uint64_t time_ns);
bool cli_pace_is_due(const struct cli_pace *p, uint64_t next_ns);
/*
 * Waits until the session is there. 0; -EPIPE when nobody reads any more (the process
 * dies of SIGPIPE before that, as by a write, unless it has that ignored); or, where
 * pty_signals_listen() was called, the number of a signal that came.
 */
int cli_pace_wait(struct cli_pace *p, uint64_t next_ns);

/* Ends the process as the signal would have, had it not been held. */
int cli_die_of(int signo);

#endif
