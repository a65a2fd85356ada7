/* SPDX-License-Identifier: MIT */
#include "cli/branch_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/tree.h"
#include "cli/branch_git.h"
#include "cli/fs_skipped.h"
#include "cli/path.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/when.h"
#include "snap/restore.h"

enum { BESIDE_MAX = 100000 };

void
cli_branch_folder_release(struct cli_branch_folder *f)
{
    buf_release(&f->path);
    if (f->lock_fd > 0)
        close(f->lock_fd);
    f->lock_fd = -1;
}

/* -- which folder -- */

static bool
is_empty(int fd)
{
    int own_fd = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = own_fd < 0 ? NULL : fdopendir(own_fd);
    size_t n = 0;
    if (!d && own_fd >= 0)
        close(own_fd);
    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return d && n <= 2; /* itself, and the one above */
}

/* 0: it is ours to fill. -EEXIST: something is in it, or somebody else fills it. */
static int
claim(struct cli_branch_folder *f, const char *path)
{
    f->is_ours = mkdir(path, 0777) == 0; /* as the user's other folders */
    if (!f->is_ours && errno != EEXIST)
        return -errno;
    int fd = file_locked(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (fd < 0 && fd != ERR_BUSY && f->is_ours)
        (void)rmdir(path);
    if (fd < 0)
        return fd == ERR_BUSY || fd == -ENOTDIR ? -EEXIST : fd;
    if (!is_empty(fd)) {
        close(fd);
        return -EEXIST;
    }
    f->lock_fd = fd;
    return 0;
}

static int
claim_beside(struct cli_branch_folder *f, const char *root, struct buf *ret_path)
{
    int r = -EEXIST;
    for (unsigned n = 1; r == -EEXIST && n <= BESIDE_MAX; n++) {
        struct stat st;
        buf_clear(ret_path);
        if (buf_printf(ret_path, "%s.branch-%u", root, n) < 0)
            return -ENAMETOOLONG;
        /* An empty one may be somebody's all the same. */
        r = lstat(buf_str(ret_path), &st) == 0 ? -EEXIST : claim(f, buf_str(ret_path));
    }
    return r;
}

static int
claim_named(struct cli_branch_folder *f, const char *into, struct buf *ret_path)
{
    AUTO(buf) above = { .ceiling = PATH_MAX };
    size_t n = strlen(into);
    while (n > 1 && into[n - 1] == '/')
        n--;
    buf_append(ret_path, into, n);
    buf_append(&above, into, file_dir_len(buf_str(ret_path)));
    if (ret_path->failed || above.failed)
        return -ENAMETOOLONG;
    int r = above.n ? file_make_dirs(buf_str(&above)) : 0;
    return r < 0 ? r : claim(f, buf_str(ret_path));
}

int
cli_branch_folder_make(struct cli_branch_folder *ret, const char *into, const char *root,
                       struct err *err)
{
    struct cli_branch_folder f = { .root = root, .lock_fd = -1 };
    AUTO(buf) path = { .ceiling = PATH_MAX };
    AUTO(buf) shown = { 0 };
    char real[PATH_MAX];
    int r = into ? claim_named(&f, into, &path) : claim_beside(&f, root, &path);
    cli_path_put(&shown, buf_str(&path));
    if (r == -EEXIST)
        return err_set(err, r,
                       "'%.300s' is there already, and not empty or in use; say --into "
                       "with the name of a new folder",
                       buf_str(&shown));
    if (r < 0)
        return err_code(err, r, "cannot make the folder '%.300s'%s", buf_str(&shown),
                        into ? "" : " (--into DIR names another)");
    if (!realpath(buf_str(&path), real) || buf_puts(&f.path, real) < 0) {
        r = err_sys(err, "cannot find '%.300s'", buf_str(&shown));
        cli_branch_folder_release(&f);
        return r;
    }
    *ret = f;
    return 0;
}

/* -- a git worktree -- */

/* Appends the commit that HEAD was then, as far as git remembers; else "HEAD". */
static void
find_head(const char *root, uint64_t ts_ns, struct buf *ret)
{
    enum { SECONDS = sizeof("2026-11-16T02:13:00") - 1 };
    char when[CLI_WHEN_ISO_SIZE], then[64];
    struct err ignored;
    snprintf(then, sizeof(then), "HEAD@{%.*sZ}", SECONDS, cli_when_iso(ts_ns, when));
    const char *const words[] = { "rev-parse", "--verify", "--quiet", then, NULL };
    if (cli_branch_git(root, words, ret, &ignored) < 0 || !ret->n) {
        buf_clear(ret);
        buf_puts(ret, "HEAD");
    }
}

int
cli_branch_folder_join(struct cli_branch_folder *f, uint64_t ts_ns, struct err *err)
{
    AUTO(buf) head = { 0 };
    AUTO(buf) git = { .ceiling = PATH_MAX };
    struct err why;
    struct stat st;
    if (buf_printf(&git, "%s/.git", f->root) < 0 || lstat(buf_str(&git), &st) < 0)
        return err_set(err, ERR_USAGE,
                       "'%.300s' is no git repository; leave --worktree out", f->root);
    find_head(f->root, ts_ns, &head);
    /* Without a checkout no hook and no filter of the user's runs. */
    const char *const add[] = { "worktree",      "add", "--detach",
                                "--no-checkout", "--",  buf_str(&f->path),
                                buf_str(&head),  NULL };
    const char *const fill[] = { "read-tree", "HEAD", NULL };
    int r = cli_branch_git(f->root, add, NULL, &why);
    f->is_worktree = !r;
    if (!r)
        r = cli_branch_git(buf_str(&f->path), fill, NULL, &why);
    return r < 0 ? err_set(err, r, "cannot make a git worktree of '%.200s': %.200s",
                           f->root, why.text)
                 : 0;
}

/* -- its files -- */

static void
say_filled(const struct cli_command *self, const struct snap_restored *done)
{
    AUTO(buf) text = { 0 };
    cli_count(&text, done->files, "file");
    buf_puts(&text, " (");
    cli_size(&text, done->bytes);
    cli_say(self, "%s) restored", buf_str(&text));
    if (!done->skips.count)
        return;
    buf_clear(&text);
    cli_count(&text, done->skips.count, NULL);
    cli_say(self, "%s left out when the snapshot was taken:", buf_str(&text));
    cli_fs_skipped_say(self, &done->skips);
}

int
cli_branch_folder_fill(struct cli_branch_folder *f, const struct cli_command *self,
                       const struct snap_found *from, bool is_quiet, struct err *err)
{
    struct cli_progress progress;
    struct snap_restored done;
    cli_progress_begin(&progress, self, buf_str(&f->path));
    struct snap_restore q = { .from = from,
                              .into = buf_str(&f->path),
                              .progress = cli_progress_step,
                              .ctx = &progress };
    int r = snap_restore(&q, &done, err);
    cli_progress_end(&progress);
    if (r < 0)
        return r;
    if (done.failed)
        r = err_set(err, -EIO, "%.400s", done.why.text);
    else if (!is_quiet)
        say_filled(self, &done);
    snap_restored_release(&done);
    return r;
}

/* -- away with it -- */

static int
remove_all_in(int dir_fd)
{
    int own_fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
    DIR *d = own_fd < 0 ? NULL : fdopendir(own_fd);
    if (!d)
        return -errno;
    for (struct dirent *e; (e = readdir(d));) {
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
            continue;
        int one = unlinkat(dir_fd, e->d_name, 0) == 0 ? 0
                  : errno == EISDIR                   ? tree_remove(dir_fd, e->d_name)
                                                      : -errno;
        r = r ? r : one;
    }
    closedir(d);
    return r;
}

void
cli_branch_folder_undo(struct cli_branch_folder *f, const struct cli_command *self)
{
    const char *path = buf_str(&f->path);
    const char *const words[] = { "worktree", "remove", "--force", "--force",
                                  "--",       path,     NULL };
    struct err ignored;
    /* Its files are ours, whatever git says to it. */
    if (f->is_worktree)
        (void)cli_branch_git(f->root, words, NULL, &ignored);
    if (f->is_worktree && !f->is_ours)
        (void)mkdir(path, 0777); /* git has removed it, too */
    int r = f->lock_fd >= 0 && file_is_at(f->lock_fd, path) ? remove_all_in(f->lock_fd)
                                                            : 0;
    if (!r && f->is_ours && rmdir(path) < 0 && errno != ENOENT)
        r = -errno;
    if (!r)
        return;
    AUTO(buf) shown = { 0 };
    cli_path_put(&shown, path);
    cli_say(self, "what is left in %s is incomplete; remove it", buf_str(&shown));
}
