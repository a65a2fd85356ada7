/* SPDX-License-Identifier: MIT */
/*
 * tree_priv.h -- what is in a snapshot: the trees that git has, and `extra`, as one list.
 *
 * Whoever made the snapshot may have put anything into it. What no snapshot of ours holds
 * is in the list with the reason why it is refused: names that lead elsewhere, `.git` in
 * whatever letters, one name twice, submodules.
 */
#ifndef SNAP_TREE_PRIV_H
#define SNAP_TREE_PRIV_H

#include "snap/walk_priv.h"

enum { SNAP_TREE_BYTES_MAX = 1 << 30 }; /* of names and ids, of one snapshot */

struct snap_tree_entry {
    const char *path; /* from the root, as bytes; owned by the tree */
    const char *id;   /* of its blob, in hex; "" for a folder */
    const char *why;  /* it is refused; NULL: it is not */
    enum snap_kind kind;
    unsigned mode; /* permissions: 0777 at most; a link has none */
    bool is_empty; /* a folder without anything in it */
    bool is_above; /* a folder that is here only for what is below: see snap_choose() */
};

struct snap_tree {
    struct snap_tree_entry *entry; /* by path (bytes, '/' as any other) */
    size_t count, room;
    unsigned root_mode;
    bool is_part;                    /* some entries are not here: see snap_choose() */
    struct buf listed, extra, above; /* the memory behind the paths */
    struct buf skipped;              /* as snap_skip_next() reads it */
};

/* ERR_DAMAGED: it is no snapshot of ours. */
int snap_tree_read(struct snap_tree *ret, const char *repo_path, const char *commit,
                   struct err *err);
void snap_tree_release(struct snap_tree *t);

/* The first entry that does not come before that path: an index, up to count. */
size_t snap_tree_place(const struct snap_tree *t, const char *path);
/* Why that path is refused; NULL: it leads to a place below the root. */
const char *snap_path_fault(const char *path);

/*
 * Its two halves; pure. The first takes t->listed, what `git ls-tree -r -t -z` says of
 * the commit, and finds the ids of the two blobs (else they stay as they are). The second
 * takes t->extra. Pointers into both are kept.
 */
int snap_tree_parse(struct snap_tree *t, const char **ret_extra_id,
                    const char **ret_skipped_id);
int snap_tree_finish(struct snap_tree *t);

#endif
