/* SPDX-License-Identifier: MIT */
/*
 * signals.h -- signals arrive only while a program waits, and are only noted.
 *
 * For programs with a terminal: those that end it, that stop and continue it, and that
 * tell of a new size. There is one set of notes a process.
 */
#ifndef PTY_SIGNALS_H
#define PTY_SIGNALS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

/* They arrive in pty_signals_poll() alone from now on. */
void pty_signals_hold(void);
/* From now on they are noted, but for those that our parent has us ignore. */
void pty_signals_listen(void);
/* ppoll() that they interrupt; timeout_ms < 0: none. */
int pty_signals_poll(struct pollfd *fds, size_t n, int timeout_ms);
/* The next one that has come; 0: none. */
int pty_signals_next(void);
/* Stops this process, or all of its job, as Ctrl-Z does where nobody catches it: not at
 * all where nobody could continue it. Returns when it goes on. */
void pty_signals_suspend(bool is_job);
/* Stops this process, as the signal would have without us. */
void pty_signals_stop_self(void);

#endif
