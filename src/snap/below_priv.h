/* SPDX-License-Identifier: MIT */
/* below_priv.h -- opens what lies below a folder, and nothing else: no link is followed,
 * wherever in the path it is. */
#ifndef SNAP_BELOW_PRIV_H
#define SNAP_BELOW_PRIV_H

/* path: from the root, "" for itself. flags: as open(). Never waits for a fifo, and
 * leaves the time of last access alone where it may. A descriptor or -errno. */
int snap_below_open(int root_fd, const char *path, int flags);
/* A file, for reading. -EINVAL: it is none. */
int snap_open_below(int root_fd, const char *path);

#endif
