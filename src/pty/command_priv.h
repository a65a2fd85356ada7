/* SPDX-License-Identifier: MIT */
/* command_priv.h -- where a command may lie, and which failure counts: as execvp(3). */
#ifndef PTY_COMMAND_PRIV_H
#define PTY_COMMAND_PRIV_H

#include "base/buf.h"

/* Appends each path at which the command may be, with its NUL: itself when it has a
 * slash, else one for each folder of envp's PATH. */
int pty_command_paths(const char *command, char *const *envp, struct buf *ret);

/* 0 or an errno. */
typedef int (*pty_command_try)(char *path, void *arg);
/* Tries the paths in turn: 0 for the first that works, else the errno that execvp would
 * have. Safe behind fork(). */
int pty_command_each(const struct buf *paths, pty_command_try try, void *arg);

/* What a shell exits with. */
int pty_command_status(int errnum);
/* The reason why the command cannot run, with a hint where there is one; returns
 * err->code. */
int pty_command_error(const char *command, int errnum, struct err *err);

#endif
