/* SPDX-License-Identifier: MIT */
/* paths_priv.h -- a set of paths, each of which stands for all that is below it. Pure. */
#ifndef SNAP_PATHS_PRIV_H
#define SNAP_PATHS_PRIV_H

#include <stdbool.h>

#include "base/buf.h"

/* Zeroed it is empty. */
struct snap_paths {
    struct buf list; /* const char * each, borrowed */
};

void snap_paths_release(struct snap_paths *s);
int snap_paths_add(struct snap_paths *s, const char *path);
/* After the last one was added, before the first question. */
void snap_paths_sort(struct snap_paths *s);
/* Is the path in it, or a folder above it? */
bool snap_paths_cover(const struct snap_paths *s, const char *path);

#endif
