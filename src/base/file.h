/* SPDX-License-Identifier: MIT */
/* file.h -- whole reads and writes on descriptors, and the folder a path lies in. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/buf.h"

/* All n bytes, through short writes and EINTR; 0 or -errno. */
int file_write_all(int fd, const void *p, size_t n);
/* One read through EINTR: a count, 0 at the end, -errno. */
ssize_t file_read(int fd, void *p, size_t n);
/* Everything up to the end of the file at path, into b (its ceiling holds). */
int file_slurp(const char *path, struct buf *b);
/* The length of path's folder part without its last slash; 0: the current folder.
 * The name begins behind that slash. */
size_t file_dir_len(const char *path);
const char *file_name(const char *path);

#endif
