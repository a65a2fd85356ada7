/* SPDX-License-Identifier: MIT */
/*
 * guard.h -- puts the user's terminal back for a program that was killed over it.
 */
#ifndef PTY_GUARD_H
#define PTY_GUARD_H

#include <sys/types.h>

#include "pty/tty.h"

struct pty_guard {
    pid_t pid; /* 0: there is none */
    int fd;    /* closed when we are gone, however that happens */
};

/* From now on a small process waits for the end of this one. If the terminal is then
 * still as raw as `t` makes it, its saved settings come back and `give` is written to it.
 * Before any thread begins; where no process can be had there is no guard. */
void pty_guard_post(struct pty_guard *g, const struct pty_tty *t, const char *give);
/* The terminal has been given back: nobody is to touch it any more. */
void pty_guard_relieve(struct pty_guard *g);

#endif
