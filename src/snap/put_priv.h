/* SPDX-License-Identifier: MIT */
/*
 * put_priv.h -- a file or link put into a folder: there whole or not at all, whenever we
 * are killed. Where the file system can, nothing is left behind either.
 */
#ifndef SNAP_PUT_PRIV_H
#define SNAP_PUT_PRIV_H

#include <stdbool.h>
#include <sys/types.h>

struct snap_put {
    int dir_fd;    /* borrowed */
    int fd;        /* to write to */
    bool has_name; /* of its own, until it is at its place */
    char made[48]; /* … which is this */
};

int snap_put_begin(struct snap_put *p, int dir_fd);
/* At its place, with these permissions. Not `replaces`: -EEXIST when there is something.
 * Ends it, whatever comes of it. */
int snap_put_end(struct snap_put *p, const char *name, mode_t mode, bool replaces);
/* It shall not be. */
void snap_put_drop(struct snap_put *p);

int snap_put_link(int dir_fd, const char *name, const char *target, bool replaces);

#endif
