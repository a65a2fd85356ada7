/* SPDX-License-Identifier: MIT */
#include "tape/rescue_priv.h"

#include <errno.h>

enum { CHUNK = 65536, STEP_CHUNKS = 16 };

/* With its folder, should that have gone, too. */
static int
create(struct tape_io *io, const char *path)
{
    int fd = io->ops->open(io, path, TAPE_OPEN_CREATE);
    if (fd != -ENOENT)
        return fd;
    int r = io->ops->make_dirs(io, path);
    return r < 0 ? r : io->ops->open(io, path, TAPE_OPEN_CREATE);
}

int
rescue_begin(struct rescue *r, struct tape_io *io, const char *path, const char *name,
             bool is_taken)
{
    int fd = -EEXIST;
    snprintf(r->path, sizeof(r->path), "%s", path);
    if (!is_taken)
        fd = create(io, r->path);
    for (unsigned i = 1; fd == -EEXIST && i < TAPE_KEPT_MAX; i++) {
        tape_kept_path(r->path, name, i);
        fd = create(io, r->path);
    }
    if (fd < 0)
        return fd;
    r->fd = fd;
    r->off = 0;
    /* As for every recording: only a lock that somebody else has is an obstacle. */
    if (io->ops->lock(io, fd, r->path) != -EBUSY)
        return 0;
    rescue_abandon(r, io, true); /* it is theirs now */
    return -EBUSY;
}

int
rescue_step(struct rescue *r, struct tape_io *io, int from, uint64_t end)
{
    uint8_t chunk[CHUNK];
    for (int i = 0; i < STEP_CHUNKS && r->off < end; i++) {
        size_t want = end - r->off < CHUNK ? (size_t)(end - r->off) : (size_t)CHUNK;
        ssize_t n = tape_io_read_full(io, from, chunk, want, r->off);
        if (!n) /* it was cut before it was removed: the new one has a hole there */
            r->off = end;
        int e = n <= 0 ? (int)n : tape_io_write_all(io, r->fd, chunk, (size_t)n, r->off);
        if (e < 0)
            return e;
        r->off += (uint64_t)n;
    }
    return r->off >= end;
}

void
rescue_abandon(struct rescue *r, struct tape_io *io, bool is_kept)
{
    if (!is_kept)
        io->ops->unlink(io, r->path);
    io->ops->close(io, r->fd);
    r->fd = -1;
}
