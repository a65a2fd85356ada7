/* SPDX-License-Identifier: MIT */
/*
 * fate_priv.h -- what becomes of each thing that the walk has found: known from the last
 * snapshot by its look, or read now, or left out after all.
 */
#ifndef SNAP_FATE_PRIV_H
#define SNAP_FATE_PRIV_H

#include "snap/cache_priv.h"
#include "snap/import_priv.h"
#include "snap/still_priv.h"
#include "snap/walk_priv.h"

struct snap_fate {
    uint64_t blob;  /* it is read; 0: it was not, or need not be */
    bool is_known;  /* its bytes are in the last snapshot */
    bool was_there; /* something of this path is in the last snapshot */
    bool is_out;
};

struct snap_fates {
    struct snap_walk walk;  /* looks are those of what was read */
    struct snap_fate *fate; /* of each entry */
    struct buf gone;  /* paths of the last snapshot that are no more; NUL behind each */
    uint64_t unknown; /* files and links that must be read */
    struct snap_skips skips;
};

/* Takes the walk over. cache: NULL for none; it is read to its end. */
int snap_fates_init(struct snap_fates *ret, struct snap_walk *walk,
                    struct snap_cache *cache);
void snap_fates_release(struct snap_fates *f);

/* Reads what is not known. progress may be NULL. */
int snap_fates_read(struct snap_fates *f, struct snap_reader *r,
                    void (*progress)(void *ctx, uint64_t files, uint64_t bytes),
                    void *ctx);

#endif
