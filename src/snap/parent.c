/* SPDX-License-Identifier: MIT */
#include "snap/parent_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/below.h"
#include "base/file.h"

int
snap_parent_open(struct snap_parent *p, const char *path, const char **ret_name)
{
    size_t n = file_dir_len(path);
    *ret_name = file_name(path);
    if (p->path && strlen(p->path) == n && memcmp(p->path, path, n) == 0)
        return p->fd;
    snap_parent_forget(p);
    p->path = strndup(path, n);
    if (!p->path)
        return -ENOMEM;
    p->fd = below_open(p->root_fd, p->path, O_PATH | O_DIRECTORY);
    return p->fd;
}

void
snap_parent_forget(struct snap_parent *p)
{
    if (p->path && p->fd >= 0)
        close(p->fd);
    free(p->path);
    p->path = NULL;
}
