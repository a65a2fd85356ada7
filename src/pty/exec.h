/* SPDX-License-Identifier: MIT */
/*
 * exec.h -- a command in a child: what fork() and execve() need before, between and
 * after.
 *
 * Between fork and exec only calls that are safe in a signal handler: all that the child
 * needs is made before. It runs, or exec's own errno comes back through a pipe.
 */
#ifndef PTY_EXEC_H
#define PTY_EXEC_H

#include <sys/types.h>

#include "base/buf.h"

struct pty_exec {
    char *const *argv; /* borrowed */
    char *const *envp; /* borrowed */
    struct buf paths;  /* where the command may be */
    char **script;     /* argv for a script without #!: shell, path, arguments */
    char shell[sizeof("/bin/sh")];
    int tell_fd; /* the child's: why it does not run */
};

/* The command is looked for in envp's PATH. *ret_told_fd is the caller's: for
 * pty_exec_wait(), close-on-exec. 0 or -errno; to be released in any case. */
int pty_exec_init(struct pty_exec *x, char *const *argv, char *const *envp,
                  int *ret_told_fd);
void pty_exec_release(struct pty_exec *x);

/* fork(), without the caller's handlers in the child, which has all signals blocked. 0 in
 * the child, the pid, or -errno. */
pid_t pty_exec_fork(void);
/* In the child: every signal has its default action and is unblocked. */
void pty_exec_reset_signals(void);
/* In the child: the command, or the news that it does not run; errnum: because of this.
 */
_Noreturn void pty_exec_run(struct pty_exec *x, int errnum);
/* 0 when it runs; else the child is reaped, *ret_status is 127 or 126, and err has the
 * reason. Closes *told_fd. The exec must be released before. */
int pty_exec_wait(pid_t pid, int *told_fd, const char *command, int *ret_status,
                  struct err *err);

/* Out of the way of 0, 1 and 2, which will be others in the child: 0 or -errno. */
int pty_exec_lift(int *fd);
/* To a process group, which is continued for it if it is stopped. */
void pty_exec_signal(pid_t group, int signo);

#endif
