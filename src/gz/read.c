/* SPDX-License-Identifier: MIT */
#include "gz/read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "gz/stream_priv.h"

enum {
    CHUNK = 64 << 10,
    LOOKS = 2, /* who packs or unpacks it meanwhile is behind us after the first */
};

struct gz {
    int fd;
    struct gz_inflater *inflater; /* NULL: it lies there plain */
    struct view rest;             /* of chunk: not looked at yet */
    bool is_end;                  /* there is nothing behind that */
    int failed;
    uint8_t chunk[]; /* CHUNK, of a compressed one */
};

int
gz_open_fd(struct gz **ret, int fd, bool is_packed)
{
    struct stat st;
    int r = fstat(fd, &st) < 0 ? -errno : S_ISREG(st.st_mode) ? 0 : -EINVAL;
    struct gz *g = r ? NULL : calloc(1, sizeof(*g) + (is_packed ? CHUNK : 0));
    if (!r && !g)
        r = -ENOMEM;
    if (!r && is_packed)
        r = gz_inflater_new(&g->inflater);
    if (r) {
        close(fd);
        free(g);
        return r;
    }
    g->fd = fd;
    *ret = g;
    return 0;
}

void
gz_close(struct gz *g)
{
    if (!g)
        return;
    close(g->fd);
    gz_inflater_free(g->inflater);
    free(g);
}

static int
packed_path(const char *path, struct buf *ret)
{
    buf_puts(ret, path);
    return buf_puts(ret, GZ_SUFFIX);
}

static int
open_at(int at_fd, const char *path)
{
    int fd = openat(at_fd, path,
                    O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    return fd < 0 ? -errno : fd;
}

int
gz_open(struct gz **ret, int at_fd, const char *path)
{
    AUTO(buf) packed = { 0 };
    int fd = packed_path(path, &packed);
    if (fd < 0)
        return fd;
    for (int i = 0; i < 2 * LOOKS; i++) {
        bool is_packed = i % 2;
        fd = open_at(at_fd, is_packed ? buf_str(&packed) : path);
        if (fd >= 0)
            return gz_open_fd(ret, fd, is_packed);
        if (fd != -ENOENT && !(is_packed && fd == -ENAMETOOLONG))
            return fd;
    }
    return -ENOENT;
}

bool
gz_is_packed(const struct gz *g)
{
    return g->inflater != NULL;
}

int
gz_fd(const struct gz *g)
{
    return g->fd;
}

/* Something to look at, or the end. */
static int
refill(struct gz *g)
{
    ssize_t n = file_read(g->fd, g->chunk, CHUNK);
    if (n < 0)
        return (int)n;
    g->rest = (struct view){ g->chunk, (size_t)n };
    g->is_end = !n;
    return 0;
}

ssize_t
gz_read(struct gz *g, void *p, size_t n)
{
    if (!g->inflater)
        return file_read(g->fd, p, n);
    while (!g->failed && n) {
        ssize_t got = gz_inflate(g->inflater, &g->rest, p, n);
        if (got > 0)
            return got;
        if (got < 0)
            g->failed = (int)got;
        else if (!g->is_end)
            g->failed = refill(g);
        else
            return gz_inflater_is_done(g->inflater) ? 0 : (g->failed = ERR_DAMAGED);
    }
    return g->failed;
}

int
gz_slurp(int at_fd, const char *path, size_t most, struct buf *ret)
{
    struct gz *g = NULL;
    size_t start = ret->n;
    int r = gz_open(&g, at_fd, path);
    if (r)
        return r;
    ssize_t n = 1;
    while (n > 0 && ret->n - start <= most) {
        n = buf_reserve(ret, CHUNK);
        if (!n)
            n = gz_read(g, ret->p + ret->n, CHUNK);
        if (n > 0)
            ret->n += (size_t)n;
    }
    gz_close(g);
    return n < 0 ? (int)n : ret->n - start > most ? ERR_LIMIT : 0;
}

int
gz_stat(int at_fd, const char *path, struct stat *ret)
{
    AUTO(buf) packed = { 0 };
    int r = packed_path(path, &packed);
    for (int i = 0; !r && i < 2 * LOOKS; i++) {
        bool is_packed = i % 2;
        const char *name = is_packed ? buf_str(&packed) : path;
        if (fstatat(at_fd, name, ret, AT_SYMLINK_NOFOLLOW) == 0)
            return is_packed;
        if (errno != ENOENT && !(is_packed && errno == ENAMETOOLONG))
            return -errno;
    }
    return r < 0 ? r : -ENOENT;
}

size_t
gz_name_len(const char *name)
{
    size_t n = strlen(name), end = strlen(GZ_SUFFIX);
    return n > end && !strcmp(name + n - end, GZ_SUFFIX) ? n - end : 0;
}
