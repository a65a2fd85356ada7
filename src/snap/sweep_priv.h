/* SPDX-License-Identifier: MIT */
/* sweep_priv.h -- what lies in a shadow repository, and what killed ones have left there.
 */
#ifndef SNAP_SWEEP_PRIV_H
#define SNAP_SWEEP_PRIV_H

#include <stdbool.h>

#include "base/buf.h"

struct snap_inventory {
    uint64_t bytes; /* on the disk */
    uint64_t packs, loose_refs, loose_objects;
    uint64_t broken_refs; /* files without the name of an object in them */
    uint64_t left;        /* files that killed ones have left */
    uint64_t pack_bytes;
    bool wants_collecting; /* it is marked so */
    bool may_waste;        /* and so */
};

/* Looks only, whoever else is at it. */
int snap_inventory(struct snap_inventory *ret, const char *repo_path);
/* The same, and removes what was left: the repository is held alone, by the only one who
 * tidies. A .keep would keep its pack from being joined. */
int snap_sweep(struct snap_inventory *ret, const char *repo_path);
/* Only lock files of git's, which would keep everybody else out for ever: the repository
 * is held alone. */
int snap_sweep_locks(const char *repo_path);

#endif
