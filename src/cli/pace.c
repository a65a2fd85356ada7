/* SPDX-License-Identifier: MIT */
#include "cli/pace.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "pty/signals.h"

void
cli_pace_begin(struct cli_pace *p, uint64_t time_ns)
{
    p->last_ns = time_ns;
    play_clock_set(&p->clock, time_ns, clock_mono_ns());
}

static uint64_t
left_ns(const struct cli_pace *p, uint64_t next_ns)
{
    if (p->is_off)
        return 0;
    return play_clock_wait(&p->clock, p->last_ns, next_ns, clock_mono_ns());
}

bool
cli_pace_is_due(const struct cli_pace *p, uint64_t next_ns)
{
    return !left_ns(p, next_ns);
}

static int
to_ms(uint64_t ns)
{
    uint64_t ms = ns / 1000000 + (ns % 1000000 > 0);
    return ms < INT_MAX ? (int)ms : INT_MAX;
}

/* Stopped by ^Z, the session does not go on either. */
static int
take_signal(struct cli_pace *p)
{
    int signo = pty_signals_next();
    uint64_t before = clock_mono_ns();
    switch (signo) {
    case SIGTSTP:
        pty_signals_stop_self();
        p->clock.wall_ns += clock_mono_ns() - before;
        return 0;
    case SIGCONT:
    case SIGWINCH:
    case SIGTTIN:
    case SIGTTOU:
        return 0;
    default:
        return signo;
    }
}

int
cli_pace_wait(struct cli_pace *p, uint64_t next_ns)
{
    uint64_t left;
    do {
        left = left_ns(p, next_ns);
        struct pollfd out = {
            .fd = STDOUT_FILENO
        }; /* nothing but its end is of interest */
        if (pty_signals_poll(&out, 1, to_ms(left)) > 0 && out.revents) {
            raise(SIGPIPE);
            return -EPIPE;
        }
        int signo = take_signal(p);
        if (signo)
            return signo;
    } while (left);
    if (!p->is_off)
        play_clock_now(&p->clock, p->last_ns, next_ns, clock_mono_ns());
    p->last_ns = next_ns;
    return 0;
}

int
cli_die_of(int signo)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signo);
    signal(signo, SIG_DFL);
    raise(signo);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    return 128 + signo; /* it was one that does not end us */
}
