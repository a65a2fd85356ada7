/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"

int
file_write_all(int fd, const void *p, size_t n)
{
    const uint8_t *at = p;
    while (n) {
        ssize_t r = write(fd, at, n);
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return -errno;
        at += r;
        n -= (size_t)r;
    }
    return 0;
}

ssize_t
file_read(int fd, void *p, size_t n)
{
    ssize_t r;
    do
        r = read(fd, p, n);
    while (r < 0 && errno == EINTR);
    return r < 0 ? -errno : r;
}

int
file_read_all(int fd, struct buf *b)
{
    ssize_t r;
    do {
        r = buf_reserve(b, 65536);
        if (r < 0)
            break;
        r = file_read(fd, b->p + b->n, b->cap - b->n);
        if (r > 0)
            b->n += (size_t)r;
    } while (r > 0);
    return (int)r;
}

int
file_slurp(const char *path, struct buf *b)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return -errno;
    int r = file_read_all(fd, b);
    close(fd);
    return r;
}

/* What a killed writer has left is no reason to fail. */
static int
create_anew(const char *path)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
    int fd = open(path, flags, 0600);
    if (fd < 0 && errno == EEXIST && unlink(path) == 0)
        fd = open(path, flags, 0600);
    return fd < 0 ? -errno : fd;
}

static int
fill(int fd, struct view bytes, bool is_synced)
{
    int r = fchmod(fd, 0600) < 0 ? -errno : 0;
    if (!r)
        r = file_write_all(fd, bytes.p, bytes.n);
    if (!r && is_synced && fsync(fd) < 0)
        r = -errno;
    return r;
}

int
file_replace(const char *path, struct view bytes, bool is_synced, struct err *err)
{
    AUTO(buf) made = { .ceiling = PATH_MAX };
    int r = buf_printf(&made, "%s.new", path);
    if (r < 0)
        return err_code(err, -ENAMETOOLONG, "cannot write '%s'", path);
    int fd = create_anew(buf_str(&made));
    if (fd < 0)
        return err_code(err, fd, "cannot write '%s'", path);
    r = fill(fd, bytes, is_synced);
    if (close(fd) < 0 && !r)
        r = -errno;
    if (!r && rename(buf_str(&made), path) < 0)
        r = -errno;
    if (r < 0)
        unlink(buf_str(&made));
    if (!r && is_synced)
        r = file_sync_dir(path);
    return r < 0 ? err_code(err, r, "cannot write '%s'", path) : 0;
}

static int
make_dir(const char *path)
{
    if (mkdir(path, 0700) < 0)
        return errno == EEXIST ? 0 : -errno;
    return chmod(path, 0700) < 0 ? -errno : 0;
}

int
file_make_dirs(const char *path)
{
    char above[PATH_MAX];
    int r = make_dir(path);
    if (r != -ENOENT || !*path)
        return r;
    size_t n = strlen(path); /* not too long, or that would have been the answer */
    memcpy(above, path, n + 1);
    for (char *slash = above; (slash = strchr(slash + 1, '/'));) {
        *slash = 0;
        int r_above = make_dir(above);
        /* What cannot be made for another reason than these may be there all the same. */
        r = r_above == -EACCES || r_above == -EROFS ? r_above : r;
        *slash = '/';
    }
    int r_last = make_dir(path);
    return r_last == -ENOENT ? r : r_last;
}

int
file_open_dir(const char *path)
{
    char dir[PATH_MAX];
    size_t n = file_dir_len(path);
    if (n >= sizeof(dir))
        return -ENAMETOOLONG;
    snprintf(dir, sizeof(dir), "%.*s", n ? (int)n : 1, n ? path : ".");
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

int
file_sync_dir(const char *path)
{
    int fd = file_open_dir(path);
    if (fd < 0)
        return fd;
    int r = fsync(fd) < 0 ? -errno : 0;
    close(fd);
    return r == -EINVAL ? 0 : r; /* some file systems have no such thing */
}

const char *
file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool
file_ends_in(const char *path, const char *end)
{
    const char *name = file_name(path);
    size_t n = strlen(name), m = strlen(end);
    return n > m && !strcmp(name + n - m, end);
}

uint64_t
file_mtime_ns(const struct stat *st)
{
    return st->st_mtim.tv_sec > 0
               ? (uint64_t)st->st_mtim.tv_sec * 1000000000 + (uint64_t)st->st_mtim.tv_nsec
               : 1;
}

size_t
file_dir_len(const char *path)
{
    size_t n = (size_t)(file_name(path) - path);
    return n > 1 ? n - 1 : n;
}

int
file_lock(int fd, bool is_shared, uint64_t deadline_ns)
{
    for (unsigned tries = 0; flock(fd, (is_shared ? LOCK_SH : LOCK_EX) | LOCK_NB) < 0;) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return -errno;
        if (!clock_back_off(tries++, deadline_ns))
            return ERR_BUSY;
    }
    return 0;
}

int
file_locked(int fd)
{
    if (fd < 0)
        return -errno;
    int r = file_lock(fd, false, 0);
    if (!r)
        return fd;
    close(fd);
    return r;
}

bool
file_is_at(int fd, const char *path)
{
    struct stat held, named;
    return fstat(fd, &held) == 0 && lstat(path, &named) == 0 &&
           held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

int
file_rename_new(const char *from, const char *to)
{
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -errno;
    return rename(from, to) < 0 ? -errno : 0;
}
