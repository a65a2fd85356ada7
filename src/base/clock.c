/* SPDX-License-Identifier: MIT */
#include "base/clock.h"

#include <time.h>

#ifndef CLOCK_BOOTTIME
#define CLOCK_BOOTTIME \
    CLOCK_MONOTONIC /* where the monotonic clock counts suspend itself */
#endif

static uint64_t
read_ns(clockid_t id)
{
    struct timespec ts;
    clock_gettime(id, &ts);
    return (uint64_t)ts.tv_sec * 1000000000U + (uint64_t)ts.tv_nsec;
}

void
clock_start(struct clock *c)
{
    c->real_ns = read_ns(CLOCK_REALTIME);
    c->boot_ns = read_ns(CLOCK_BOOTTIME);
}

uint64_t
clock_now_ns(const struct clock *c)
{
    return c->real_ns + (read_ns(CLOCK_BOOTTIME) - c->boot_ns);
}

int64_t
clock_step_ns(const struct clock *c, int64_t *base_ns)
{
    int64_t off = (int64_t)(read_ns(CLOCK_REALTIME) - clock_now_ns(c));
    int64_t step = off - *base_ns;
    if (step > -1000000000 && step < 1000000000)
        return 0;
    *base_ns = off;
    return step;
}

uint64_t
clock_mono_ns(void)
{
    return read_ns(CLOCK_MONOTONIC);
}

uint64_t
clock_left_ms(uint64_t due_ns, uint64_t now_ns)
{
    if (due_ns == UINT64_MAX)
        return UINT64_MAX;
    return due_ns <= now_ns ? 0 : (due_ns - now_ns + 999999) / 1000000;
}

uint64_t
clock_id(void)
{
    return read_ns(CLOCK_REALTIME) / 1000;
}

bool
clock_back_off(unsigned tries, uint64_t deadline_ns)
{
    static const uint64_t ms[] = { 1, 1, 2, 3, 5, 10, 15, 20, 25 };
    const unsigned last = sizeof(ms) / sizeof(ms[0]) - 1;
    uint64_t now = clock_mono_ns();
    if (now >= deadline_ns)
        return false;
    uint64_t ns = ms[tries < last ? tries : last] * 1000000;
    ns = ns < deadline_ns - now ? ns : deadline_ns - now;
    nanosleep(&(struct timespec){ .tv_nsec = (long)ns }, NULL);
    return true;
}
