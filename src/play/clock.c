/* SPDX-License-Identifier: MIT */
#include "play/clock.h"

static uint64_t
speed_of(const struct play_clock *c)
{
    return c->speed ? c->speed : PLAY_SPEED_ONE;
}

/* n * mul / div, for mul and div up to PLAY_SPEED_MAX; what is too large for a number is
 * the largest one. */
static uint64_t
scale(uint64_t n, uint64_t mul, uint64_t div)
{
    uint64_t whole = n / div, rest = n % div;
    if (whole > UINT64_MAX / mul - mul)
        return UINT64_MAX;
    return whole * mul + rest * mul / div;
}

static uint64_t
add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Without a look at idle stretches. */
static uint64_t
plain_now(const struct play_clock *c, uint64_t wall_ns)
{
    if (c->is_paused || wall_ns <= c->wall_ns)
        return c->time_ns;
    return add(c->time_ns, scale(wall_ns - c->wall_ns, speed_of(c), PLAY_SPEED_ONE));
}

/* The session time at which the next record is due, or is jumped to. */
static uint64_t
due(const struct play_clock *c, uint64_t last_ns, uint64_t next_ns)
{
    if (!c->idle_limit_ns || next_ns == UINT64_MAX || next_ns < last_ns ||
        next_ns - last_ns <= c->idle_limit_ns)
        return next_ns;
    return last_ns + c->idle_limit_ns;
}

void
play_clock_set(struct play_clock *c, uint64_t time_ns, uint64_t wall_ns)
{
    c->time_ns = time_ns;
    c->wall_ns = wall_ns;
}

void
play_clock_pause(struct play_clock *c, bool is_paused, uint64_t wall_ns)
{
    play_clock_set(c, plain_now(c, wall_ns), wall_ns);
    c->is_paused = is_paused;
}

void
play_clock_speed(struct play_clock *c, uint32_t speed, uint64_t wall_ns)
{
    play_clock_set(c, plain_now(c, wall_ns), wall_ns);
    c->speed = speed < PLAY_SPEED_MIN   ? PLAY_SPEED_MIN
               : speed > PLAY_SPEED_MAX ? PLAY_SPEED_MAX
                                        : speed;
}

uint64_t
play_clock_now(struct play_clock *c, uint64_t last_ns, uint64_t next_ns, uint64_t wall_ns)
{
    uint64_t now = plain_now(c, wall_ns);
    if (!c->is_paused && now >= due(c, last_ns, next_ns) && now < next_ns) {
        play_clock_set(c, next_ns, wall_ns);
        now = next_ns;
    }
    return now;
}

uint64_t
play_clock_wait(const struct play_clock *c, uint64_t last_ns, uint64_t next_ns,
                uint64_t wall_ns)
{
    if (c->is_paused || next_ns == UINT64_MAX)
        return UINT64_MAX;
    uint64_t now = plain_now(c, wall_ns), then = due(c, last_ns, next_ns);
    if (now >= then)
        return 0;
    uint64_t speed = speed_of(c), wait = scale(then - now, PLAY_SPEED_ONE, speed);
    /* Rounded up: whoever waits that long is there. */
    return wait < UINT64_MAX ? wait + 1 : wait;
}
