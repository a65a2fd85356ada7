/* SPDX-License-Identifier: MIT */
/*
 * watch_run.h -- a run followed on a terminal, with keys to leave it.
 *
 * The terminal keeps its output as it is: only lines, echo and Ctrl-C are taken from its
 * input, and given back on every way out, also while it is suspended.
 */
#ifndef CLI_WATCH_RUN_H
#define CLI_WATCH_RUN_H

#include "cli/command.h"

/* dir: the run's folder; called: what it goes by. An exit status, or an error. */
int cli_watch_run(const struct cli_command *self, const char *dir, const char *called,
                  struct err *err);

#endif
