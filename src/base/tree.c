/* SPDX-License-Identifier: MIT */
#include "base/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH_MAX = 64 }; /* a descriptor each */

static int remove_folder(int at_fd, const char *name, dev_t dev, unsigned depth);

static bool
is_dots(const char *name)
{
    return !strcmp(name, ".") || !strcmp(name, "..");
}

/* What is no folder is unlinked; what is one says so. */
static int
remove_entry(int at_fd, const char *name, dev_t dev, unsigned depth)
{
    if (unlinkat(at_fd, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR && errno != EPERM) /* the latter is POSIX's word for it */
        return -errno;
    int r = remove_folder(at_fd, name, dev, depth + 1);
    return r == -ENOTDIR ? -EPERM : r;
}

/* d is closed. */
static int
empty(DIR *d, dev_t dev, unsigned depth)
{
    int r = 0;
    for (struct dirent *e; (e = readdir(d));) {
        int e_r = is_dots(e->d_name) ? 0 : remove_entry(dirfd(d), e->d_name, dev, depth);
        r = r < 0 ? r : e_r;
    }
    closedir(d);
    return r;
}

/* dev 0: of any file system. */
static int
remove_folder(int at_fd, const char *name, dev_t dev, unsigned depth)
{
    struct stat st;
    int fd = openat(at_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 0 : -errno;
    int r = depth > DEPTH_MAX         ? -ELOOP
            : fstat(fd, &st) < 0      ? -errno
            : dev && st.st_dev != dev ? -EXDEV
                                      : 0;
    DIR *d = r < 0 ? NULL : fdopendir(fd);
    if (!d) {
        r = r < 0 ? r : -errno;
        close(fd);
        return r;
    }
    r = empty(d, st.st_dev, depth);
    if (!r && unlinkat(at_fd, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
        r = -errno;
    return r;
}

int
tree_remove(int at_fd, const char *name)
{
    return remove_folder(at_fd, name, 0, 0);
}
