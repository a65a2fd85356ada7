/* SPDX-License-Identifier: MIT */
/* below.h -- opens what lies below a folder, and nothing else: no link is followed,
 * wherever in the path it is. */
#ifndef BASE_BELOW_H
#define BASE_BELOW_H

/* path: from the root, "" for itself. flags: as open(). Never waits for a fifo, and
 * leaves the time of last access alone where it may. A descriptor or -errno. */
int below_open(int root_fd, const char *path, int flags);
/* A file, for reading. -EINVAL: it is none. */
int below_open_file(int root_fd, const char *path);

#endif
