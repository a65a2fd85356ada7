/* SPDX-License-Identifier: MIT */
#include "snap/sweep_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <fts.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "snap/repo_priv.h"

enum { REF_BYTES = 40 }; /* at least */

/* Paths from the repository; a star also stands for slashes. */
static const char *const leftovers[] = {
    "*.lock",                      /* git's, of refs and of the configuration */
    "*.new",                       /* ours and git's, before they are renamed */
    "fast_import_crash_*",         /* what it says when it dies */
    "objects/pack/tmp_*",          /* packs being written */
    "objects/pack/.tmp-*",         /* packs being joined */
    "objects/pack/*.keep",         /* held while a ref is set */
    "objects/[0-9a-f]*/tmp_obj_*", /* single objects being written */
    "objects/tmp_objdir-*",
};

static bool
fits(const char *path, const char *pattern)
{
    return fnmatch(pattern, path, 0) == 0;
}

/* A pack and its index come one after the other. */
static bool
lacks_its_other_half(const char *repo_path, const char *path)
{
    AUTO(buf) other = { .ceiling = PATH_MAX };
    const char *dot = strrchr(path, '.');
    if (!fits(path, "objects/pack/pack-*.*") || !dot)
        return false;
    buf_printf(&other, "%s/%.*s%s", repo_path, (int)(dot - path), path,
               strcmp(dot, ".pack") == 0 ? ".idx" : ".pack");
    return !other.failed && access(buf_str(&other), F_OK) < 0 && errno == ENOENT;
}

static bool
is_left(const char *repo_path, const char *path)
{
    if (strcmp(path, SNAP_LOCK_FILE) == 0)
        return false;
    for (size_t i = 0; i < sizeof(leftovers) / sizeof(leftovers[0]); i++)
        if (fits(path, leftovers[i]))
            return true;
    return lacks_its_other_half(repo_path, path);
}

/* One that a lost power has left may have its length, and nothing in it. */
static bool
is_broken_ref(const char *path)
{
    char id[REF_BYTES + 1] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return errno != ENOENT;
    ssize_t n = file_read(fd, id, REF_BYTES);
    close(fd);
    return n != REF_BYTES || strspn(id, "0123456789abcdef") != REF_BYTES;
}

static void
count(struct snap_inventory *all, const char *path, const FTSENT *e)
{
    if (fits(path, "objects/pack/*.pack"))
        all->packs++, all->pack_bytes += (uint64_t)e->fts_statp->st_size;
    else if (fits(path, "objects/[0-9a-f][0-9a-f]/*"))
        all->loose_objects++;
    else if (fits(path, "refs/*"))
        all->loose_refs++, all->broken_refs += is_broken_ref(e->fts_accpath);
    else if (strcmp(path, SNAP_COLLECT_FILE) == 0)
        all->wants_collecting = true;
    else if (strcmp(path, SNAP_WASTE_FILE) == 0)
        all->may_waste = true;
}

enum mode { LOOK, LOCKS, ALL };

static bool
is_to_go(const char *path, enum mode mode)
{
    return mode == ALL || (mode == LOCKS && fits(path, "*.lock"));
}

static void
take_in(struct snap_inventory *all, const char *repo_path, const FTSENT *e,
        enum mode mode)
{
    const char *path = e->fts_path + strlen(repo_path);
    path += *path == '/';
    bool is_dir = e->fts_info == FTS_D, is_leftover = !is_dir && is_left(repo_path, path);
    all->left += is_leftover;
    if (is_leftover && is_to_go(path, mode) && unlink(e->fts_accpath) == 0)
        return;
    all->bytes += (uint64_t)e->fts_statp->st_blocks * 512;
    if (!is_dir && !is_leftover)
        count(all, path, e);
}

/* What is gone meanwhile is no error; what cannot be read is. */
static int
walk(struct snap_inventory *ret, const char *repo_path, enum mode mode)
{
    struct snap_inventory all = { 0 };
    char *paths[] = { strdup(repo_path), NULL };
    FTS *fts = paths[0] ? fts_open(paths, FTS_PHYSICAL | FTS_XDEV | FTS_NOCHDIR, NULL)
                        : NULL;
    int r = fts ? 0 : -errno;
    for (FTSENT *e; fts && (e = fts_read(fts));) {
        if (e->fts_info == FTS_NS || e->fts_info == FTS_DNR || e->fts_info == FTS_ERR)
            r = r || e->fts_errno == ENOENT ? r : -e->fts_errno;
        else if (e->fts_info != FTS_DP)
            take_in(&all, repo_path, e, mode);
    }
    if (fts)
        fts_close(fts);
    free(paths[0]);
    if (!r)
        *ret = all;
    return r;
}

int
snap_inventory(struct snap_inventory *ret, const char *repo_path)
{
    return walk(ret, repo_path, LOOK);
}

int
snap_sweep(struct snap_inventory *ret, const char *repo_path)
{
    return walk(ret, repo_path, ALL);
}

int
snap_sweep_locks(const char *repo_path)
{
    struct snap_inventory ignored;
    return walk(&ignored, repo_path, LOCKS);
}
