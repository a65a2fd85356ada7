/* SPDX-License-Identifier: MIT */
/*
 * repo.h -- the shadow repository of a root: <home>/snapshots/<hash of its path>.git.
 *
 * It is ours alone, and no git that works in the root ever sees it. Whoever reads or adds
 * holds its lock together with others; whoever removes holds it alone. So what was there
 * when a snapshot began, and is named by a ref, is there when it ends.
 */
#ifndef SNAP_REPO_H
#define SNAP_REPO_H

#include <stdbool.h>

#include "base/buf.h"

enum snap_hold { SNAP_SHARED, SNAP_ALONE };

struct snap_repo {
    char *path;  /* absolute */
    char *root;  /* real path of what it has snapshots of; any bytes but NUL */
    int lock_fd; /* held; also by each git that is started, until it ends */
};

/* That of a root, which is made (whole, or not at all) if `makes`; else ERR_MISSING.
 * ERR_BUSY after wait_ms. */
int snap_repo_open(struct snap_repo *ret, const char *home, const char *root, bool makes,
                   enum snap_hold hold, unsigned wait_ms, struct err *err);
/* One by its path, as snap_repos() names it. */
int snap_repo_open_at(struct snap_repo *ret, const char *path, enum snap_hold hold,
                      unsigned wait_ms, struct err *err);
void snap_repo_release(struct snap_repo *r);

/* Appends the path of each shadow repository, NUL behind each. None is no error. */
int snap_repos(const char *home, struct buf *ret, struct err *err);

/* Of git: "2.39.5", appended. ERR_MISSING when there is none. */
int snap_git_version(struct buf *ret, struct err *err);

#endif
