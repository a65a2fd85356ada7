/* SPDX-License-Identifier: MIT */
/* unstow_place.c -- a run's files back to their place, which is somebody's project. */
#include "library/unstow_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/below.h"
#include "base/file.h"
#include "base/tree.h"
#include "library/stub_priv.h"

enum { NAMED_MAX = 3 }; /* files in a message */

struct place {
    const struct unstow *u;
    const char *dir; /* borrowed */
    int fd, stage_fd;
    struct buf named; /* what is in the way */
    size_t count;     /* of it */
};

static void
place_release(struct place *p)
{
    if (p->stage_fd >= 0)
        close(p->stage_fd);
    buf_release(&p->named);
}

/* -- what is there already -- */

static int
is_same(int a, int b)
{
    uint8_t x[8192], y[sizeof(x)];
    for (;;) {
        ssize_t n = file_read(a, x, sizeof(x)), got = 0, m = 1;
        if (n < 0)
            return (int)n;
        while (got < n && (m = file_read(b, y + got, (size_t)(n - got))) > 0)
            got += m;
        if (m < 0)
            return (int)m;
        if (got < n || memcmp(x, y, (size_t)n) != 0)
            return 0;
        if (!n)
            return file_read(b, y, 1) == 0;
    }
}

/* 1: nothing is in its way, or what is there is the same. */
static int
is_free_for(const struct place *p, const char *path)
{
    int there = below_open_file(p->fd, path);
    if (there == -ENOENT)
        return 1;
    if (!strcmp(path, STUB_NAME) && stub_is(p->fd, p->u->id)) {
        close(there);
        return 1;
    }
    if (there < 0)
        return there == -EINVAL || there == -ELOOP || there == -ENOTDIR ? 0 : there;
    int staged = below_open_file(p->stage_fd, path);
    int r = staged < 0 ? staged : is_same(there, staged);
    close(there);
    if (staged >= 0)
        close(staged);
    return r;
}

static int
is_free_for_folder(const struct place *p, const char *path)
{
    int fd = below_open(p->fd, path, O_PATH | O_DIRECTORY);
    if (fd >= 0)
        close(fd);
    return fd >= 0 || fd == -ENOENT ? 1 : fd == -ENOTDIR || fd == -ELOOP ? 0 : fd;
}

static int
look_for_others(struct place *p, struct err *err)
{
    struct unstow_item item;
    const char *path;
    for (size_t at = 0; unstow_next(p->u, &at, &item, &path);) {
        int r = item.is_folder ? is_free_for_folder(p, path) : is_free_for(p, path);
        if (r < 0)
            return err_code(err, r, "cannot look at '%s/%s'", p->dir, path);
        if (!r && p->count++ < NAMED_MAX)
            buf_printf(&p->named, "%s'%s'", p->named.n ? ", " : "", path);
    }
    if (!p->count)
        return 0;
    if (p->count > NAMED_MAX)
        buf_printf(&p->named, " and %zu more", p->count - NAMED_MAX);
    return err_set(err, -EEXIST,
                   "in '%s' there is something else called %s: move it away first, or "
                   "say '--without-project'",
                   p->dir, buf_str(&p->named));
}

/* -- into its place -- */

static int
move_file(const struct place *p, const char *path)
{
    AUTO(buf) parent = { 0 };
    buf_append(&parent, path, file_dir_len(path));
    int from = below_open(p->stage_fd, buf_str(&parent), O_PATH | O_DIRECTORY);
    int to = from < 0 ? from : unstow_parent(p->fd, path);
    int r = to < 0 ? to : 0;
    const char *name = file_name(path);
    if (!r && renameat(from, name, to, name) < 0)
        r = -errno;
    if (!r && fsync(to) < 0 && errno != EINVAL)
        r = -errno;
    if (from >= 0)
        close(from);
    if (to >= 0)
        close(to);
    return r;
}

/* Everything in it has come. */
static int
set_folder(const struct place *p, const char *path, const struct unstow_item *item)
{
    AUTO(buf) inside = { 0 };
    buf_printf(&inside, "%s/x", path);
    int fd = unstow_parent(p->fd, buf_str(&inside));
    if (fd < 0)
        return fd;
    int r = unstow_set(fd, item->mode, item->mtime_s, item->mtime_ns);
    if (!r && fsync(fd) < 0 && errno != EINVAL)
        r = -errno;
    close(fd);
    return r;
}

static int
move_all(const struct place *p, struct err *err)
{
    struct unstow_item item;
    const char *path, *last = NULL;
    int r = 0;
    for (size_t at = 0; !r && unstow_next(p->u, &at, &item, &path);) {
        if (!strcmp(path, STUB_NAME))
            last = path;
        else
            r = item.is_folder ? set_folder(p, path, &item) : move_file(p, path);
        if (r < 0)
            return err_code(err, r, "cannot put '%s/%s' in place", p->dir, path);
    }
    r = last ? move_file(p, last) : 0;
    return r < 0 ? err_code(err, r, "cannot put '%s/%s' in place", p->dir, last) : 0;
}

int
unstow_place(const struct unstow *u, int fd, const char *dir, const char *stage,
             struct err *err)
{
    AUTO(place) p = { .u = u, .dir = dir, .fd = fd, .stage_fd = -1 };
    p.stage_fd = below_open(fd, stage, O_RDONLY | O_DIRECTORY);
    if (p.stage_fd < 0)
        return err_code(err, p.stage_fd, "cannot open '%s/%s'", dir, stage);
    int r = look_for_others(&p, err);
    if (!r)
        r = move_all(&p, err);
    if (r < 0)
        return r;
    stub_sweep(fd);
    r = tree_remove(fd, stage);
    return r < 0 ? err_code(err, r, "cannot remove '%s/%s'", dir, stage) : 0;
}
