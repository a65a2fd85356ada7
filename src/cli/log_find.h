/* SPDX-License-Identifier: MIT */
/* log_find.h -- the run that is meant, or the log. */
#ifndef CLI_LOG_FIND_H
#define CLI_LOG_FIND_H

#include "base/buf.h"
#include "cli/command.h"

struct cli_log_found {
    struct buf dir;  /* the run's folder in its project; empty: */
    struct buf file; /* … one log */
};

void cli_log_found_release(struct cli_log_found *f);
/*
 * A path (it has a slash, or is that of a plain file) of a log or of a run's folder; else
 * a run's name in the project around the current folder; else a session of the library.
 * what NULL or "last": the last run of the project, else of the library.
 */
int cli_log_find(const struct cli_command *self, struct cli_log_found *ret,
                 const char *what, struct err *err);

#endif
