/* SPDX-License-Identifier: MIT */
/*
 * child_priv.h -- a command on pipes, in a process group of its own.
 *
 * Every signal unblocked and with its default action. It runs, or it is known why not.
 */
#ifndef RUN_CHILD_PRIV_H
#define RUN_CHILD_PRIV_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

struct run_child {
    pid_t pid; /* and its group */
    int in_fd; /* its standard input, for writing; -1: it has none (/dev/null) */
    int out_fd, err_fd;
};

/* dir NULL: here. All descriptors are close-on-exec and non-blocking on our side. Fails
 * with *ret_status 127 or 126 as shells have it. */
int run_child_start(struct run_child *ret, char *const *argv, char *const *envp,
                    const char *dir, bool has_input, int *ret_status, struct err *err);
/* To its whole group. */
void run_child_signal(const struct run_child *c, int signo);
/* What is still open is closed. Nobody is waited for. */
void run_child_close(struct run_child *c);

#endif
