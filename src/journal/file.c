/* SPDX-License-Identifier: MIT */
#include "journal/file_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

int
journal_file_open(int at_fd, const char *path, int flags)
{
    struct stat st;
    int fd = openat(at_fd, path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY,
                    0600);
    if (fd < 0)
        return -errno;
    int r = fstat(fd, &st) < 0 ? -errno : S_ISREG(st.st_mode) ? 0 : -EINVAL;
    if (!r && (flags & O_CREAT) && (st.st_mode & 07777) != 0600 && fchmod(fd, 0600) < 0)
        r = -errno;
    if (!r)
        return fd;
    close(fd);
    return r;
}

int
journal_file_read(int at_fd, const char *path, size_t most, struct buf *ret)
{
    size_t start = ret->n;
    int fd = journal_file_open(at_fd, path, O_RDONLY);
    ssize_t r = fd < 0 ? fd : 1;
    while (r > 0 && ret->n - start <= most) {
        r = buf_reserve(ret, 65536);
        if (!r)
            r = file_read(fd, ret->p + ret->n, 65536);
        if (r > 0)
            ret->n += (size_t)r;
    }
    if (fd >= 0)
        close(fd);
    return r < 0 ? (int)r : ret->n - start > most ? ERR_LIMIT : 0;
}

int
journal_file_folder(int at_fd, const char *path, bool *ret_is_made)
{
    bool is_made = ret_is_made && mkdirat(at_fd, path, 0700) == 0;
    if (ret_is_made && !is_made && errno != EEXIST)
        return -errno;
    int fd = openat(at_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        struct stat st;
        int e = errno;
        bool is_link = fstatat(at_fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
                       S_ISLNK(st.st_mode);
        return is_link ? -ELOOP : -e;
    }
    if (is_made && fchmod(fd, 0700) < 0) {
        int e = errno;
        close(fd);
        return -e;
    }
    if (ret_is_made)
        *ret_is_made = is_made;
    return fd;
}
