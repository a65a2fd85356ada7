/* SPDX-License-Identifier: MIT */
/* parent_priv.h -- the folders in which the paths of a list lie, one after the other: no
 * link on the way is followed. */
#ifndef SNAP_PARENT_PRIV_H
#define SNAP_PARENT_PRIV_H

struct snap_parent {
    int root_fd; /* borrowed */
    int fd;      /* of the last one (O_PATH); -errno: it could not be reached */
    char *path;  /* … which is this; owned; NULL: none yet */
};

/* The folder that holds path: a descriptor that is good until the next call, or -errno;
 * -ELOOP or -ENOTDIR: something else is on the way. *ret_name: the last part of path. */
int snap_parent_open(struct snap_parent *p, const char *path, const char **ret_name);
/* The next one is looked for anew, in whatever folder. */
void snap_parent_forget(struct snap_parent *p);

#endif
