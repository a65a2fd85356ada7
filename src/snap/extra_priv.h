/* SPDX-License-Identifier: MIT */
/*
 * extra_priv.h -- what git's trees do not hold of a snapshot: permissions and empty
 * folders. The blob `extra` beside `files` in a snapshot's tree. Pure.
 *
 *     ahr-snapshot 1\n
 *     modes 644 755 755\n          of plain files, of executable ones, of folders
 *     m 600 PATH\0                 one whose permissions are others
 *     e 755 PATH\0                 a folder with nothing in it
 *
 * In the order of their paths, a folder's as if a '/' stood at its end; the root's is "",
 * and it is never called empty. What most have stands in the second
 * line, so that a usual tree has a short one.
 */
#ifndef SNAP_EXTRA_PRIV_H
#define SNAP_EXTRA_PRIV_H

#include <stdbool.h>

#include "base/buf.h"

struct snap_extra {
    unsigned file_mode, exec_mode, dir_mode;
};

struct snap_extra_item {
    bool is_empty_dir;
    unsigned mode;    /* 0777 at most */
    const char *path; /* borrowed, ended by NUL */
};

void snap_extra_begin(struct buf *out, const struct snap_extra *x);
void snap_extra_put(struct buf *out, const struct snap_extra_item *i);
/* Takes the head off *rest; ERR_DAMAGED, ERR_NEWER. */
int snap_extra_head(struct snap_extra *ret, struct view *rest);
/* 1: an item; 0: the end; ERR_DAMAGED. */
int snap_extra_next(struct view *rest, struct snap_extra_item *ret);

#endif
