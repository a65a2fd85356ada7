/* SPDX-License-Identifier: MIT */
/* runs.h -- the runs that a project keeps, whatever the library knows of them. */
#ifndef LIBRARY_RUNS_H
#define LIBRARY_RUNS_H

#include <stdbool.h>

#include "base/buf.h"

/* r: as journal_project_recover(); of a dry run 1 where there would be something to do.
 * 0 ends the walk, 1 goes on, else an error that is returned. */
typedef int (*library_runs_fn)(void *ctx, const char *dir, int r, const struct err *why);
/* Each run of the project around the folder `from` (the nearest that has
 * .claude-man/sessions or .ahr/sessions) whose process is dead is put in order; those in
 * which there was nothing to do are not told, nor those that are going on. No link is
 * followed. */
int library_runs_recover(const char *from, bool is_dry_run, library_runs_fn fn,
                         void *ctx);

#endif
