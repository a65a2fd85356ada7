/* SPDX-License-Identifier: MIT */
/* collect_priv.h -- the bytes that no snapshot needs are given back. */
#ifndef SNAP_COLLECT_PRIV_H
#define SNAP_COLLECT_PRIV_H

#include <stdbool.h>

#include "base/err.h"

enum { SNAP_PACKS_MANY = 24 }; /* each snapshot makes one */

/* Removes what no ref needs where the repository is marked so, or where that is much;
 * is_tight: also where it is not. Joins packs and refs where there are many. The caller
 * does not hold it, and is the only one who tidies.
 * Killed, or out of room: nothing is lost, and the mark stays. ERR_BUSY: somebody is at
 * it and does not end. */
int snap_collect(const char *repo_path, bool is_tight, struct err *err);

#endif
