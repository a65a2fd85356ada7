/* SPDX-License-Identifier: MIT */
/*
 * repo.c -- shadow repositories found, made and locked.
 *
 * One is made beside its place, by hand and not by `git init`, so that each file of it is
 * known and on the disk before it gets its name. It may be gone, or another, once its
 * lock is had: then it is looked for again.
 */
#include "snap/repo.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/tree.h"
#include "snap/git_priv.h"
#include "snap/repo_priv.h"

enum {
    TWINS_MAX = 16, /* roots whose paths have one hash */
    TRIES_MAX = 100,
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* -- where -- */

static uint64_t
hash(const char *text)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (; *text; text++)
        h = (h ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    return h;
}

static int
put_place(struct buf *path, const char *home, const char *root, unsigned twin)
{
    buf_clear(path);
    buf_printf(path, "%s/" SNAP_FOLDER "/%016" PRIx64, home, hash(root));
    if (twin)
        buf_printf(path, "-%u", twin);
    return buf_puts(path, ".git");
}

/* ret: of path + "/" + name. */
static int
put_file(struct buf *ret, const char *path, const char *name)
{
    buf_clear(ret);
    return buf_printf(ret, "%s/%s", path, name);
}

/* Appends the root that a repository is of. -ENOENT: it is none. */
static int
read_root(const char *path, struct buf *root)
{
    AUTO(buf) file = { .ceiling = PATH_MAX };
    int r = put_file(&file, path, SNAP_ROOT_FILE);
    if (!r)
        r = file_slurp(buf_str(&file), root);
    if (!r && (!root->n || root->p[0] != '/' || memchr(root->p, 0, root->n)))
        r = ERR_DAMAGED;
    return r;
}

static bool
is_of(const char *path, const char *root)
{
    AUTO(buf) found = { .ceiling = SNAP_ROOT_MAX };
    return read_root(path, &found) == 0 && strcmp(buf_str(&found), root) == 0;
}

/* 1: *path is the root's. 0: there is none, and *path is free for it (or empty). A
 * removed one may leave a gap before its twins. */
static int
find(struct buf *path, const char *home, const char *root)
{
    AUTO(buf) free_place = { .ceiling = PATH_MAX };
    struct stat st;
    for (unsigned twin = 0; twin < TWINS_MAX; twin++) {
        int r = put_place(path, home, root, twin);
        if (r < 0)
            return r;
        if (lstat(buf_str(path), &st) < 0 && errno != ENOENT)
            return -errno;
        if (is_of(buf_str(path), root))
            return 1;
        if (!free_place.n && lstat(buf_str(path), &st) < 0)
            buf_append(&free_place, path->p, path->n);
    }
    buf_clear(path);
    return buf_append(path, free_place.p, free_place.n);
}

/* -- made -- */

static const char *const folders[] = { "info", "objects/info", "objects/pack",
                                       "refs/heads" };

static void
put_config(struct buf *out)
{
    buf_puts(out, "[core]\n\trepositoryFormatVersion = 0\n\tfileMode = true\n"
                  "\tbare = true\n");
    for (size_t i = 0; snap_git_settings[i]; i++) {
        const char *s = snap_git_settings[i], *dot = strchr(s, '.'), *is = strchr(s, '=');
        buf_printf(out, "[%.*s]\n\t%.*s = %s\n", (int)(dot - s), s, (int)(is - dot - 1),
                   dot + 1, is + 1);
    }
}

static int
put_files(const char *path, const char *root, struct err *err)
{
    static const char attributes[] = "* -text -filter -ident -working-tree-encoding\n";
    AUTO(buf) config = { 0 };
    AUTO(buf) file = { .ceiling = PATH_MAX };
    put_config(&config);
    const struct {
        const char *name, *text;
    } files[] = { { "HEAD", "ref: refs/heads/none\n" },
                  { "config", buf_str(&config) },
                  { "info/attributes", attributes },
                  { SNAP_LOCK_FILE, "" },
                  { SNAP_ROOT_FILE, root } };
    int r = config.failed;
    for (size_t i = 0; !r && i < COUNT(folders); i++) {
        r = put_file(&file, path, folders[i]);
        if (!r)
            r = file_make_dirs(buf_str(&file));
        if (!r)
            r = file_sync_dir(buf_str(&file));
    }
    if (r < 0)
        return err_code(err, r, "cannot make '%s'", path);
    for (size_t i = 0; !r && i < COUNT(files); i++) {
        struct view text = { (const uint8_t *)files[i].text, strlen(files[i].text) };
        r = put_file(&file, path, files[i].name);
        if (!r)
            r = file_replace(buf_str(&file), text, true, err);
    }
    return r;
}

int
snap_repo_aside(struct buf *ret, const char *home, const char *kind, struct err *err)
{
    struct stat st;
    for (unsigned i = 0; i < TRIES_MAX; i++) {
        buf_clear(ret);
        buf_printf(ret, "%s/" SNAP_FOLDER "/.%s-%d-%u", home, kind, (int)getpid(), i);
        if (ret->failed)
            return err_code(err, ret->failed, "cannot work in '%s'", home);
        if (lstat(buf_str(ret), &st) < 0 && errno == ENOENT)
            return 0;
    }
    return err_code(err, -EEXIST, "cannot make '%s'", buf_str(ret));
}

int
snap_repo_mark(const char *path, const char *name)
{
    AUTO(buf) file = { .ceiling = PATH_MAX };
    int r = put_file(&file, path, name);
    if (r < 0)
        return r;
    int fd = open(buf_str(&file), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return -errno;
    close(fd);
    return 0;
}

int
snap_repo_remove(const char *path)
{
    int fd = file_open_dir(path);
    if (fd < 0)
        return fd;
    int r = tree_remove(fd, file_name(path));
    close(fd);
    return r;
}

/* That somebody else was first is as good: who asks looks again. */
static int
make(const char *home, const char *path, const char *root, struct err *err)
{
    AUTO(buf) made = { .ceiling = PATH_MAX };
    int r = snap_repo_aside(&made, home, "new", err);
    if (r < 0)
        return r;
    const char *aside = buf_str(&made);
    r = file_make_dirs(aside);
    r = r < 0 ? err_code(err, r, "cannot make '%s'", aside) : put_files(aside, root, err);
    if (!r) {
        r = file_rename_new(aside, path);
        if (r < 0 && r != -EEXIST && r != -ENOTEMPTY)
            err_code(err, r, "cannot make '%s'", path);
    }
    if (!r && (r = file_sync_dir(path)) < 0)
        return err_code(err, r, "cannot make '%s'", path);
    if (r < 0)
        (void)snap_repo_remove(aside);
    return r == -EEXIST || r == -ENOTEMPTY ? 0 : r;
}

/* -- opened -- */

/* 0; 1: it is not there any more. */
static int
lock(struct snap_repo *r, enum snap_hold hold, uint64_t deadline_ns, struct err *err)
{
    AUTO(buf) file = { .ceiling = PATH_MAX };
    int code = put_file(&file, r->path, SNAP_LOCK_FILE);
    if (code < 0)
        return err_code(err, code, "cannot open '%s'", r->path);
    r->lock_fd = open(buf_str(&file), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (r->lock_fd < 0 && errno == ENOENT)
        return 1;
    if (r->lock_fd < 0)
        return err_sys(err, "cannot open '%s'", buf_str(&file));
    code = file_lock(r->lock_fd, hold == SNAP_SHARED, deadline_ns);
    if (code == ERR_BUSY)
        return err_set(err, ERR_BUSY,
                       "somebody else is at the snapshots of '%s': try again later",
                       r->root);
    if (code < 0)
        return err_code(err, code, "cannot lock '%s'", buf_str(&file));
    if (!file_is_at(r->lock_fd, buf_str(&file)))
        return 1;
    /* Held until the last git has ended that works under it, should we be killed. */
    (void)fcntl(r->lock_fd, F_SETFD, 0);
    return 0;
}

static uint64_t
deadline_in(unsigned wait_ms)
{
    return wait_ms ? clock_mono_ns() + (uint64_t)wait_ms * 1000000 : 0;
}

/* As lock(). *ret is written on 0 only. */
static int
open_at(struct snap_repo *ret, const char *path, enum snap_hold hold,
        uint64_t deadline_ns, struct err *err)
{
    AUTO(buf) root = { .ceiling = SNAP_ROOT_MAX };
    int r = read_root(path, &root);
    if (r < 0)
        return r == -ENOENT && access(path, F_OK) < 0
                   ? 1
                   : err_set(err, ERR_DAMAGED, "'%s' is no repository of snapshots: %s",
                             path, "its '" SNAP_ROOT_FILE "' cannot be read");
    struct snap_repo repo = { .path = strdup(path),
                              .root = strdup(buf_str(&root)),
                              .lock_fd = -1 };
    r = repo.path && repo.root ? lock(&repo, hold, deadline_ns, err)
                               : err_code(err, -ENOMEM, "cannot open '%s'", path);
    if (r)
        snap_repo_release(&repo);
    else
        *ret = repo;
    return r;
}

int
snap_repo_open_at(struct snap_repo *ret, const char *path, enum snap_hold hold,
                  unsigned wait_ms, struct err *err)
{
    int r = open_at(ret, path, hold, deadline_in(wait_ms), err);
    return r > 0 ? err_set(err, ERR_MISSING, "there is no '%s'", path) : r;
}

int
snap_repo_open(struct snap_repo *ret, const char *home, const char *root, bool makes,
               enum snap_hold hold, unsigned wait_ms, struct err *err)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    uint64_t deadline_ns = deadline_in(wait_ms);
    for (unsigned tries = 0; tries < TRIES_MAX; tries++) {
        int r = find(&path, home, root);
        if (r < 0)
            return err_code(err, r, "cannot look for the snapshots of '%s'", root);
        if (r > 0) {
            r = open_at(ret, buf_str(&path), hold, deadline_ns, err);
            if (r <= 0)
                return r;
            continue;
        }
        if (!makes)
            return err_set(err, ERR_MISSING, "there are no snapshots of '%s'", root);
        if (!path.n)
            return err_set(err, ERR_LIMIT, "no place for the snapshots of '%s' in '%s'",
                           root, home);
        r = make(home, buf_str(&path), root, err);
        if (r < 0)
            return r;
    }
    return err_code(err, ERR_BUSY, "cannot open the snapshots of '%s'", root);
}

void
snap_repo_release(struct snap_repo *r)
{
    if (r->lock_fd >= 0)
        close(r->lock_fd);
    free(r->path);
    free(r->root);
    *r = (struct snap_repo){ .lock_fd = -1 };
}

/* -- all of them -- */

/* <16 hex digits>[-<number>].git */
static bool
is_name(const char *name)
{
    size_t n = strspn(name, "0123456789abcdef");
    if (n != 16)
        return false;
    name += n;
    if (*name == '-')
        name += 1 + strspn(name + 1, "0123456789");
    return strcmp(name, ".git") == 0;
}

static int
by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int
is_repository(const struct dirent *d)
{
    return is_name(d->d_name);
}

int
snap_repos(const char *home, struct buf *ret, struct err *err)
{
    AUTO(buf) folder = { .ceiling = PATH_MAX };
    struct dirent **names = NULL;
    buf_printf(&folder, "%s/" SNAP_FOLDER, home);
    int count = scandir(buf_str(&folder), &names, is_repository, by_name);
    if (count < 0 && (errno == ENOENT || errno == ENOTDIR))
        return 0;
    if (count < 0)
        return err_sys(err, "cannot read '%s'", buf_str(&folder));
    for (int i = 0; i < count; i++) {
        buf_printf(ret, "%s/%s", buf_str(&folder), names[i]->d_name);
        buf_append(ret, "", 1);
        free(names[i]);
    }
    free(names);
    return ret->failed ? err_code(err, ret->failed, "cannot read '%s'", buf_str(&folder))
                       : 0;
}
