/* SPDX-License-Identifier: MIT */
#include "snap/root.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "base/file.h"

enum {
    TWO_PATHS = 2 * PATH_MAX, /* of a folder, and of what is in it */
    GIT_FILE_MAX = 128 << 10, /* bytes of a `.git` that is a file, with room to read it */
};

static bool
has(const char *dir, const char *name, mode_t type)
{
    AUTO(buf) path = { .ceiling = TWO_PATHS };
    struct stat st;
    buf_printf(&path, "%s/%s", dir, name);
    return !path.failed && stat(buf_str(&path), &st) == 0 &&
           (st.st_mode & S_IFMT) == type;
}

/* Does git keep its things there? Those of a worktree lie partly elsewhere. */
static bool
is_git_dir(const char *dir)
{
    return has(dir, "HEAD", S_IFREG) &&
           (has(dir, "commondir", S_IFREG) ||
            (has(dir, "objects", S_IFDIR) && has(dir, "refs", S_IFDIR)));
}

/* A file that says where: "gitdir: PATH", from the folder that it is in. */
static bool
leads_to_git_dir(const char *dir, const char *file)
{
    static const char head[] = "gitdir: ";
    AUTO(buf) text = { .ceiling = GIT_FILE_MAX };
    AUTO(buf) path = { .ceiling = TWO_PATHS };
    if (file_slurp(file, &text) < 0)
        return false;
    const char *line = buf_str(&text);
    if (strncmp(line, head, strlen(head)) != 0)
        return false;
    line += strlen(head);
    if (*line != '/')
        buf_printf(&path, "%s/", dir);
    buf_printf(&path, "%.*s", (int)strcspn(line, "\r\n"), line);
    return !path.failed && is_git_dir(buf_str(&path));
}

static bool
is_work_tree(const char *dir)
{
    AUTO(buf) path = { .ceiling = TWO_PATHS };
    buf_printf(&path, "%s/.git", dir);
    if (path.failed)
        return false;
    return has(dir, ".git", S_IFREG) ? leads_to_git_dir(dir, buf_str(&path))
                                     : is_git_dir(buf_str(&path));
}

/* A walk from the folder above would not enter a mount: dir must be in the snapshot. */
static bool
is_same_mount(const char *dir, const char *above)
{
    struct statx a, b;
    if (statx(AT_FDCWD, dir, 0, STATX_BASIC_STATS | STATX_MNT_ID, &a) < 0 ||
        statx(AT_FDCWD, above, 0, STATX_BASIC_STATS | STATX_MNT_ID, &b) < 0)
        return false;
    return a.stx_dev_major == b.stx_dev_major && a.stx_dev_minor == b.stx_dev_minor &&
           ((a.stx_mask & b.stx_mask & STATX_MNT_ID) == 0 ||
            a.stx_mnt_id == b.stx_mnt_id);
}

int
snap_root(struct buf *ret, const char *dir, struct err *err)
{
    char real[PATH_MAX], at[PATH_MAX], above[PATH_MAX];
    struct stat st;
    if (!realpath(dir, real) || stat(real, &st) < 0)
        return err_sys(err, "cannot find the folder '%s'", dir);
    if (!S_ISDIR(st.st_mode))
        return err_code(err, -ENOTDIR, "cannot take a snapshot of '%s'", dir);
    snprintf(at, sizeof(at), "%s", real);
    const char *root = real;
    for (;;) {
        if (is_work_tree(at)) {
            root = at;
            break;
        }
        snprintf(above, sizeof(above), "%.*s", (int)file_dir_len(at), at);
        if (strcmp(above, at) == 0 || !is_same_mount(at, above))
            break;
        memcpy(at, above, sizeof(at));
    }
    if (buf_puts(ret, root) < 0)
        return err_code(err, ret->failed, "cannot find the root of '%s'", dir);
    return 0;
}
