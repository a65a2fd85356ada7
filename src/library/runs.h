/* SPDX-License-Identifier: MIT */
/* runs.h -- the folders of runs in their projects. */
#ifndef LIBRARY_RUNS_H
#define LIBRARY_RUNS_H

#include <stdbool.h>

#include "base/buf.h"

/* Is the path that of a run's folder in a project? */
bool library_project_is(const char *path);
/* Is all that is there of a run locked away? */
bool library_run_is_encrypted(const char *dir);
/* A run's folder in its project: of the file `project` in the session's folder `dir`,
 * else of its meta. Appends nothing when it is not known. */
int library_project_of(const char *dir, const char *meta_path, struct buf *ret);
/* The same of a session of the library; true: and it is there. */
bool library_project_find(const char *home, const char *id, struct buf *ret);

/* The folder of the runs of the project around the folder `from`: true, with its path. */
bool library_runs_path(const char *from, struct buf *ret);

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
