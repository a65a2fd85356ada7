/* SPDX-License-Identifier: MIT */
/* forget.c -- snapshots lose their names; their bytes go when somebody tidies. */
#include "snap/tidy.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <unistd.h>

#include "snap/cache_priv.h"
#include "snap/refs_priv.h"
#include "snap/repo_priv.h"
#include "snap/sweep_priv.h"

/* Who removes snapshots may do so because the disk is full, and git needs a little room:
 * the cache is worth less than that. */
static int
remove_refs(const char *repo_path, struct view refs, struct err *err)
{
    int r = snap_refs_remove(repo_path, refs, err);
    if (r != -ENOSPC && r != -EDQUOT)
        return r;
    snap_cache_drop(repo_path);
    return snap_refs_remove(repo_path, refs, err);
}

/* Those below a place, in a repository that is held alone. How many there were. */
static int
forget_below(const char *repo_path, const char *below, struct err *err)
{
    AUTO(buf) refs = { 0 };
    struct snap_ref ref;
    int count = 0;
    (void)snap_sweep_locks(repo_path);
    int r = snap_refs(repo_path, below, &refs, err);
    if (r < 0)
        return r;
    for (struct view rest = { refs.p, refs.n }; snap_ref_next(&rest, &ref);)
        count++;
    r = remove_refs(repo_path, (struct view){ refs.p, refs.n }, err);
    return r < 0 ? r : count;
}

/* Somebody may be taking one of that session at this moment: so who is at the repository
 * is waited for, but only those that have some already are a reason to fail. */
static int
forget_session_in(const char *repo_path, const char *session, struct err *err)
{
    AUTO(snap_repo) repo = { .lock_fd = -1 };
    AUTO(buf) below = { 0 };
    int r = snap_repo_open_at(&repo, repo_path, SNAP_ALONE, SNAP_WAIT_MS, err);
    if (!snap_refs_has(repo_path, session))
        return 0;
    if (r < 0)
        return r == ERR_MISSING ? 0 : r;
    buf_printf(&below, SNAP_REFS "%s/", session);
    return forget_below(repo_path, buf_str(&below), err);
}

int
snap_forget_session(const char *home, const char *session, struct err *err)
{
    AUTO(buf) repos = { 0 };
    int r = snap_repos(home, &repos, err), sum = 0;
    if (r < 0)
        return r;
    struct err why;
    const char *path = (const char *)repos.p, *end = path + repos.n;
    for (; path < end; path += strlen(path) + 1) {
        int n = forget_session_in(path, session, &why);
        sum += n > 0 ? n : 0;
        if (n < 0 && !r)
            r = err_set(err, n, "%s", why.text);
    }
    return r < 0 ? r : sum;
}

int
snap_forget(const char *repo_path, const char *session, uint64_t id, struct err *err)
{
    AUTO(snap_repo) repo = { .lock_fd = -1 };
    AUTO(buf) name = { 0 };
    int r = snap_repo_open_at(&repo, repo_path, SNAP_ALONE, SNAP_WAIT_MS, err);
    if (r < 0)
        return r;
    buf_printf(&name, SNAP_REFS "%s/%" PRIu64,
               session && *session ? session : SNAP_NO_SESSION, id);
    r = forget_below(repo_path, buf_str(&name), err);
    if (!r)
        return err_set(err, ERR_MISSING, "there is no snapshot %" PRIu64 " any more", id);
    return r < 0 ? r : 0;
}
