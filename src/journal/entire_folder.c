/* SPDX-License-Identifier: MIT */
/*
 * entire_folder.c -- the folder of a session in .entire/, whole files in it, and away
 * with them.
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

/* session NULL: the folder of all of them. */
int
entire_folder_open(const char *root, const char *session, bool is_made)
{
    const char *const names[] = { ".entire", "metadata", session };
    int fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    for (size_t i = 0; fd >= 0 && i < sizeof(names) / sizeof(names[0]) && names[i]; i++) {
        bool was_made;
        int next = journal_file_folder(fd, names[i], is_made ? &was_made : NULL);
        close(fd);
        fd = next;
    }
    return fd;
}

int
journal_entire_find(const char *root, const char *session)
{
    return entire_folder_open(root, session, false);
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
fill(int fd, struct view bytes, mode_t mode)
{
    int r = file_write_all(fd, bytes.p, bytes.n);
    if (!r && fchmod(fd, mode) < 0)
        r = -errno;
    if (!r && fsync(fd) < 0)
        r = -errno;
    if (close(fd) < 0 && !r)
        r = -errno;
    return r;
}

int
journal_entire_replace(int dir_fd, const char *name, struct view bytes, mode_t mode)
{
    AUTO(buf) path = { 0 };
    int r = buf_printf(&path, "%s.new", name);
    int fd = r < 0 ? r : create_anew(dir_fd, buf_str(&path));
    if (fd < 0)
        return fd;
    r = fill(fd, bytes, mode);
    if (!r && renameat(dir_fd, buf_str(&path), dir_fd, name) < 0)
        r = -errno;
    if (r < 0)
        (void)unlinkat(dir_fd, buf_str(&path), 0);
    else if (fsync(dir_fd) < 0)
        r = -errno;
    return r;
}

int
entire_folder_put(int dir_fd, const char *name, struct view bytes)
{
    struct stat st;
    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        return 1;
    return journal_entire_replace(dir_fd, name, bytes, 0600);
}

/* -- removed -- */

const char *const journal_entire_files[] = { "full.jsonl", "prompt.txt", "context.md" };

/* With what a killed writer has left. A folder of that name is none of ours. */
static int
remove_files(int fd)
{
    AUTO(buf) left = { 0 };
    for (size_t i = 0; i < JOURNAL_ENTIRE_FILES; i++) {
        buf_clear(&left);
        int r = buf_printf(&left, "%s.new", journal_entire_files[i]);
        const char *const names[] = { journal_entire_files[i], buf_str(&left) };
        for (size_t n = 0; !r && n < sizeof(names) / sizeof(names[0]); n++)
            if (unlinkat(fd, names[n], 0) < 0 && errno != ENOENT && errno != EISDIR)
                r = -errno;
        if (r < 0)
            return r;
    }
    return 0;
}

static int
remove_from(int all_fd, const char *session)
{
    int fd = journal_file_folder(all_fd, session, NULL);
    int r = fd < 0 ? fd : remove_files(fd);
    if (!r && unlinkat(all_fd, session, AT_REMOVEDIR) < 0 && errno != ENOENT)
        r = errno == ENOTEMPTY || errno == EEXIST || errno == EBUSY ? 1 : -errno;
    if (r >= 0 && fsync(r ? fd : all_fd) < 0 && errno != EINVAL)
        r = -errno;
    if (fd >= 0)
        close(fd);
    return r;
}

int
journal_entire_remove(const char *root, const char *session, struct err *err)
{
    int fd = entire_folder_open(root, NULL, false);
    int r = fd < 0 ? fd : remove_from(fd, session);
    if (fd >= 0)
        close(fd);
    if (r == -ENOENT || r == -ELOOP || r == -ENOTDIR)
        return 0;
    return r < 0 ? err_code(err, r, "cannot remove '%.300s/.entire/metadata/%s'", root,
                            session)
                 : r;
}
