/* SPDX-License-Identifier: MIT */
/* names.c -- the names in a folder, without any change to it. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/tree.h"
#include "doctor/doctor_priv.h"

int
doctor_names(const char *home, const char *kind, struct buf *ret)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    AUTO(tree_names) names = { 0 };
    if (buf_printf(&path, "%s/%s", home, kind) < 0)
        return -ENAMETOOLONG;
    int fd = open(buf_str(&path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
    int r = tree_names(fd, &names);
    close(fd);
    for (size_t i = 0; !r && i < names.count; i++)
        r = buf_append(ret, names.name[i], strlen(names.name[i]) + 1);
    return r;
}

void
doctor_unreadable(struct doctor_report *out, const char *home, const char *kind, int r)
{
    if (r < 0)
        doctor_find(out, DOCTOR_ATTENTION, "'%s/%s' cannot be read: %s", home, kind,
                    strerror(-r));
}
