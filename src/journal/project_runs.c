/* SPDX-License-Identifier: MIT */
/* project_runs.c -- <project>/.ahr/sessions, found or made, and its .gitignore. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "journal/file_priv.h"
#include "journal/project.h"
#include "journal/project_priv.h"

#define OURS   ".ahr"
#define SEEDS  ".claude-man"
#define IGNORE ".gitignore"

static const uint64_t LOCK_WAITS_NS = 20 * UINT64_C(1000000000);

const char *
journal_runs_base(int root_fd)
{
    struct stat st;
    bool is_there = fstatat(root_fd, SEEDS, &st, AT_SYMLINK_NOFOLLOW) == 0;
    return is_there && (S_ISDIR(st.st_mode) || S_ISLNK(st.st_mode)) ? SEEDS : OURS;
}

static int
say(struct err *err, int code, const char *root, const char *base, const char *name)
{
    if (code == -ELOOP)
        return err_set(err, code,
                       "'%s/%s%s' is a link, and nothing is written through links: put a "
                       "folder in its place",
                       root, base, name);
    if (code == -ENOTDIR)
        return err_set(err, code,
                       "'%s/%s%s' is no folder, and one is needed there: move it away",
                       root, base, name);
    return err_code(err, code, "cannot use '%s/%s%s'", root, base, name);
}

/* Under the lock, so that what is there under this name is left from one that was
 * killed. */
static int
write_new(int fd, const char *name)
{
    (void)unlinkat(fd, name, 0);
    int file = journal_file_open(fd, name, O_WRONLY | O_CREAT | O_EXCL);
    if (file < 0)
        return file;
    int r = file_write_all(file, "*\n", 2);
    close(file);
    return r;
}

/* Whole or not at all, and never over another: one that is there is somebody's wish.
 * False: there is none. */
static bool
write_ignore(int fd)
{
    static const char made[] = IGNORE ".new";
    struct stat st;
    if (fstatat(fd, IGNORE, &st, AT_SYMLINK_NOFOLLOW) == 0)
        return true;
    bool is_written = write_new(fd, made) == 0;
    if (is_written && renameat2(fd, made, fd, IGNORE, RENAME_NOREPLACE) == 0)
        return true;
    if (is_written && (errno == EINVAL || errno == ENOSYS)) { /* vfat, NFS */
        int file = journal_file_open(fd, IGNORE, O_WRONLY | O_CREAT | O_EXCL);
        if (file >= 0) {
            (void)file_write_all(file, "*\n", 2);
            close(file);
        }
    }
    (void)unlinkat(fd, made, 0);
    return fstatat(fd, IGNORE, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool
is_ours(const char *base)
{
    return !strcmp(base, OURS);
}

static int
open_runs(struct journal_runs *s, int base_fd, const char *root, struct err *err)
{
    int r = s->fd = journal_file_folder(base_fd, "sessions", &s->is_first);
    if (r < 0)
        return say(err, r, root, s->base, "/sessions");
    r = file_lock(s->fd, false, clock_mono_ns() + LOCK_WAITS_NS);
    if (r == ERR_BUSY)
        return err_set(err, r, "somebody keeps '%s/%s/sessions' locked; try again", root,
                       s->base);
    if (r < 0)
        return say(err, r, root, s->base, "/sessions");
    s->has_ignore = write_ignore(is_ours(s->base) ? base_fd : s->fd);
    return 0;
}

int
journal_runs_open(struct journal_runs *ret, const char *root, struct err *err)
{
    struct journal_runs s = { .fd = -1 };
    bool is_made;
    int root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root_fd < 0)
        return err_sys(err, "cannot use the project's folder '%s'", root);
    s.base = journal_runs_base(root_fd);
    int base_fd = journal_file_folder(root_fd, s.base, &is_made);
    close(root_fd);
    if (base_fd < 0)
        return say(err, base_fd, root, s.base, "");
    int r = open_runs(&s, base_fd, root, err);
    close(base_fd);
    if (r < 0)
        journal_runs_release(&s);
    else
        *ret = s;
    return r;
}

/* Who holds the lock is at it, or will be soon: it is tried again. */
static bool
try_ignore(int base_fd, const char *base)
{
    int fd = journal_file_folder(base_fd, "sessions", NULL);
    if (fd < 0)
        return false;
    bool has_ignore = !file_lock(fd, false, clock_mono_ns()) &&
                      write_ignore(is_ours(base) ? base_fd : fd);
    close(fd);
    return has_ignore;
}

bool
journal_project_ignore(struct journal_project *p)
{
    if (p->has_ignore)
        return true;
    int root_fd = open(p->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root_fd < 0)
        return false;
    int base_fd = journal_file_folder(root_fd, p->base, NULL);
    close(root_fd);
    if (base_fd < 0)
        return false;
    p->has_ignore = try_ignore(base_fd, p->base);
    close(base_fd);
    return p->has_ignore;
}

void
journal_runs_release(struct journal_runs *s)
{
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
}
