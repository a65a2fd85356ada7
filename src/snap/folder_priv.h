/* SPDX-License-Identifier: MIT */
/*
 * folder_priv.h -- one folder of a walk: what is in it, by name.
 *
 * Several threads look at folders of one walk, each at its own. What they share here they
 * only read.
 */
#ifndef SNAP_FOLDER_PRIV_H
#define SNAP_FOLDER_PRIV_H

#include "snap/ignore_priv.h"
#include "snap/tracked_priv.h"
#include "snap/walk_priv.h"

/* Beside enum snap_reason. */
enum { SNAP_KEPT = -1, SNAP_GONE = -2 };

/* A repository of the user's: its own index and patterns count for what is below it. */
struct snap_work_tree {
    struct snap_work_tree *next; /* of the looker's */
    struct snap_tracked tracked;
    size_t inside; /* where paths from it begin in those from the root */
};

struct snap_ignore_node {
    struct snap_ignore_node *next;
    struct snap_ignore *set;
};

struct snap_folder;

/* Something in a folder. */
struct snap_item {
    struct snap_entry entry;
    struct snap_folder *child; /* of a folder that is looked into */
    int skip;                  /* enum snap_reason, or SNAP_KEPT */
};

struct snap_folder {
    struct snap_folder *next; /* of those that nobody has looked at yet */
    const char *path;
    size_t path_len;
    const struct snap_ignore *ignore;
    const struct snap_work_tree *tree; /* NULL: in no repository */
    bool is_only_tracked;              /* .gitignore names it, or one above it */
    int skip;                          /* it cannot be looked into */
    struct snap_item *item;            /* in the order of struct snap_walk */
    size_t count;
};

/* Of the whole walk; only read. */
struct snap_look_for {
    int root_fd;
    bool takes_all;
    uint64_t file_bytes_max;
    uint64_t mount;      /* the root's */
    uint64_t home[2][2]; /* device and inode of what is ours */
    bool has_mount, has_home[2];
};

/* One thread's. */
struct snap_looker {
    const struct snap_look_for *want;
    struct snap_arena memory;
    struct snap_work_tree *trees; /* all that it has found */
    struct snap_ignore_node *sets;
    struct buf names, list, text;
    bool has_git, has_gitignore; /* among the names */
};

void snap_looker_release(struct snap_looker *l); /* not the memory */

/* The root's facts, from its descriptor; home may be missing. */
int snap_look_for_init(struct snap_look_for *ret, const struct snap_walk_options *opt,
                       int root_fd);
/* Fills its items. One that cannot be read has `skip`; one that is gone has nothing.
 * 0 or -ENOMEM. */
int snap_folder_read(struct snap_looker *l, struct snap_folder *f);

#endif
