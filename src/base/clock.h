/* SPDX-License-Identifier: MIT */
/*
 * clock.h -- the one clock of a session.
 *
 * A stamp is the wall clock at the session's start plus the boot-time clock since then:
 * it never goes back, and counts suspend. Helpers of the session are given the same pair.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct clock {
    uint64_t real_ns; /* CLOCK_REALTIME at start */
    uint64_t boot_ns; /* CLOCK_BOOTTIME at start */
};

void clock_start(struct clock *c);
uint64_t clock_now_ns(const struct clock *c);
/* How far the wall clock has stepped away from this one when that is 1 s or more, else 0.
 * *base_ns (0 at first) remembers the departure already told. */
int64_t clock_step_ns(const struct clock *c, int64_t *base_ns);
/* Monotonic time for intervals and deadlines; no relation to stamps. */
uint64_t clock_mono_ns(void);
/* How many ms there are until then, rounded up; 0 when it has passed. UINT64_MAX, never,
 * stays that. Both by the same clock. */
uint64_t clock_left_ms(uint64_t due_ns, uint64_t now_ns);
/* A number for something that is made now, by whomever: microseconds since 1970, so that
 * there is no counter to share, and below 2^53. */
uint64_t clock_id(void);
/* Sleeps a little before the next try at what somebody else has, longer as `tries` (from
 * 0) grows; false, at once, when the deadline (clock_mono_ns()) has passed. */
bool clock_back_off(unsigned tries, uint64_t deadline_ns);

#endif
