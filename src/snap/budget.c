/* SPDX-License-Identifier: MIT */
#include "snap/budget_priv.h"

#include <errno.h>
#include <inttypes.h>

#include "snap/collect_priv.h"
#include "snap/list.h"
#include "snap/packs_priv.h"
#include "snap/refs_priv.h"

/* A snapshot; in the order of their time. */
struct one {
    char *repo_path; /* owned */
    char commit[SNAP_COMMIT_MAX + 1];
    char session[SNAP_SESSION_MAX + 1];
    uint64_t id;
    bool is_auto;
};

struct budget {
    struct buf all;   /* struct one each */
    struct buf repos; /* as snap_repos() */
    uint64_t autos;   /* of them */
};

static struct one *
ones(const struct budget *b)
{
    return (struct one *)(void *)b->all.p;
}

static size_t
ones_count(const struct budget *b)
{
    return b->all.n / sizeof(struct one);
}

static void
budget_release(struct budget *b)
{
    for (size_t i = 0; i < ones_count(b); i++)
        free(ones(b)[i].repo_path);
    buf_release(&b->all);
    buf_release(&b->repos);
}

static int
note(void *ctx, const struct snap_facts *f, const char *repo_path)
{
    struct budget *b = ctx;
    struct one one = { .id = f->id, .is_auto = f->is_auto };
    snprintf(one.commit, sizeof(one.commit), "%s", f->commit);
    snprintf(one.session, sizeof(one.session), "%s",
             *f->session ? f->session : SNAP_NO_SESSION);
    one.repo_path = strdup(repo_path);
    int r = one.repo_path ? buf_append(&b->all, &one, sizeof(one)) : -ENOMEM;
    if (r < 0)
        free(one.repo_path);
    b->autos += !r && f->is_auto;
    return r;
}

/* Is snapshot i of that repository, and one that stays when the `dropped` oldest
 * automatic ones go? *nth counts those. */
static bool
stays(const struct one *one, uint64_t dropped, uint64_t *nth)
{
    return !one->is_auto || (*nth)++ >= dropped;
}

/* What the objects take of those that stay in a repository. */
static int
ask_usage(const struct budget *b, const char *repo_path, uint64_t dropped, uint64_t *ret,
          struct err *err)
{
    AUTO(buf) commits = { 0 };
    uint64_t nth = 0;
    for (size_t i = 0; i < ones_count(b); i++) {
        const struct one *one = &ones(b)[i];
        if (stays(one, dropped, &nth) && strcmp(one->repo_path, repo_path) == 0)
            buf_printf(&commits, "%s\n", one->commit);
    }
    if (commits.failed)
        return err_code(err, commits.failed, "cannot tell what snapshots take");
    return snap_packs_needed(ret, repo_path, (struct view){ commits.p, commits.n }, err);
}

/* The same of all repositories. */
static int
ask_all(const struct budget *b, uint64_t dropped, uint64_t *ret, struct err *err)
{
    const char *path = (const char *)b->repos.p, *end = path + b->repos.n;
    *ret = 0;
    for (; path < end; path += strlen(path) + 1) {
        uint64_t bytes = 0;
        int r = ask_usage(b, path, dropped, &bytes, err);
        if (r < 0)
            return r;
        *ret += bytes;
    }
    return 0;
}

/* The smallest number of them that frees so much; all, if none does. */
static int
find_number(const struct budget *b, uint64_t excess_bytes, uint64_t *ret, struct err *err)
{
    uint64_t low = 1, high = b->autos, now, then;
    int r = ask_all(b, 0, &now, err);
    while (!r && low < high) {
        uint64_t middle = low + (high - low) / 2;
        r = ask_all(b, middle, &then, err);
        if (!r && then + excess_bytes <= now)
            high = middle;
        else
            low = middle + 1;
    }
    if (!r)
        *ret = low;
    return r;
}

/* How many have gone from that repository. */
static int
drop_in(const struct budget *b, const char *repo_path, uint64_t dropped, struct err *err)
{
    AUTO(snap_repo) repo = { .lock_fd = -1 };
    AUTO(buf) refs = { 0 };
    uint64_t nth = 0;
    int count = 0;
    for (size_t i = 0; i < ones_count(b); i++) {
        const struct one *one = &ones(b)[i];
        if (stays(one, dropped, &nth) || strcmp(one->repo_path, repo_path) != 0)
            continue;
        buf_printf(&refs, "%s " SNAP_REFS "%s/%" PRIu64 "\n", one->commit, one->session,
                   one->id);
        count++;
    }
    if (refs.failed)
        return err_code(err, refs.failed, "cannot remove snapshots");
    if (!count)
        return 0;
    int r = snap_repo_open_at(&repo, repo_path, SNAP_ALONE, 0, err);
    if (r < 0)
        return r == ERR_BUSY ? 0 : r;
    r = snap_refs_remove(repo_path, (struct view){ refs.p, refs.n }, err);
    snap_repo_release(&repo);
    if (!r)
        r = snap_collect(repo_path, true, err);
    return r < 0 && r != ERR_BUSY ? r : count;
}

int
snap_budget(const char *home, uint64_t budget_bytes, uint64_t now_bytes,
            uint64_t *ret_dropped, struct err *err)
{
    AUTO(budget) b = { .all.ceiling = (size_t)1 << 30 };
    uint64_t number = 0;
    int r = snap_list(home, NULL, note, &b, err);
    if (r < 0 && r != ERR_DAMAGED) /* those that can be read are enough */
        return r;
    if (!b.autos)
        return 0;
    r = snap_repos(home, &b.repos, err);
    if (!r)
        r = find_number(&b, now_bytes - budget_bytes, &number, err);
    const char *path = (const char *)b.repos.p, *end = path + b.repos.n;
    for (; r >= 0 && path < end; path += strlen(path) + 1) {
        r = drop_in(&b, path, number, err);
        *ret_dropped += r > 0 ? (uint64_t)r : 0;
    }
    return r < 0 ? r : 0;
}
