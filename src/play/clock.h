/* SPDX-License-Identifier: MIT */
/*
 * clock.h -- from wall time to session time: speed, pauses, idle stretches cut short.
 *
 * Pure: the caller tells what the wall clock says (monotonic ns). Between two records
 * that are more than idle_limit_ns apart, session time jumps once the limit has passed.
 */
#ifndef PLAY_CLOCK_H
#define PLAY_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Speeds are in thousandths: 1000 is as it was recorded. */
enum { PLAY_SPEED_ONE = 1000, PLAY_SPEED_MIN = 10, PLAY_SPEED_MAX = 1000000 };

struct play_clock {
    uint32_t speed;
    uint64_t idle_limit_ns; /* in session time; 0: none */
    bool is_paused;
    uint64_t wall_ns, time_ns; /* private: session time at a wall time */
};

/* The session is at time_ns now. */
void play_clock_set(struct play_clock *c, uint64_t time_ns, uint64_t wall_ns);
void play_clock_pause(struct play_clock *c, bool is_paused, uint64_t wall_ns);
void play_clock_speed(struct play_clock *c, uint32_t speed, uint64_t wall_ns);
/* Where the session is. last_ns, next_ns: the records around it (next_ns UINT64_MAX: none
 * comes); where an idle stretch between them is over its limit, the clock jumps to
 * next_ns. */
uint64_t play_clock_now(struct play_clock *c, uint64_t last_ns, uint64_t next_ns,
                        uint64_t wall_ns);
/* How long until the session is at next_ns: wall ns; UINT64_MAX: never, while paused. */
uint64_t play_clock_wait(const struct play_clock *c, uint64_t last_ns, uint64_t next_ns,
                         uint64_t wall_ns);

#endif
