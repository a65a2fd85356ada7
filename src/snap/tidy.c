/* SPDX-License-Identifier: MIT */
#include "snap/tidy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/tree.h"
#include "snap/budget_priv.h"
#include "snap/collect_priv.h"
#include "snap/refs_priv.h"
#include "snap/repo_priv.h"
#include "snap/sweep_priv.h"

enum {
    ASIDE_AGE_S = 600, /* making or removing a repository takes no time to speak of */
};

/* -- folders beside the repositories -- */

static bool
is_leftover(int dir_fd, const char *name)
{
    struct stat st;
    return (fnmatch(".new-*-*", name, 0) == 0 || fnmatch(".old-*-*", name, 0) == 0) &&
           fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           st.st_mtime + ASIDE_AGE_S < time(NULL);
}

/* Those of killed ones, which are too old to be somebody's at work: is there any? */
static bool
sweep_asides(const char *home, bool removes)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    bool has_any = false;
    buf_printf(&path, "%s/" SNAP_FOLDER, home);
    DIR *dir = opendir(buf_str(&path));
    for (struct dirent *d; dir && (d = readdir(dir));) {
        if (!is_leftover(dirfd(dir), d->d_name))
            continue;
        has_any = true;
        if (removes)
            (void)tree_remove(dirfd(dir), d->d_name);
    }
    if (dir)
        closedir(dir);
    return has_any;
}

/* -- one repository, held alone -- */

/* Who waits for its lock sees that it is gone, and makes another. */
static int
remove_repo(const char *home, const char *repo_path, struct err *err)
{
    AUTO(buf) aside = { .ceiling = PATH_MAX };
    int r = snap_repo_aside(&aside, home, "old", err);
    if (r < 0)
        return r;
    r = file_rename_new(repo_path, buf_str(&aside));
    if (!r)
        r = snap_repo_remove(buf_str(&aside));
    return r < 0 ? err_code(err, r, "cannot remove '%s'", repo_path) : 0;
}

/* What a comparison has left that was killed. */
static int
drop_work(const char *repo_path, struct err *err)
{
    AUTO(buf) refs = { 0 };
    int r = snap_refs(repo_path, SNAP_WORK_REFS, &refs, err);
    return r < 0 ? r : snap_refs_remove(repo_path, (struct view){ refs.p, refs.n }, err);
}

/* 1: there is nothing in it any more. */
static int
clear_up(const char *home, const char *repo_path, struct err *err)
{
    AUTO(snap_repo) repo = { .lock_fd = -1 };
    AUTO(buf) refs = { 0 };
    struct snap_inventory has = { 0 };
    int r = snap_repo_open_at(&repo, repo_path, SNAP_ALONE, 0, err);
    if (r < 0)
        return r;
    r = snap_sweep(&has, repo_path); /* it may be in git's way */
    if (r < 0)
        return err_code(err, r, "cannot look into '%s'", repo_path);
    r = drop_work(repo_path, err);
    if (!r)
        r = snap_refs(repo_path, "refs/", &refs, err);
    if (r < 0 || refs.n)
        return r;
    /* A name that git does not list is damaged: that is not nothing. */
    r = snap_inventory(&has, repo_path);
    if (r < 0 || has.loose_refs)
        return r < 0 ? err_code(err, r, "cannot look into '%s'", repo_path) : 0;
    r = remove_repo(home, repo_path, err);
    return r < 0 ? r : 1;
}

static int
tidy_repo(const char *home, const char *repo_path, bool is_tight, struct err *err)
{
    int r = clear_up(home, repo_path, err);
    return r ? r : snap_collect(repo_path, is_tight, err);
}

/* -- all of them -- */

static uint64_t
sum_bytes(const char *home)
{
    AUTO(buf) repos = { 0 };
    struct err ignored;
    uint64_t sum = 0;
    (void)snap_repos(home, &repos, &ignored);
    const char *path = (const char *)repos.p, *end = path + repos.n;
    for (; path < end; path += strlen(path) + 1) {
        struct snap_inventory has;
        sum += snap_inventory(&has, path) == 0 ? has.bytes : 0;
    }
    return sum;
}

bool
snap_wants_tidy(const char *home, uint64_t budget_bytes)
{
    AUTO(buf) repos = { 0 };
    struct err ignored;
    uint64_t sum = 0;
    if (snap_repos(home, &repos, &ignored) < 0)
        return false;
    const char *path = (const char *)repos.p, *end = path + repos.n;
    for (; path < end; path += strlen(path) + 1) {
        struct snap_inventory has;
        if (snap_inventory(&has, path) < 0)
            continue;
        if (has.wants_collecting || has.may_waste || has.left ||
            has.packs >= SNAP_PACKS_MANY)
            return true;
        sum += has.bytes;
    }
    return sum > budget_bytes || sweep_asides(home, false);
}

/* One at a time: what one has half done would be a leftover to the other. Returns a
 * descriptor. */
static int
lock_all(const char *home, unsigned wait_ms, struct err *err)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    buf_printf(&path, "%s/" SNAP_FOLDER, home);
    int fd = open(buf_str(&path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return err_sys(err, "cannot open '%s'", buf_str(&path));
    uint64_t deadline_ns = clock_mono_ns() + UINT64_C(1000000) * wait_ms;
    int r = file_lock(fd, false, deadline_ns);
    if (!r)
        return fd;
    close(fd);
    return err_code(err, r, "cannot tidy the snapshots in '%s'", buf_str(&path));
}

static int
tidy_all(const char *home, uint64_t budget_bytes, struct snap_tidied *ret,
         struct err *err)
{
    AUTO(buf) repos = { 0 };
    struct snap_tidied t = { .bytes_before = sum_bytes(home) };
    struct err why = { 0 };
    int worst = 0, r = snap_repos(home, &repos, err);
    if (r < 0)
        return r;
    sweep_asides(home, true);
    bool is_tight = t.bytes_before > budget_bytes;
    const char *path = (const char *)repos.p, *end = path + repos.n;
    for (; path < end; path += strlen(path) + 1) {
        r = tidy_repo(home, path, is_tight, &why);
        t.busy += r == ERR_BUSY;
        if (r < 0 && r != ERR_BUSY && access(path, F_OK) == 0 && !worst)
            worst = err_set(err, r, "%s", why.text);
    }
    t.bytes_after = sum_bytes(home);
    if (t.bytes_after > budget_bytes) {
        r = snap_budget(home, budget_bytes, t.bytes_after, &t.dropped, &why);
        if (r < 0 && !worst)
            worst = err_set(err, r, "%s", why.text);
        t.bytes_after = sum_bytes(home);
    }
    *ret = t;
    return worst;
}

int
snap_tidy(const char *home, uint64_t budget_bytes, struct snap_tidied *ret,
          struct err *err)
{
    int fd = lock_all(home, SNAP_WAIT_MS, err);
    if (fd == ERR_MISSING) {
        *ret = (struct snap_tidied){ 0 };
        return 0; /* there was never a snapshot */
    }
    if (fd < 0)
        return fd;
    int r = tidy_all(home, budget_bytes, ret, err);
    close(fd);
    return r;
}

void
snap_tidy_after(const char *home, const char *repo_path)
{
    struct err ignored;
    int fd = lock_all(home, 0, &ignored);
    if (fd < 0)
        return;
    (void)clear_up(home, repo_path, &ignored);
    close(fd);
}
