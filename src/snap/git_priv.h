/* SPDX-License-Identifier: MIT */
/*
 * git_priv.h -- git at work in a shadow repository, and nowhere else.
 *
 * It stands in the repository, has no GIT_* variable but ours, no configuration but the
 * repository's own and what is said here, no hooks, no attributes of the system or the
 * user, no terminal; files are 0600. It is killed when we are.
 */
#ifndef SNAP_GIT_PRIV_H
#define SNAP_GIT_PRIV_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"

/* A running one. Its standard input is a socket, so that its death is no signal to us:
 * see snap_git_write(). */
struct snap_git {
    pid_t pid;
    int in_fd, out_fd; /* -1: closed */
    int said_fd;       /* a file in memory: what it says on stderr */
};

/* "key=value" each, NULL behind the last: in force for each git, and in the configuration
 * of each repository for those who look into one by hand. */
extern const char *const snap_git_settings[];

/* args: behind "git", NULL-terminated. has_in: else it reads /dev/null. out_fd: where its
 * stdout goes; -1: to a pipe of ours. ERR_MISSING and a word to the user when there is no
 * git. Descriptors without FD_CLOEXEC are its as well: so it keeps the repository's lock.
 * It dies with the thread that has started it. */
int snap_git_start(struct snap_git *ret, const char *repo_path, const char *const *args,
                   bool has_in, int out_fd, struct err *err);
/* All of it, to its standard input: 0, or -errno; -EPIPE or -ECONNRESET when it has
 * ended: snap_git_end() knows why. */
int snap_git_write(struct snap_git *g, const void *p, size_t n);
/* Nothing more comes. */
void snap_git_close_in(struct snap_git *g);
/* Waits for its end; closes what is open. Not 0, or a signal: -EIO (-ENOSPC where it says
 * so; -EPIPE when nobody reads what it prints), and *err has `doing` and the last line
 * that it said. */
int snap_git_end(struct snap_git *g, const char *doing, struct err *err);
/* Kills it, and waits. For failures of our own. */
void snap_git_kill(struct snap_git *g);

/* The whole of it: input (may be empty) in, output appended to out (NULL: none is
 * wanted). Both at once, so that neither side waits for the other. */
int snap_git_run(const char *repo_path, const char *const *args, struct view input,
                 struct buf *out, const char *doing, struct err *err);

#endif
