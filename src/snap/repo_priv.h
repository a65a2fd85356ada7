/* SPDX-License-Identifier: MIT */
/* repo_priv.h -- the files of a shadow repository that are not git's; folders beside
 * them. */
#ifndef SNAP_REPO_PRIV_H
#define SNAP_REPO_PRIV_H

#include "snap/repo.h"

#define SNAP_FOLDER       "snapshots"
#define SNAP_ROOT_FILE    "ahr.root"    /* the path of what it has snapshots of */
#define SNAP_LOCK_FILE    "ahr.lock"    /* empty: for flock() */
#define SNAP_COLLECT_FILE "ahr.collect" /* empty: there is something to collect */
#define SNAP_WASTE_FILE   "ahr.waste"   /* empty: there may be much of it */
#define SNAP_CACHE_FILE   "ahr.cache"   /* how the files of the last one looked */

enum { SNAP_ROOT_MAX = 128 << 10 }; /* bytes of ahr.root, with room to read them */

/* The path of a folder that is not there yet: .KIND-PID-N beside the repositories, for
 * one that is made or removed. */
int snap_repo_aside(struct buf *ret, const char *home, const char *kind, struct err *err);
/* Makes an empty file in a repository, if it is not there. 0 or -errno. */
int snap_repo_mark(const char *path, const char *name);
/* With all that is in it. 0 or -errno. */
int snap_repo_remove(const char *path);

#endif
