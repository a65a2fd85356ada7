/* SPDX-License-Identifier: MIT */
/*
 * touched.h -- the files that tool calls write, by the calls and their results alone.
 *
 * Pure: nobody looks at the disk. For conversations that are over (artifact.h is for
 * those that go on, and copies the files).
 */
#ifndef JOURNAL_TOUCHED_H
#define JOURNAL_TOUCHED_H

#include "turn/event.h"

/* path: below the folder it was given relative to it, else absolute; created, modified or
 * deleted. An error (< 0) that it returns is returned. */
typedef int (*journal_touched_fn)(void *ctx, struct view path, const char *action);

/* Zeroed it is ready for use. */
struct journal_touched {
    struct buf open; /* calls without a result, as parts; may be kept and given back */
};

/* An event as the agent gave it, or masked as its cwd is; cwd: its folder, "" for not
 * known. fn is called at results of calls that have written and have not failed. */
int journal_touched_see(struct journal_touched *t, const struct turn_event *e,
                        const char *cwd, journal_touched_fn fn, void *ctx);
void journal_touched_release(struct journal_touched *t);

#endif
