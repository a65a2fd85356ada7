/* SPDX-License-Identifier: MIT */
/*
 * lock.c -- who has the library open: path.lock, shared by all who do, held alone by who
 * puts another one in its place.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "store/store_priv.h"

static int
lock_path(const struct store *s, struct buf *ret)
{
    return buf_printf(ret, "%s.lock", s->path);
}

/* 0600 whatever the umask. A file that is there is left as it is. */
static int
open_lock(const char *path)
{
    const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    int fd = open(path, flags);
    if (fd < 0 && errno == ENOENT) {
        fd = open(path, flags | O_CREAT, 0600);
        if (fd >= 0)
            (void)fchmod(fd, 0600);
    }
    if (fd < 0 && (errno == EACCES || errno == EROFS))
        fd = open(path, (flags & ~O_RDWR) | O_RDONLY);
    return fd < 0 ? -errno : fd;
}

int
store_lock(struct store *s, bool is_shared, bool is_needed, struct err *err)
{
    AUTO(buf) path = { 0 };
    if (lock_path(s, &path) < 0)
        return err_code(err, -ENOMEM, "cannot open '%s'", s->path);
    if (s->lock_fd < 0)
        s->lock_fd = open_lock(buf_str(&path));
    int r = s->lock_fd < 0 ? s->lock_fd
                           : file_lock(s->lock_fd, is_shared, s->deadline_ns);
    if (r >= 0 || (!is_needed && r != ERR_BUSY))
        return 0;
    if (r == ERR_BUSY)
        return err_set(err, r, "'%s' is in use by another ahr; try again", s->path);
    return err_code(err, r, "cannot lock '%s'", buf_str(&path));
}

static bool
is_at(int fd, const char *path)
{
    struct stat held, named;
    return fstat(fd, &held) == 0 && lstat(path, &named) == 0 &&
           held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

/* The one before us may have removed what we have locked. */
int
store_lock_new(struct store *s, struct err *err)
{
    AUTO(buf) path = { 0 };
    int r = lock_path(s, &path);
    while (r >= 0) {
        int fd = r = open_lock(buf_str(&path));
        if (r >= 0)
            r = file_lock(fd, false, clock_mono_ns());
        if (r >= 0 && is_at(fd, buf_str(&path))) {
            s->new_lock_fd = fd;
            return 0;
        }
        if (fd >= 0)
            close(fd);
    }
    if (r == ERR_BUSY)
        return err_set(err, r, "'%s' is being made by another ahr; try again", s->path);
    return err_code(err, r, "cannot lock '%s'", buf_str(&path));
}

void
store_unlock_new(struct store *s)
{
    AUTO(buf) path = { 0 };
    if (s->new_lock_fd < 0)
        return;
    (void)store_remove_beside(s->path, NULL);
    unlink(s->path); /* not there any more when it was swapped in */
    if (lock_path(s, &path) >= 0)
        unlink(buf_str(&path));
    close(s->new_lock_fd);
    s->new_lock_fd = -1;
}
