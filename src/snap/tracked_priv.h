/* SPDX-License-Identifier: MIT */
/*
 * tracked_priv.h -- the paths in the index of somebody's git repository: what is in there
 * is not ignored, whatever .gitignore says.
 *
 * The file is read as it is (versions 2, 3, 4), by us: no git looks at the user's
 * repository. One that is damaged, split or of another kind has no paths.
 */
#ifndef SNAP_TRACKED_PRIV_H
#define SNAP_TRACKED_PRIV_H

#include <stdbool.h>

#include "base/buf.h"

struct snap_tracked {
    struct buf paths;   /* NUL behind each; other things may be between them */
    struct buf offsets; /* uint32_t each, in git's order (bytes) */
};

enum { SNAP_INDEX_MAX = 256 << 20 };

/* Pure. ERR_DAMAGED: what came before the bad place is there. */
int snap_tracked_parse(struct snap_tracked *ret, struct view index);
/* dir_fd: a folder with a .git in it, which may be a file that names another folder.
 * Also appends the bytes of its info/exclude. What is not there, or cannot be read, is no
 * error: 0 or -ENOMEM. */
int snap_tracked_read(struct snap_tracked *ret, int dir_fd, struct buf *ret_exclude);
void snap_tracked_release(struct snap_tracked *t);
/* The path with that number, from 0 on; NULL behind the last one. Borrowed. */
const char *snap_tracked_at(const struct snap_tracked *t, size_t i);
/* Is that path in it, or something below it? From the work tree, without a
 * slash at its end. */
bool snap_tracked_has(const struct snap_tracked *t, const char *path);
bool snap_tracked_below(const struct snap_tracked *t, const char *path);

#endif
