/* SPDX-License-Identifier: MIT */
#include "tape/io.h"

#include <errno.h>

/* A call that is interrupted this often in a row will not succeed. */
enum { EINTR_MAX = 100 };

ssize_t
tape_io_read_full(struct tape_io *io, int fd, void *p, size_t n, uint64_t off)
{
    size_t done = 0;
    for (int interrupted = 0; done < n && interrupted < EINTR_MAX;) {
        ssize_t r = io->ops->read(io, fd, (uint8_t *)p + done, n - done, off + done);
        if (r == -EINTR) {
            interrupted++;
            continue;
        }
        if (r < 0)
            return r;
        if (!r)
            return (ssize_t)done;
        done += (size_t)r;
        interrupted = 0;
    }
    return done == n ? (ssize_t)done : -EINTR;
}

int
tape_io_write_all(struct tape_io *io, int fd, const void *p, size_t n, uint64_t off)
{
    int stuck = 0;
    for (size_t done = 0; done < n;) {
        ssize_t r = io->ops->write(io, fd, (const uint8_t *)p + done, n - done,
                                   off + done);
        if (r <= 0 && r != -EINTR)
            return r < 0 ? (int)r : -EIO;
        stuck = r < 0 ? stuck + 1 : 0;
        if (stuck == EINTR_MAX)
            return -EINTR;
        done += r < 0 ? 0 : (size_t)r;
    }
    return 0;
}

int
tape_io_sync(struct tape_io *io, int fd)
{
    int r = -EINTR;
    for (int i = 0; r == -EINTR && i < EINTR_MAX; i++)
        r = io->ops->sync(io, fd);
    return r;
}

int
tape_io_sync_dir(struct tape_io *io, const char *path)
{
    int r = -EINTR;
    for (int i = 0; r == -EINTR && i < EINTR_MAX; i++)
        r = io->ops->sync_dir(io, path);
    return r;
}
