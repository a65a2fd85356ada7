/* SPDX-License-Identifier: MIT */
#include "base/below.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int
open_at_once(int root_fd, const char *path, int flags)
{
    struct open_how how = {
        .flags = (unsigned)flags,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    long fd = syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
    return fd < 0 ? -errno : (int)fd;
}

/* For kernels, and boxes around programs, that do not know openat2(). */
static int
open_by_steps(int root_fd, const char *path, int flags)
{
    int fd = root_fd;
    for (;;) {
        const char *slash = strchr(path, '/');
        char name[NAME_MAX + 1];
        size_t n = slash ? (size_t)(slash - path) : strlen(path);
        int next = -ENAMETOOLONG;
        if (n < sizeof(name)) {
            memcpy(name, path, n);
            name[n] = 0;
            next = openat(fd, name,
                          slash ? O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC : flags);
            if (next < 0)
                next = -errno;
        }
        if (fd != root_fd)
            close(fd);
        if (next < 0 || !slash)
            return next;
        fd = next;
        path = slash + 1;
    }
}

static int
open_with(int root_fd, const char *path, int flags)
{
    int fd = open_at_once(root_fd, path, flags);
    if (fd == -ENOSYS || fd == -EPERM)
        fd = open_by_steps(root_fd, path, flags);
    return fd;
}

int
below_open(int root_fd, const char *path, int flags)
{
    flags |= O_CLOEXEC | O_NOFOLLOW;
    if (!*path)
        path = ".";
    if (flags & O_PATH) /* openat2() takes nothing else with it */
        return open_with(root_fd, path, flags);
    flags |= O_NONBLOCK | O_NOCTTY;
    int fd = open_with(root_fd, path, flags | O_NOATIME);
    /* Only the owner may leave the time of last access alone. */
    return fd == -EPERM ? open_with(root_fd, path, flags) : fd;
}

int
below_open_file(int root_fd, const char *path)
{
    struct stat st;
    int fd = below_open(root_fd, path, O_RDONLY);
    if (fd < 0)
        return fd;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        return fd;
    close(fd);
    return -EINVAL;
}
