/* SPDX-License-Identifier: MIT */
/*
 * entire_folder.c -- the folder of a session in .entire/, and whole files in it.
 *
 * A project may be a clone of somebody's repository: each folder on the way is opened by
 * itself, and none is a link.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "journal/entire.h"
#include "journal/entire_priv.h"
#include "journal/file_priv.h"

bool
journal_entire_is_wanted(const char *root)
{
    int root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fd = root_fd < 0 ? -1 : journal_file_folder(root_fd, ".entire", NULL);
    if (fd >= 0)
        close(fd);
    if (root_fd >= 0)
        close(root_fd);
    return fd >= 0;
}

int
entire_folder_open(const char *root, const char *session, bool is_made)
{
    const char *const names[] = { ".entire", "metadata", session };
    int fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    for (size_t i = 0; fd >= 0 && i < sizeof(names) / sizeof(names[0]); i++) {
        bool was_made;
        int next = journal_file_folder(fd, names[i], is_made ? &was_made : NULL);
        close(fd);
        fd = next;
    }
    return fd;
}

/* What a killed writer has left is no reason to fail. */
static int
create_anew(int dir_fd, const char *name)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL;
    int fd = journal_file_open(dir_fd, name, flags);
    if (fd == -EEXIST && unlinkat(dir_fd, name, 0) == 0)
        fd = journal_file_open(dir_fd, name, flags);
    return fd;
}

static int
fill(int fd, struct view bytes)
{
    int r = file_write_all(fd, bytes.p, bytes.n);
    if (!r && fsync(fd) < 0)
        r = -errno;
    if (close(fd) < 0 && !r)
        r = -errno;
    return r;
}

int
entire_folder_put(int dir_fd, const char *name, struct view bytes)
{
    AUTO(buf) path = { 0 };
    struct stat st;
    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        return 0;
    int r = buf_printf(&path, "%s.new", name);
    int fd = r < 0 ? r : create_anew(dir_fd, buf_str(&path));
    if (fd < 0)
        return fd;
    r = fill(fd, bytes);
    if (!r && renameat(dir_fd, buf_str(&path), dir_fd, name) < 0)
        r = -errno;
    if (r < 0)
        (void)unlinkat(dir_fd, buf_str(&path), 0);
    else if (fsync(dir_fd) < 0)
        r = -errno;
    return r;
}
