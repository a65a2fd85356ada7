/* SPDX-License-Identifier: MIT */
/* choose_priv.h -- those entries of a snapshot that are asked for. Pure. */
#ifndef SNAP_CHOOSE_PRIV_H
#define SNAP_CHOOSE_PRIV_H

#include "snap/tree_priv.h"

/*
 * Leaves in *t what the paths name, all that is below, and the folders above; and of
 * `skipped` what is at a path or below it. Paths are from the root; "./" and slashes at
 * the end mean nothing, "." is all. ERR_USAGE: a path leads elsewhere; ERR_MISSING: one
 * names nothing. *t is then as it was.
 */
int snap_choose(struct snap_tree *t, const char *const *paths, size_t count,
                struct err *err);

#endif
