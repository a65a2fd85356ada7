/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

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
file_slurp(const char *path, struct buf *b)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return -errno;
    ssize_t r;
    do {
        r = buf_reserve(b, 65536);
        if (r < 0)
            break;
        r = file_read(fd, b->p + b->n, b->cap - b->n);
        if (r > 0)
            b->n += (size_t)r;
    } while (r > 0);
    close(fd);
    return (int)r;
}

const char *
file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

size_t
file_dir_len(const char *path)
{
    size_t n = (size_t)(file_name(path) - path);
    return n > 1 ? n - 1 : n;
}
