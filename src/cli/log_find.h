/* SPDX-License-Identifier: MIT */
/* log_find.h -- the run that is meant, or the log: one way for all who ask. */
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
/* Appends the absolute path of the run's folder; the same, but for a log. what NULL: the
 * run around us ($AHR_SESSION, $AHR_RUN_DIR); where there is none, the last one, or
 * ERR_USAGE where !has_default. */
int cli_run_find(const struct cli_command *self, const char *what, bool has_default,
                 struct buf *ret_dir, struct err *err);

#endif
