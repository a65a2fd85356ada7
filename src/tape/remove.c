/* SPDX-License-Identifier: MIT */
/*
 * remove.c -- takes a recording away.
 *
 * The lock on NAME is held all the time, so NAME goes last. The others go from the end of
 * the session to its beginning: whatever is left at any moment is a shorter recording,
 * without a hole in it. Tails alone would be taken for those of the next one called so.
 */
#include "tape/remove.h"

#include <errno.h>

#include "tape/block.h"
#include "tape/names.h"

/* In the order in which they go, from the last. */
enum kind { SEGMENT, TAIL, JOIN };

struct piece {
    enum kind kind;
    uint64_t number; /* of a segment or a tail; segment 0 is NAME */
};

static bool
is_piece(const char *suffix, struct piece *ret)
{
    unsigned segment;
    *ret = (struct piece){ .kind = TAIL };
    if (tape_tail_suffix(suffix, &ret->number))
        return true;
    if (!tape_segment_suffix(suffix, &segment)) {
        ret->kind = JOIN; /* of a repair that was killed */
        return !strcmp(suffix, TAPE_JOIN_SUFFIX);
    }
    *ret = (struct piece){ .kind = SEGMENT, .number = segment };
    return true;
}

static void
piece_path(char *dst, const char *path, const struct piece *p)
{
    switch (p->kind) {
    case SEGMENT:
        tape_segment_path(dst, path, (unsigned)p->number);
        break;
    case TAIL:
        tape_tail_path(dst, path, p->number);
        break;
    case JOIN:
        snprintf(dst, TAPE_PATH_MAX, "%s" TAPE_JOIN_SUFFIX, path);
        break;
    }
}

static int
by_age(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind > y->kind ? -1 : 1;
    return x->number > y->number ? -1 : x->number < y->number;
}

/* Appends a struct piece for each file beside NAME that belongs to it. */
static int
list_pieces(struct tape_io *io, const char *path, struct buf *ret, struct err *err)
{
    AUTO(buf) names = { 0 };
    struct piece p;
    int r = io->ops->list(io, path, &names);
    for (size_t at = 0; r >= 0 && at < names.n; at += strlen((char *)names.p + at) + 1)
        if (is_piece((char *)names.p + at, &p))
            r = buf_append(ret, &p, sizeof(p));
    if (r < 0)
        return err_code(err, r, "cannot look for pieces of '%s'", path);
    return 0;
}

static int
open_plain(struct tape_io *io, const char *path, struct err *err)
{
    int fd = io->ops->open(io, path, TAPE_OPEN_NO_LINK);
    if (fd >= 0 || fd == -ENOENT)
        return fd;
    if (fd == -ELOOP)
        return err_set(err, fd, "cannot remove '%s': it is a symbolic link", path);
    if (fd == -EINVAL)
        return err_set(err, fd, "cannot remove '%s': it is no regular file", path);
    return err_code(err, fd, "cannot remove '%s'", path);
}

/* A tail's name is its own; NAME.1 may be anything. */
static int
check_piece(struct tape_io *io, const char *path, const struct piece *p, struct err *err)
{
    static const uint8_t zeros[sizeof(tape_block_magic)];
    uint8_t head[sizeof(tape_block_magic)];
    char name[TAPE_PATH_MAX];
    piece_path(name, path, p);
    int fd = open_plain(io, name, err);
    if (fd < 0)
        return fd == -ENOENT ? 0 : fd;
    ssize_t n = p->kind == SEGMENT ? tape_io_read_full(io, fd, head, sizeof(head), 0) : 0;
    io->ops->close(io, fd);
    if (n < 0)
        return err_code(err, (int)n, "cannot read '%s'", name);
    if (n && memcmp(head, tape_block_magic, (size_t)n) != 0 &&
        memcmp(head, zeros, (size_t)n) != 0)
        return err_set(err, -EEXIST, "'%s' is no part of a recording; move it away first",
                       name);
    return 0;
}

static int
remove_locked(struct tape_io *io, const char *path, struct err *err)
{
    AUTO(buf) list = { 0 };
    static const struct piece itself = { .kind = SEGMENT };
    int r = list_pieces(io, path, &list, err);
    struct piece *p = (struct piece *)(void *)list.p;
    size_t count = list.n / sizeof(*p);
    for (size_t i = 0; !r && i < count; i++)
        r = check_piece(io, path, &p[i], err);
    if (r < 0)
        return r;
    if (count)
        qsort(p, count, sizeof(*p), by_age);
    for (size_t i = 0; i <= count; i++) {
        char name[TAPE_PATH_MAX];
        piece_path(name, path, i < count ? &p[i] : &itself);
        r = io->ops->unlink(io, name);
        if (r < 0 && r != -ENOENT)
            return err_code(err, r, "cannot remove '%s'", name);
    }
    /* The names must not come back beside the files of a new recording. */
    r = tape_io_sync_dir(io, path);
    return r < 0 ? err_code(err, r, "cannot remove '%s' for good", path) : 0;
}

/* NAME, open; made when there are only other pieces, so that it can be locked; or
 * ERR_MISSING. */
static int
take(struct tape_io *io, const char *path, bool *ret_is_made, struct err *err)
{
    int fd = open_plain(io, path, err);
    *ret_is_made = fd == -ENOENT;
    if (fd != -ENOENT)
        return fd;
    AUTO(buf) list = { 0 };
    int r = list_pieces(io, path, &list, err);
    if (r < 0 || !list.n)
        return r < 0 ? r : ERR_MISSING;
    fd = io->ops->open(io, path, TAPE_OPEN_CREATE);
    return fd < 0 ? err_code(err, fd, "cannot remove the pieces of '%s'", path) : fd;
}

int
tape_remove(struct tape_io *io, const char *path, struct err *err)
{
    bool is_made;
    if (strlen(path) > TAPE_PATH_MAX - TAPE_NAME_ROOM)
        return err_code(err, -ENAMETOOLONG, "cannot remove '%.64s…'", path);
    int fd = take(io, path, &is_made, err);
    if (fd < 0) /* a missing folder counts as an empty one */
        return fd == ERR_MISSING ? 0 : fd;
    int r = io->ops->lock(io, fd, path);
    if (r == -EBUSY)
        r = err_set(err, ERR_BUSY, "'%s' is being recorded right now", path);
    else if (r < 0)
        err_code(err, r, "cannot lock '%s'", path);
    else
        r = remove_locked(io, path, err);
    if (r < 0 && r != ERR_BUSY && is_made)
        io->ops->unlink(io, path);
    io->ops->close(io, fd);
    return r;
}
