/* SPDX-License-Identifier: MIT */
/* io_memory.c -- a read-only disk with one file in memory. */
#include "tape/io.h"

#include <errno.h>

static struct view
bytes_of(struct tape_io *io)
{
    return ((struct tape_io_memory *)io)->bytes;
}

static int
memory_open(struct tape_io *io, const char *path, enum tape_open how)
{
    if (strcmp(path, ((struct tape_io_memory *)io)->path) != 0)
        return -ENOENT;
    return how == TAPE_OPEN_READ ? 0 : -EROFS;
}

static void
memory_close(struct tape_io *io, int fd)
{
    (void)io, (void)fd;
}

static ssize_t
memory_read(struct tape_io *io, int fd, void *p, size_t n, uint64_t off)
{
    (void)fd;
    struct view all = bytes_of(io);
    if (off >= all.n)
        return 0;
    if (n > all.n - off)
        n = all.n - (size_t)off;
    memcpy(p, all.p + off, n);
    return (ssize_t)n;
}

static int
memory_size(struct tape_io *io, int fd, uint64_t *ret)
{
    (void)fd;
    *ret = bytes_of(io).n;
    return 0;
}

static int
memory_list(struct tape_io *io, const char *path, struct buf *ret)
{
    (void)io, (void)path, (void)ret;
    return 0;
}

void
tape_io_memory_init(struct tape_io_memory *m, const char *path, struct view bytes)
{
    static const struct tape_io_ops ops = {
        /* readers use no other */
        .open = memory_open, .close = memory_close, .read = memory_read,
        .size = memory_size, .list = memory_list,
    };
    *m = (struct tape_io_memory){ .io = { &ops }, .path = path, .bytes = bytes };
}
