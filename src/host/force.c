/* SPDX-License-Identifier: MIT */
/*
 * force.c -- what an out-file replaces stands aside until the command runs, and comes
 * back when it does not.
 */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/host_priv.h"
#include "tape/remove.h"

static const char *
aside(struct buf *room, const char *path)
{
    buf_clear(room);
    buf_printf(room, "%s.replaced", path);
    return buf_str(room);
}

/* 1 when there is one that may go, 0 when there is none. */
static int
look_at_old(const char *path, struct err *err)
{
    struct tape_io *io = tape_io_files();
    struct stat st;
    if (lstat(path, &st) < 0)
        return errno == ENOENT ? 0 : err_sys(err, "cannot replace '%s'", path);
    if (!S_ISREG(st.st_mode))
        return err_set(err, -EEXIST, "cannot replace '%s': it is no regular file", path);
    int fd = io->ops->open(io, path, TAPE_OPEN_READ);
    int r = fd < 0 ? fd : io->ops->lock(io, fd, path);
    if (fd >= 0)
        io->ops->close(io, fd);
    if (r == -EBUSY)
        return err_set(err, ERR_BUSY, "'%s' is being recorded right now", path);
    return fd < 0 ? err_code(err, fd, "cannot replace '%s'", path) : 1;
}

int
host_force_begin(struct host *h, struct err *err)
{
    AUTO(buf) room = { 0 };
    const char *tape = h->folder.tape_path, *meta = h->folder.meta_path;
    if (!h->folder.is_outside || !h->opt->is_forced)
        return 0;
    int r = look_at_old(tape, err);
    if (r > 0 && rename(tape, aside(&room, tape)) < 0)
        return err_sys(err, "cannot replace '%s'", tape);
    if (r >= 0 && rename(meta, aside(&room, meta)) < 0 && errno != ENOENT)
        r = err_sys(err, "cannot replace '%s'", meta);
    if (r >= 0) /* pieces of a recording that was cut off */
        r = tape_remove(tape_io_files(), tape, err);
    if (r < 0)
        host_force_undo(h);
    return r;
}

void
host_force_undo(struct host *h)
{
    AUTO(buf) room = { 0 };
    if (!h->folder.is_outside || !h->opt->is_forced)
        return;
    (void)!rename(aside(&room, h->folder.tape_path), h->folder.tape_path);
    (void)!rename(aside(&room, h->folder.meta_path), h->folder.meta_path);
}

void
host_force_done(struct host *h)
{
    AUTO(buf) room = { 0 };
    if (!h->folder.is_outside || !h->opt->is_forced)
        return;
    unlink(aside(&room, h->folder.tape_path));
    unlink(aside(&room, h->folder.meta_path));
}
