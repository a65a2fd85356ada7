/* SPDX-License-Identifier: MIT */
#include "pty/signals.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

/* The ones that end us stand first: they are handled first. */
static const int noted[] = { SIGHUP,  SIGTERM, SIGINT,  SIGQUIT, SIGTSTP,
                             SIGTTOU, SIGTTIN, SIGCONT, SIGWINCH };

enum { COUNT = sizeof(noted) / sizeof(noted[0]) };

static volatile sig_atomic_t has_come[COUNT];
static sigset_t mask_while_waiting;

static void
note(int signo)
{
    for (size_t i = 0; i < COUNT; i++)
        if (noted[i] == signo)
            has_come[i] = 1;
}

void
pty_signals_hold(void)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < COUNT; i++)
        sigaddset(&set, noted[i]);
    sigprocmask(SIG_BLOCK, &set, &mask_while_waiting);
    for (size_t i = 0; i < COUNT; i++)
        sigdelset(&mask_while_waiting, noted[i]);
}

void
pty_signals_listen(void)
{
    struct sigaction now, act = { .sa_handler = note };
    for (size_t i = 0; i < COUNT; i++) {
        sigaction(noted[i], NULL, &now);
        if (now.sa_handler != SIG_IGN)
            sigaction(noted[i], &act, NULL);
    }
    signal(SIGPIPE, SIG_IGN);
}

int
pty_signals_poll(struct pollfd *fds, size_t n, int timeout_ms)
{
    struct timespec time = { .tv_sec = timeout_ms / 1000,
                             .tv_nsec = timeout_ms % 1000 * 1000000L };
    return ppoll(fds, n, timeout_ms < 0 ? NULL : &time, &mask_while_waiting);
}

int
pty_signals_next(void)
{
    for (size_t i = 0; i < COUNT; i++)
        if (has_come[i]) {
            has_come[i] = 0;
            return noted[i];
        }
    return 0;
}

void
pty_signals_suspend(bool is_job)
{
    struct sigaction before, plain = { .sa_handler = SIG_DFL };
    sigset_t stop, mask;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    sigaction(SIGTSTP, &plain, &before);
    if (before.sa_handler == SIG_IGN) {
        sigaction(SIGTSTP, &before, NULL);
        return;
    }
    kill(is_job ? 0 : getpid(), SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &stop, &mask); /* here it stops */
    sigprocmask(SIG_SETMASK, &mask, NULL);
    sigaction(SIGTSTP, &before, NULL);
    /* What made it go on is known by that: it is not noted as well. */
    sigaction(SIGCONT, NULL, &before);
    signal(SIGCONT, SIG_IGN);
    sigaction(SIGCONT, &before, NULL);
}

void
pty_signals_stop_self(void)
{
    raise(SIGSTOP);
}
