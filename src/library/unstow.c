/* SPDX-License-Identifier: MIT */
/* unstow.c -- what is in a vault, written beside its place. */
#include "library/unstow_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/below.h"
#include "base/file.h"
#include "vault/open.h"

void
unstow_release(struct unstow *u)
{
    if (u->fd > 0)
        close(u->fd);
    buf_release(&u->list);
    buf_release(&u->path);
}

static int
fail(struct unstow *u, int r)
{
    return err_code(u->err, r, "cannot make '%s/%s'", u->root_path[u->now.root],
                    buf_str(&u->path));
}

/* -- folders -- */

/* One that was made is on the disk. */
static int
open_or_make(int at_fd, const char *name)
{
    if (mkdirat(at_fd, name, 0700) == 0) {
        if (fsync(at_fd) < 0 && errno != EINVAL)
            return -errno;
    } else if (errno != EEXIST) {
        return -errno;
    }
    int fd = openat(at_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

int
unstow_parent(int root_fd, const char *path)
{
    int fd = openat(root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    for (const char *slash; fd >= 0 && (slash = strchr(path, '/')); path = slash + 1) {
        char name[NAME_MAX + 1];
        size_t n = (size_t)(slash - path);
        memcpy(name, path, n); /* vault_path_is() */
        name[n] = 0;
        int next = open_or_make(fd, name);
        close(fd);
        fd = next;
    }
    return fd;
}

int
unstow_set(int fd, uint32_t mode, int64_t mtime_s, uint32_t mtime_ns)
{
    const struct timespec times[] = { { .tv_nsec = UTIME_OMIT },
                                      { (time_t)mtime_s, mtime_ns } };
    return fchmod(fd, (mode_t)mode) < 0 || futimens(fd, times) < 0 ? -errno : 0;
}

static int
make_folder(struct unstow *u, const struct vault_entry *e)
{
    AUTO(buf) inside = { .ceiling = PATH_MAX };
    if (buf_printf(&inside, "%s/x", e->path) < 0)
        return -ENAMETOOLONG;
    int fd = unstow_parent(u->root_fd[e->root], buf_str(&inside));
    if (fd < 0)
        return fd;
    int r = fsync(fd) < 0 && errno != EINVAL ? -errno : 0;
    /* What is staged moves out again: its folders have their modes in their place. */
    if (!r && e->root != VAULT_PROJECT)
        r = unstow_set(fd, e->mode, e->mtime_s, e->mtime_ns);
    close(fd);
    return r;
}

/* -- entries -- */

/* A vault_pack_fns.begin. */
static int
on_begin(void *ctx, const char *id, const char *project)
{
    struct unstow *u = ctx;
    if (strcmp(id, u->id) != 0)
        return err_set(u->err, ERR_DAMAGED, "it is the vault of another session, '%s'",
                       id);
    return u->begin ? u->begin(u->ctx, project, u->err) : 0;
}

static int
note(struct unstow *u, const struct vault_entry *e)
{
    const struct unstow_item item = { .is_folder = e->is_folder,
                                      .mode = e->mode,
                                      .mtime_s = e->mtime_s,
                                      .mtime_ns = e->mtime_ns };
    int r = buf_append(&u->list, &item, sizeof(item));
    return r < 0 ? r : buf_append(&u->list, e->path, strlen(e->path) + 1);
}

static int
open_file(struct unstow *u, const struct vault_entry *e)
{
    int parent = unstow_parent(u->root_fd[e->root], e->path);
    if (parent < 0)
        return parent;
    int fd = openat(parent, file_name(e->path),
                    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    int r = fd < 0 ? -errno : 0;
    close(parent);
    if (!r)
        u->fd = fd;
    return r;
}

/* A vault_pack_fns.entry. */
static int
on_entry(void *ctx, const struct vault_entry *e)
{
    struct unstow *u = ctx;
    int r = 0;
    buf_clear(&u->path);
    buf_puts(&u->path, e->path);
    u->now = *e;
    u->files += !e->is_folder;
    u->bytes += e->bytes;
    if (u->entry)
        u->entry(u->ctx, e);
    if (u->root_fd[e->root] < 0)
        return 0;
    if (e->root == VAULT_PROJECT)
        r = note(u, e);
    if (!r)
        r = e->is_folder ? make_folder(u, e) : open_file(u, e);
    return r < 0 ? fail(u, r) : 0;
}

/* A vault_pack_fns.bytes. */
static int
on_bytes(void *ctx, struct view bytes)
{
    struct unstow *u = ctx;
    u->done_bytes += bytes.n;
    if (u->progress)
        u->progress->step(u->progress->ctx, u->done_bytes, u->total_bytes);
    int r = u->fd > 0 ? file_write_all(u->fd, bytes.p, bytes.n) : 0;
    return r < 0 ? fail(u, r) : 0;
}

/* A vault_pack_fns.done. */
static int
on_done(void *ctx)
{
    struct unstow *u = ctx;
    if (u->fd <= 0)
        return 0;
    int r = unstow_set(u->fd, u->now.mode, u->now.mtime_s, u->now.mtime_ns);
    if (!r && fsync(u->fd) < 0)
        r = -errno;
    close(u->fd);
    u->fd = 0;
    return r < 0 ? fail(u, r) : 0;
}

int
unstow_read(struct unstow *u, int fd, struct vault_keys *keys, struct err *err)
{
    static const struct vault_pack_fns fns = { on_begin, on_entry, on_bytes, on_done };
    struct stat st;
    u->err = err;
    u->total_bytes = fstat(fd, &st) == 0 ? (uint64_t)st.st_size : 0;
    return vault_open(fd, keys, &fns, u, err);
}

/* -- the project's files -- */

bool
unstow_next(const struct unstow *u, size_t *at, struct unstow_item *ret,
            const char **ret_path)
{
    if (*at >= u->list.n)
        return false;
    memcpy(ret, u->list.p + *at, sizeof(*ret));
    *ret_path = (const char *)u->list.p + *at + sizeof(*ret);
    *at += sizeof(*ret) + strlen(*ret_path) + 1;
    return true;
}
