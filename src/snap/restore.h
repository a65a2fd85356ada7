/* SPDX-License-Identifier: MIT */
/*
 * restore.h -- a snapshot's files, put into a folder.
 *
 * Nothing is written outside of that folder, whatever names and links the snapshot or the
 * folder hold. Without `replaces` nothing that exists is touched: what is in the way is
 * found before the first file is written. Each file is there whole or not at all.
 */
#ifndef SNAP_RESTORE_H
#define SNAP_RESTORE_H

#include "snap/list.h"
#include "snap/skip.h"

struct snap_restore {
    const struct snap_found *from; /* borrowed */
    const char *into;              /* made if it is missing, and folders above it */
    bool replaces;                 /* files and links that are in the way */
    const char *const *paths;      /* only these, path_count of them; none: all */
    size_t path_count;
    void (*progress)(void *ctx, uint64_t files, uint64_t of); /* NULL: nobody asks */
    void *ctx;
};

struct snap_restored {
    uint64_t files, folders, bytes;
    uint64_t failed;    /* that could not be restored: see why */
    struct err why;     /* the first one's */
    struct buf refused; /* their paths, NUL behind each; the first thousand */
    struct snap_skips
        skips; /* what the snapshot has left out of that when it was taken */
};

/* 0, also when some have failed (the caller tells). An error: nothing was begun, or it
 * could not go on. -EEXIST: files are in the way, and *err names the first of them.
 * Paths: as snap_choose() takes them; folders above one that are there stay as they are.
 */
int snap_restore(const struct snap_restore *q, struct snap_restored *ret,
                 struct err *err);
void snap_restored_release(struct snap_restored *r);

#endif
