/* SPDX-License-Identifier: MIT */
/*
 * child.h -- a program on a PTY of its own.
 *
 * Two steps: the child is forked (before the caller has threads) and waits; when the
 * caller is ready to record, it is let go. So nothing runs that could not be recorded,
 * and exec's own errno tells what is wrong with the command.
 */
#ifndef PTY_CHILD_H
#define PTY_CHILD_H

#include <stdint.h>
#include <sys/types.h>
#include <termios.h>

#include "base/err.h"

struct pty_child {
    pid_t pid;
    int master_fd; /* non-blocking, close-on-exec */
    int gate_fd;   /* closed without a byte: the child ends */
    int errno_fd;
};

/* Where exec would find the command: 0, or the exit status that shells have for it (127
 * not found, 126 not executable) with the reason. */
int pty_command_check(const char *command, struct err *err);

/*
 * Forks a child that has a new session with the PTY as its controlling terminal and 0, 1,
 * 2; every signal unblocked and with its default action. termios: of the user's terminal,
 * or NULL for sane defaults without echo and ^S (input comes from a pipe: nobody types).
 * envp: the child's environment, in whose PATH the command is looked for.
 */
int pty_child_fork(struct pty_child *ret, char *const *argv, char *const *envp,
                   const struct termios *termios, uint16_t cols, uint16_t rows,
                   struct err *err);
/* Lets it go. 0 when it runs; else it is gone (reaped), the descriptors are closed, and
 * *ret_status is 127 or 126. */
int pty_child_exec(struct pty_child *c, const char *command, int *ret_status,
                   struct err *err);
/* It never ran: ends and reaps it, closes the descriptors. */
void pty_child_cancel(struct pty_child *c);

/* To the child's process group and to that in the terminal's foreground. */
void pty_child_signal(const struct pty_child *c, int signo);

#endif
