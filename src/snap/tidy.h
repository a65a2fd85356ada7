/* SPDX-License-Identifier: MIT */
/*
 * tidy.h -- snapshots removed, and what nobody needs any more.
 *
 * Removing takes the names away at once; the bytes go when somebody tidies: a shadow
 * repository that has something to collect is marked so until that is done.
 */
#ifndef SNAP_TIDY_H
#define SNAP_TIDY_H

#include "snap/list.h"

enum { SNAP_WAIT_MS = 10000 }; /* for those who are at a repository */

/* Every snapshot of that session, in all repositories. How many there were, or an error:
 * ERR_BUSY when a repository is in use for SNAP_WAIT_MS; those of the others are gone. */
int snap_forget_session(const char *home, const char *session, struct err *err);
/* One. The repository in *f must not be held by the caller: release it first. */
int snap_forget(const char *repo_path, const char *session, uint64_t id, struct err *err);

struct snap_tidied {
    uint64_t bytes_before, bytes_after; /* of all repositories */
    uint64_t dropped;                   /* snapshots, for the budget */
    uint64_t busy;                      /* repositories that somebody was at */
};

#define SNAP_BUDGET (UINT64_C(10) << 30)

/* Is there something to do? Cheap: looks at folders only. */
bool snap_wants_tidy(const char *home, uint64_t budget_bytes);
/*
 * In each repository that nobody is at: removes what killed ones have left, collects what
 * no snapshot needs where something was removed or where that is much, joins many small
 * packs. If all of them still hold more than the budget, the oldest automatic snapshots
 * go until it is enough; others never do.
 */
int snap_tidy(const char *home, uint64_t budget_bytes, struct snap_tidied *ret,
              struct err *err);
/* Removes what a snapshot that could not be taken has left in its repository, so that a
 * disk that it has filled has room again; unless others are at it. */
void snap_tidy_after(const char *home, const char *repo_path);

#endif
