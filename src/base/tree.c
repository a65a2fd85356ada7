/* SPDX-License-Identifier: MIT */
#include "base/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
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

/* -- names -- */

void
tree_names_release(struct tree_names *t)
{
    free(t->name);
    buf_release(&t->text);
    *t = (struct tree_names){ 0 };
}

static int
by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int
read_names(DIR *d, struct tree_names *t)
{
    int r = 0;
    for (struct dirent *e; !r && (errno = 0, e = readdir(d));) {
        if (is_dots(e->d_name))
            continue;
        r = buf_append(&t->text, e->d_name, strlen(e->d_name) + 1);
        t->count++;
    }
    return !r && errno ? -errno : r;
}

static int
sort_names(struct tree_names *t)
{
    char *at = (char *)t->text.p;
    t->name = calloc(t->count + 1, sizeof(*t->name));
    if (!t->name)
        return -ENOMEM;
    for (size_t i = 0; i < t->count; i++, at += strlen(at) + 1)
        t->name[i] = at;
    if (t->count)
        qsort(t->name, t->count, sizeof(*t->name), by_name);
    return 0;
}

int
tree_names(int dir_fd, struct tree_names *ret)
{
    struct tree_names t = { 0 };
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    int r = d ? read_names(d, &t) : -errno;
    if (d)
        closedir(d);
    else if (fd >= 0)
        close(fd);
    if (!r)
        r = sort_names(&t);
    if (r < 0)
        tree_names_release(&t);
    else
        *ret = t;
    return r;
}

/* -- removing -- */

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
