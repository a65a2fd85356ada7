/* SPDX-License-Identifier: MIT */
#include "tape/torn_priv.h"

#include <errno.h>

#include "tape/names.h"

enum { CHUNK = 65536, NAMES_MAX = 100 };

static int
copy_span(struct tape_io *io, const struct torn_span *span, int to, uint64_t *to_off)
{
    uint8_t chunk[CHUNK];
    int from = io->ops->open(io, span->file, TAPE_OPEN_READ);
    if (from < 0)
        return from;
    ssize_t n = 0;
    for (uint64_t done = 0; n >= 0 && done < span->len; done += (uint64_t)n) {
        size_t want = span->len - done < CHUNK ? (size_t)(span->len - done)
                                               : (size_t)CHUNK;
        n = tape_io_read_full(io, from, chunk, want, span->off + done);
        if (!n)
            n = -EIO;
        int r = n < 0 ? 0 : tape_io_write_all(io, to, chunk, (size_t)n, *to_off);
        if (r < 0)
            n = r;
        else if (n > 0)
            *to_off += (uint64_t)n;
    }
    io->ops->close(io, from);
    return n < 0 ? (int)n : 0;
}

/* 1: the same bytes, 0: others. */
static int
is_same(struct tape_io *io, int a, int b)
{
    uint8_t pa[CHUNK], pb[CHUNK];
    for (uint64_t off = 0;; off += CHUNK) {
        ssize_t na = tape_io_read_full(io, a, pa, CHUNK, off);
        ssize_t nb = tape_io_read_full(io, b, pb, CHUNK, off);
        if (na < 0 || nb < 0)
            return na < 0 ? (int)na : (int)nb;
        if (na != nb || memcmp(pa, pb, (size_t)na) != 0)
            return 0;
        if (na < CHUNK)
            return 1;
    }
}

/* Gives the finished file the first free name, unless one of the taken ones has its
 * bytes. */
static int
settle_name(struct tape_io *io, const char *path, const char *temp, int fd)
{
    char name[TAPE_PATH_MAX];
    for (unsigned i = 0; i < NAMES_MAX; i++) {
        snprintf(name, sizeof(name), i ? "%s.torn.%u" : "%s.torn", path, i);
        int other = io->ops->open(io, name, TAPE_OPEN_READ);
        if (other == -ENOENT)
            return io->ops->rename(io, temp, name);
        if (other < 0)
            return other;
        int same = is_same(io, fd, other);
        io->ops->close(io, other);
        if (same)
            return same < 0 ? same : io->ops->unlink(io, temp);
    }
    return -EEXIST;
}

int
torn_keep(struct tape_io *io, const char *path, const struct torn_span *spans, size_t n)
{
    char temp[TAPE_PATH_MAX];
    snprintf(temp, sizeof(temp), "%s.torn.new", path);
    int r = io->ops->unlink(io, temp); /* left by one who was killed here */
    if (r < 0 && r != -ENOENT)
        return r;
    int fd = io->ops->open(io, temp, TAPE_OPEN_CREATE);
    if (fd < 0)
        return fd;
    uint64_t off = 0;
    r = 0;
    for (size_t i = 0; !r && i < n; i++)
        r = copy_span(io, &spans[i], fd, &off);
    if (!r)
        r = tape_io_sync(io, fd);
    r = r < 0 ? r : settle_name(io, path, temp, fd);
    if (!r)
        r = tape_io_sync_dir(io, path);
    else
        io->ops->unlink(io, temp);
    io->ops->close(io, fd);
    return r;
}
