/* SPDX-License-Identifier: MIT */
/* io_files.c -- the tape's calls on the real file system. */
#include "tape/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

static int
result(int r)
{
    return r < 0 ? -errno : r;
}

static int
files_open(struct tape_io *io, const char *path, enum tape_open how)
{
    (void)io;
    static const int flags[] = {
        [TAPE_OPEN_READ] = O_RDONLY,
        [TAPE_OPEN_WRITE] = O_RDWR,
        [TAPE_OPEN_CREATE] = O_RDWR | O_CREAT | O_EXCL,
        [TAPE_OPEN_NO_LINK] = O_RDONLY | O_NOFOLLOW,
    };
    /* O_NONBLOCK: a FIFO under a recording's name must not hang us. */
    int fd = open(path, flags[how] | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
    if (fd < 0)
        return -errno;
    struct stat st;
    int r = result(fstat(fd, &st));
    if (!r && S_ISDIR(st.st_mode))
        r = -EISDIR;
    else if (!r && !S_ISREG(st.st_mode))
        r = -EINVAL;
    if (!r && how == TAPE_OPEN_CREATE && (st.st_mode & 07777) != 0600)
        r = result(fchmod(fd, 0600));
    if (!r)
        return fd;
    close(fd);
    return r;
}

static void
files_close(struct tape_io *io, int fd)
{
    (void)io;
    close(fd);
}

static ssize_t
files_read(struct tape_io *io, int fd, void *p, size_t n, uint64_t off)
{
    (void)io;
    ssize_t r = pread(fd, p, n, (off_t)off);
    return r < 0 ? -errno : r;
}

static ssize_t
files_write(struct tape_io *io, int fd, const void *p, size_t n, uint64_t off)
{
    (void)io;
    ssize_t r = pwrite(fd, p, n, (off_t)off);
    return r < 0 ? -errno : r;
}

static int
files_sync(struct tape_io *io, int fd)
{
    (void)io;
    return result(fdatasync(fd));
}

static int
files_sync_dir(struct tape_io *io, const char *path)
{
    (void)io;
    return file_sync_dir(path);
}

static int
files_truncate(struct tape_io *io, int fd, uint64_t size)
{
    (void)io;
    return result(ftruncate(fd, (off_t)size));
}

static int
files_size(struct tape_io *io, int fd, uint64_t *ret)
{
    (void)io;
    struct stat st;
    if (fstat(fd, &st) < 0)
        return -errno;
    *ret = (uint64_t)st.st_size;
    return 0;
}

static int
files_rename(struct tape_io *io, const char *from, const char *to)
{
    (void)io;
    return result(rename(from, to));
}

static int
files_unlink(struct tape_io *io, const char *path)
{
    (void)io;
    return result(unlink(path));
}

static int
files_named(struct tape_io *io, int fd, const char *path)
{
    (void)io;
    struct stat held, named;
    if (fstat(fd, &held) < 0)
        return -errno;
    if (stat(path, &named) < 0)
        return errno == ENOTDIR ? -ENOENT : -errno;
    return held.st_dev == named.st_dev && held.st_ino == named.st_ino ? 0 : -EEXIST;
}

static int
files_make_dirs(struct tape_io *io, const char *path)
{
    (void)io;
    char dir[PATH_MAX];
    if (snprintf(dir, sizeof(dir), "%.*s", (int)file_dir_len(path), path) >=
        (int)sizeof(dir))
        return -ENAMETOOLONG;
    return *dir ? file_make_dirs(dir) : 0;
}

static int
files_lock(struct tape_io *io, int fd, const char *path)
{
    int r = result(flock(fd, LOCK_EX | LOCK_NB));
    if (r < 0)
        return r == -EWOULDBLOCK ? -EBUSY : r;
    r = files_named(io, fd, path);
    return r == -ENOENT || r == -EEXIST ? -EBUSY : r;
}

static int
files_list(struct tape_io *io, const char *path, struct buf *ret)
{
    (void)io;
    const char *base = file_name(path);
    size_t base_len = strlen(base);
    int fd = file_open_dir(path);
    if (fd < 0)
        return fd;
    DIR *d = fdopendir(fd);
    if (!d) {
        close(fd);
        return -ENOMEM;
    }
    int r = 0;
    for (struct dirent *e; !r && (errno = 0, e = readdir(d)) != NULL;)
        if (!strncmp(e->d_name, base, base_len) && e->d_name[base_len])
            r = buf_append(ret, e->d_name + base_len, strlen(e->d_name + base_len) + 1);
    if (!r)
        r = -errno;
    closedir(d);
    return r;
}

static uint64_t
in_ns(struct timespec t)
{
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int
files_identity(struct tape_io *io, int fd, struct tape_identity *ret)
{
    (void)io;
    struct stat st;
    if (fstat(fd, &st) < 0)
        return -errno;
    *ret = (struct tape_identity){
        .dev = st.st_dev,
        .ino = st.st_ino,
        .size = (uint64_t)st.st_size,
        .mtime_ns = in_ns(st.st_mtim),
        .ctime_ns = in_ns(st.st_ctim),
    };
    return 0;
}

struct tape_io *
tape_io_files(void)
{
    static const struct tape_io_ops ops = {
        .open = files_open,
        .close = files_close,
        .read = files_read,
        .write = files_write,
        .sync = files_sync,
        .sync_dir = files_sync_dir,
        .truncate = files_truncate,
        .size = files_size,
        .rename = files_rename,
        .unlink = files_unlink,
        .named = files_named,
        .make_dirs = files_make_dirs,
        .lock = files_lock,
        .list = files_list,
        .identity = files_identity,
    };
    static struct tape_io io = { &ops };
    return &io;
}
