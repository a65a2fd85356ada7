/* SPDX-License-Identifier: MIT */
/*
 * io.h -- all that the tape asks of a file system.
 *
 * Writers, readers and repair reach files only through these calls, so that tests can put
 * a disk in memory that fails, fills up or loses power at any of them. Each returns 0 or
 * a count, else -errno. Handles are small numbers ≥ 0. Calls on different handles may
 * come from different threads, and so may write and sync on the same one.
 */
#ifndef TAPE_IO_H
#define TAPE_IO_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"

enum tape_open {
    TAPE_OPEN_READ,
    TAPE_OPEN_WRITE,   /* existing, read and write */
    TAPE_OPEN_CREATE,  /* must not exist; mode 0600 */
    TAPE_OPEN_NO_LINK, /* as READ; -ELOOP for a symbolic link */
};

struct tape_io;

/* Which file it is, and what changes when its bytes do. */
struct tape_identity {
    uint64_t dev, ino, size, mtime_ns, ctime_ns;
};

struct tape_io_ops {
    int (*open)(struct tape_io *io, const char *path, enum tape_open how);
    void (*close)(struct tape_io *io, int fd);
    ssize_t (*read)(struct tape_io *io, int fd, void *p, size_t n, uint64_t off);
    ssize_t (*write)(struct tape_io *io, int fd, const void *p, size_t n, uint64_t off);
    int (*sync)(struct tape_io *io, int fd); /* fdatasync */
    int (*sync_dir)(struct tape_io *io,
                    const char *path); /* the folder that holds path */
    int (*truncate)(struct tape_io *io, int fd, uint64_t size);
    int (*size)(struct tape_io *io, int fd, uint64_t *ret);
    int (*rename)(struct tape_io *io, const char *from, const char *to);
    int (*unlink)(struct tape_io *io, const char *path);
    /* 0: path names this file; -ENOENT: nothing; -EEXIST: another one. */
    int (*named)(struct tape_io *io, int fd, const char *path);
    /* Makes the folders above path that are missing, mode 0700. */
    int (*make_dirs)(struct tape_io *io, const char *path);
    /* The one writer of the file at path; -EBUSY when there is another, or when path has
     * come to name another file meanwhile. Ends with close. */
    int (*lock)(struct tape_io *io, int fd, const char *path);
    /* Appends each suffix s for which path + s exists in path's folder, NUL-terminated.
     */
    int (*list)(struct tape_io *io, const char *path, struct buf *ret_suffixes);
    /* NULL: nothing is known of files. */
    int (*identity)(struct tape_io *io, int fd, struct tape_identity *ret);
};

struct tape_io {
    const struct tape_io_ops *ops;
};

/* The real file system; shared by all, holds nothing. */
struct tape_io *tape_io_files(void);

/* A read-only disk with one file, called path; the bytes are borrowed. */
struct tape_io_memory {
    struct tape_io io;
    const char *path; /* borrowed */
    struct view bytes;
};
void tape_io_memory_init(struct tape_io_memory *m, const char *path, struct view bytes);

/* Through short counts and EINTR (a bounded number of times): all bytes, or the end of
 * the file, or the error. */
ssize_t tape_io_read_full(struct tape_io *io, int fd, void *p, size_t n, uint64_t off);
int tape_io_write_all(struct tape_io *io, int fd, const void *p, size_t n, uint64_t off);
/* fdatasync through EINTR, which says nothing about the data. */
int tape_io_sync(struct tape_io *io, int fd);
int tape_io_sync_dir(struct tape_io *io, const char *path);

#endif
