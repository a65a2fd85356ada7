/* SPDX-License-Identifier: MIT */
/*
 * branch_folder.h -- the new folder that a branch works in.
 *
 * Nothing that was there before is touched: it is a folder that we have made, or an empty
 * one that was named. It is locked while it is filled, so that of two who are told to use
 * the same one only one does.
 */
#ifndef CLI_BRANCH_FOLDER_H
#define CLI_BRANCH_FOLDER_H

#include "cli/command.h"
#include "snap/list.h"

/* Zeroed it is none. */
struct cli_branch_folder {
    struct buf path;  /* absolute, without links */
    const char *root; /* what the snapshot is of; borrowed */
    bool is_ours;     /* we have made it; else it was there, empty */
    bool is_worktree; /* git knows it as one of root's */
    int lock_fd;
};

/* into NULL: beside root, as <root>.branch-<n> with the first number that is free. */
int cli_branch_folder_make(struct cli_branch_folder *ret, const char *into,
                           const char *root, struct err *err);
/* The lock goes; the folder stays. */
void cli_branch_folder_release(struct cli_branch_folder *f);
/* Makes it a git worktree of root without any files, at the commit that was HEAD then. */
int cli_branch_folder_join(struct cli_branch_folder *f, uint64_t ts_ns, struct err *err);
/* All files of the snapshot, or an error. Says what it did, unless is_quiet. */
int cli_branch_folder_fill(struct cli_branch_folder *f, const struct cli_command *self,
                           const struct snap_found *from, bool is_quiet, struct err *err);
/* After a failure: it is as before. Where that fails, too, it is told. */
void cli_branch_folder_undo(struct cli_branch_folder *f, const struct cli_command *self);

#endif
