/* SPDX-License-Identifier: MIT */
/* file.h -- whole reads and writes, whole files, and the folders they lie in. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>

#include "base/buf.h"

struct stat;

/* All n bytes, through short writes and EINTR; 0 or -errno. */
int file_write_all(int fd, const void *p, size_t n);
/* One read through EINTR: a count, 0 at the end, -errno. */
ssize_t file_read(int fd, void *p, size_t n);
/* Everything up to the end, into b (its ceiling holds); and of the file at path. */
int file_read_all(int fd, struct buf *b);
int file_slurp(const char *path, struct buf *b);
/*
 * The bytes take the place of the file at path whole or not at all: by path.new (0600
 * whatever the umask), which is renamed; is_synced: on the disk when this returns. One
 * writer a path at a time: what is left of one that was killed is overwritten.
 */
int file_replace(const char *path, struct view bytes, bool is_synced, struct err *err);
/* The folder, and those that are missing above it: 0700 whatever the umask. Those that
 * exist are left alone. */
int file_make_dirs(const char *path);
/* The folder that holds path, for reading: a descriptor; or made durable. */
int file_open_dir(const char *path);
int file_sync_dir(const char *path);
/* The length of path's folder part without its last slash; 0: the current folder.
 * The name begins behind that slash. */
size_t file_dir_len(const char *path);
const char *file_name(const char *path);
/* Its name is longer than that end, and ends so. */
bool file_ends_in(const char *path, const char *end);
/* When it was changed last: ns since 1970, at least 1. */
uint64_t file_mtime_ns(const struct stat *st);

/*
 * The lock (flock) of an open file or folder, alone or with others who share it; one that
 * is held becomes the other kind. 0, ERR_BUSY when the deadline (clock_mono_ns()) has
 * passed, or -errno.
 */
int file_lock(int fd, bool is_shared, uint64_t deadline_ns);
/* For what open() has just returned: alone and at once. The descriptor, or ERR_BUSY or
 * -errno; then it is closed. */
int file_locked(int fd);
/* Takes the place of nothing, where the file system knows how; else of a file, or of an
 * empty folder, that came at this moment. -EEXIST or -ENOTEMPTY: there is something. */
int file_rename_new(const char *from, const char *to);
/* Does the path name the file that is open, and no link to it? Whoever had its lock
 * before us may have removed or moved it. */
bool file_is_at(int fd, const char *path);

#endif
