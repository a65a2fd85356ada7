/* SPDX-License-Identifier: MIT */
/*
 * force.c -- what an out-file replaces stands aside until the command runs, and comes
 * back when it does not: the recording, and the files that belong to it.
 */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "host/host_priv.h"
#include "tape/remove.h"

static const char *const siblings[] = { "meta.json", SESSION_SNAPSHOTS,
                                        SESSION_INSTRUCTIONS, SESSION_WIRE,
                                        SESSION_TURNS };

enum { SIBLINGS = sizeof(siblings) / sizeof(siblings[0]) };

static const char *
sibling(const struct host *h, size_t i, struct buf *room)
{
    buf_clear(room);
    session_sibling_path(h->folder.tape_path, siblings[i], room);
    return buf_str(room);
}

static const char *
aside(struct buf *room, const char *path)
{
    buf_clear(room);
    buf_printf(room, "%s.replaced", path);
    return buf_str(room);
}

/* 1 when there is one that may go, 0 when there is none. Its lock is held until *ret_fd
 * is closed: who has just made it, and not locked it yet, finds that it is not theirs. */
static int
look_at_old(const char *path, int *ret_fd, struct err *err)
{
    struct tape_io *io = tape_io_files();
    struct stat st;
    if (lstat(path, &st) < 0)
        return errno == ENOENT ? 0 : err_sys(err, "cannot replace '%s'", path);
    if (!S_ISREG(st.st_mode))
        return err_set(err, -EEXIST, "cannot replace '%s': it is no regular file", path);
    int fd = io->ops->open(io, path, TAPE_OPEN_READ);
    int r = fd < 0 ? fd : io->ops->lock(io, fd, path);
    if (fd >= 0 && r == -EBUSY)
        io->ops->close(io, fd);
    if (r == -EBUSY)
        return err_set(err, ERR_BUSY, "'%s' is being recorded right now", path);
    *ret_fd = fd;
    return fd < 0 ? err_code(err, fd, "cannot replace '%s'", path) : 1;
}

/* Moves them to where they stand aside. */
static int
set_aside(struct host *h, bool has_tape, struct err *err)
{
    AUTO(buf) room = { 0 };
    AUTO(buf) path = { 0 };
    const char *tape = h->folder.tape_path;
    if (has_tape && rename(tape, aside(&room, tape)) < 0)
        return err_sys(err, "cannot replace '%s'", tape);
    for (size_t i = 0; i < SIBLINGS; i++) {
        const char *name = sibling(h, i, &path);
        if (rename(name, aside(&room, name)) < 0 && errno != ENOENT)
            return err_sys(err, "cannot replace '%s'", name);
    }
    /* pieces of a recording that was cut off */
    return tape_remove(tape_io_files(), tape, err);
}

int
host_force_check(struct host *h, struct err *err)
{
    AUTO(buf) path = { 0 };
    if (!h->folder.is_outside)
        return 0;
    for (size_t i = 0; i < SIBLINGS; i++)
        if (access(sibling(h, i, &path), F_OK) == 0)
            return err_set(err, -EEXIST,
                           "'%s' exists already; choose another name, or say --force",
                           buf_str(&path));
    return 0;
}

int
host_force_begin(struct host *h, struct err *err)
{
    if (!h->folder.is_outside || !h->opt->is_forced)
        return 0;
    int fd = -1, r = look_at_old(h->folder.tape_path, &fd, err);
    if (r < 0)
        return r;
    r = set_aside(h, r > 0, err);
    if (fd >= 0)
        tape_io_files()->ops->close(tape_io_files(), fd);
    if (r < 0)
        host_force_undo(h);
    return r;
}

/* What stands aside comes back, or goes. */
static void
settle(struct host *h, bool is_undone)
{
    AUTO(buf) room = { 0 };
    AUTO(buf) path = { 0 };
    if (!h->folder.is_outside || !h->opt->is_forced)
        return;
    for (size_t i = 0; i <= SIBLINGS; i++) {
        const char *name = i < SIBLINGS ? sibling(h, i, &path) : h->folder.tape_path;
        if (is_undone)
            (void)file_rename_new(aside(&room, name), name); /* it may be another's now */
        else
            unlink(aside(&room, name));
    }
}

void
host_force_undo(struct host *h)
{
    settle(h, true);
}

void
host_force_done(struct host *h)
{
    settle(h, false);
}
