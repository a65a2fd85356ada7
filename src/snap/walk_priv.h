/* SPDX-License-Identifier: MIT */
/*
 * walk_priv.h -- what there is below a root, without reading any file.
 *
 * Links are never followed, mounts never entered. A `.git` is no part of it, in whatever
 * folder: a snapshot is of files, not of repositories. What is in the index of the
 * repository around it is there although .gitignore names it.
 */
#ifndef SNAP_WALK_PRIV_H
#define SNAP_WALK_PRIV_H

#include <sys/types.h>

#include "base/below.h"
#include "snap/arena_priv.h"
#include "snap/skip.h"
#include "snap/take.h"

enum snap_kind { SNAP_FILE, SNAP_LINK, SNAP_DIR };

/* How a file looks from outside. Two looks that are the same are of the same bytes, if
 * the first was taken well after the last change. */
struct snap_look {
    uint64_t ino, size_bytes;
    int64_t mtime_ns, ctime_ns;
    uint32_t mode; /* with its type */
};

struct snap_entry {
    const char *path; /* from the root; owned by the walk */
    struct snap_look look;
    uint32_t parent; /* the entry of the folder that it is in; the root's is itself */
    enum snap_kind kind;
    bool is_empty; /* a folder without anything of the snapshot in it */
};

struct snap_walk {
    /* By path (bytes, '/' as any other), a folder's as if a '/' stood at its end: so git
     * sorts, too. */
    struct snap_entry *entry;
    size_t count;
    struct snap_skips skips;
    struct snap_arena memory; /* of the paths */
};

struct snap_walk_options {
    const char *home, *root;
    bool takes_all;
    unsigned threads;
    const struct snap_limits *limits;
};

/* The root itself is entry 0, with the path "". */
int snap_walk(struct snap_walk *ret, const struct snap_walk_options *opt,
              struct err *err);
void snap_walk_release(struct snap_walk *w);

#endif
