/* SPDX-License-Identifier: MIT */
/*
 * list.c -- the snapshots of all shadow repositories.
 *
 * No lock is held: one that is removed at this moment may be listed or not. So what seems
 * to be damaged is looked at once more before it is believed.
 */
#include "snap/list.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "base/file.h"
#include "base/num.h"
#include "snap/git_priv.h"
#include "snap/refs_priv.h"
#include "snap/repo_priv.h"
#include "snap/sweep_priv.h"

struct item {
    struct snap_facts facts;
    const char *repo_path; /* borrowed */
};

struct items {
    struct buf list;  /* struct item each */
    struct buf repos; /* as snap_repos() */
    struct err why;   /* the first thing that could not be read */
};

static struct item *
items_at(const struct items *all, size_t i)
{
    return (struct item *)(void *)all->list.p + i;
}

static size_t
items_count(const struct items *all)
{
    return all->list.n / sizeof(struct item);
}

/* Forgets those from `from` on. */
static void
items_cut(struct items *all, size_t from)
{
    for (size_t i = from; i < items_count(all); i++)
        snap_facts_release(&items_at(all, i)->facts);
    all->list.n = from * sizeof(struct item);
}

static void
items_release(struct items *all)
{
    items_cut(all, 0);
    buf_release(&all->list);
    buf_release(&all->repos);
}

/* -- one repository -- */

/* What `cat-file --batch` says of the next object: "<name> commit <size>" and its bytes.
 * False: another thing, or nothing, which is taken off as well. */
static bool
take_commit(struct view *rest, struct view *ret)
{
    static const char kind[] = " commit ";
    const uint8_t *end = rest->n ? memchr(rest->p, '\n', rest->n) : NULL;
    if (!end)
        return false;
    struct view head = { rest->p, (size_t)(end - rest->p) };
    rest->n -= head.n + 1;
    rest->p = end + 1;
    const uint8_t *is = memmem(head.p, head.n, kind, strlen(kind));
    uint64_t size_bytes;
    if (!is)
        return false;
    is += strlen(kind);
    struct view number = { is, (size_t)(end - is) };
    if (num_parse(number, rest->n, &size_bytes) < 0 || size_bytes == rest->n)
        return false;
    *ret = (struct view){ rest->p, size_bytes };
    rest->p += size_bytes + 1;
    rest->n -= size_bytes + 1;
    return true;
}

static int
get_facts(struct snap_facts *ret, struct view commit, const struct snap_ref *ref,
          const char *root)
{
    const uint8_t *head_end = commit.n ? memmem(commit.p, commit.n, "\n\n", 2) : NULL;
    if (!head_end)
        return ERR_DAMAGED;
    head_end += 2;
    struct view message = { head_end, commit.n - (size_t)(head_end - commit.p) };
    int r = snap_facts_get(ret, message);
    if (r < 0)
        return r;
    /* Its name and its place are truer than what it says of itself. */
    bool has_session = strcmp(ref->session, SNAP_NO_SESSION) != 0;
    char *copy = strdup(root);
    snprintf(ret->session, sizeof(ret->session), "%s", has_session ? ref->session : "");
    snprintf(ret->commit, sizeof(ret->commit), "%s", ref->commit);
    ret->id = ref->id;
    if (!copy)
        return -ENOMEM;
    free(ret->root);
    ret->root = copy;
    return 0;
}

static int
ask_commits(const char *repo_path, struct view refs, struct buf *ret, struct err *err)
{
    const char *const args[] = { "cat-file", "--batch", NULL };
    AUTO(buf) names = { 0 };
    struct snap_ref ref;
    while (snap_ref_next(&refs, &ref))
        buf_printf(&names, "%s\n", ref.commit);
    if (!names.n || names.failed)
        return names.failed;
    return snap_git_run(repo_path, args, (struct view){ names.p, names.n }, ret,
                        "cannot read the snapshots", err);
}

static int
add(struct items *all, const char *repo_path, const char *root, struct view refs,
    struct view commits, struct err *err)
{
    struct snap_ref ref;
    int damaged = 0;
    while (snap_ref_next(&refs, &ref)) {
        struct view commit;
        struct item item = { .repo_path = repo_path };
        int r = take_commit(&commits, &commit)
                    ? get_facts(&item.facts, commit, &ref, root)
                    : ERR_DAMAGED;
        if (!r)
            r = buf_append(&all->list, &item, sizeof(item));
        if (r < 0)
            snap_facts_release(&item.facts);
        if (r < 0 && r != ERR_DAMAGED)
            return err_code(err, r, "cannot list the snapshots");
        if (r < 0 && !damaged++)
            err_set(err, ERR_DAMAGED, "the snapshot %.*s in '%s' cannot be read",
                    (int)ref.name.n, (const char *)ref.name.p, repo_path);
    }
    return damaged ? ERR_DAMAGED : 0;
}

static int
read_once(struct items *all, const char *repo_path, const char *root,
          const struct snap_filter *filter, struct err *err)
{
    AUTO(buf) below = { 0 };
    AUTO(buf) refs = { 0 };
    AUTO(buf) commits = { .ceiling = (size_t)1 << 30 };
    buf_printf(&below, SNAP_REFS "%s", filter->session ? filter->session : "");
    int r = snap_refs(repo_path, buf_str(&below), &refs, err);
    struct view names = { refs.p, refs.n };
    if (!r)
        r = ask_commits(repo_path, names, &commits, err);
    if (!r)
        r = add(all, repo_path, root, names, (struct view){ commits.p, commits.n }, err);
    return r;
}

/* Appends the root that it is of. */
static int
read_root(const char *repo_path, struct buf *ret, struct err *err)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    buf_printf(&path, "%s/" SNAP_ROOT_FILE, repo_path);
    int r = path.failed ? path.failed : file_slurp(buf_str(&path), ret);
    if (r == -ENOENT) /* in this one; no reason to give up the others */
        r = ERR_DAMAGED;
    return r < 0 ? err_code(err, r, "cannot read '%s'", buf_str(&path)) : 0;
}

/* git passes over those that are empty. */
static int
check_names(const char *repo_path, struct err *err)
{
    struct snap_inventory has = { 0 };
    if (snap_inventory(&has, repo_path) == 0 && has.broken_refs)
        return err_set(err, ERR_DAMAGED, "names of snapshots are damaged in '%s/refs'",
                       repo_path);
    return 0;
}

/* Twice, where the first time it does not seem to be well. */
static int
read_repo(struct items *all, const char *repo_path, const struct snap_filter *filter)
{
    struct err err = { 0 };
    size_t before = items_count(all);
    int r = 0;
    for (int tries = 0; tries < 2; tries++) {
        AUTO(buf) root = { .ceiling = SNAP_ROOT_MAX };
        items_cut(all, before);
        r = read_root(repo_path, &root, &err);
        if (!r && filter->root && strcmp(buf_str(&root), filter->root) != 0)
            return 0;
        if (!r && filter->session && !snap_refs_has(repo_path, filter->session))
            return 0;
        if (!r)
            r = read_once(all, repo_path, buf_str(&root), filter, &err);
        if (!r)
            r = check_names(repo_path, &err);
        if (!r || access(repo_path, F_OK) < 0)
            return 0;
    }
    if (!all->why.code)
        all->why = err;
    return r == -ENOMEM ? r : 0;
}

/* -- all of them -- */

static int
by_time(const void *a, const void *b)
{
    const struct snap_facts *x = &((const struct item *)a)->facts;
    const struct snap_facts *y = &((const struct item *)b)->facts;
    int c = (x->ts_ns > y->ts_ns) - (x->ts_ns < y->ts_ns);
    return c ? c : (x->id > y->id) - (x->id < y->id);
}

/* 0, also where some could not be read: see all->why. */
static int
items_read(struct items *all, const char *home, const struct snap_filter *filter,
           struct err *err)
{
    all->list.ceiling = (size_t)1 << 30;
    int r = snap_repos(home, &all->repos, err);
    if (r < 0)
        return r;
    const char *path = (const char *)all->repos.p, *end = path + all->repos.n;
    for (; !r && path < end; path += strlen(path) + 1)
        r = read_repo(all, path, filter);
    if (r < 0)
        return err_set(err, r, "%s", all->why.text);
    if (all->list.n)
        qsort(all->list.p, items_count(all), sizeof(struct item), by_time);
    return 0;
}

int
snap_list(const char *home, const struct snap_filter *filter, snap_list_fn fn, void *ctx,
          struct err *err)
{
    static const struct snap_filter any;
    AUTO(items) all = { 0 };
    int r = items_read(&all, home, filter ? filter : &any, err);
    for (size_t i = 0; !r && i < items_count(&all); i++)
        r = fn(ctx, &items_at(&all, i)->facts, items_at(&all, i)->repo_path);
    if (!r && all.why.code)
        r = err_set(err, all.why.code == ERR_MISSING ? ERR_MISSING : ERR_DAMAGED, "%s",
                    all.why.text); /* missing: there is no git */
    return r;
}

bool
snap_has(const char *home, const char *session)
{
    AUTO(buf) repos = { 0 };
    struct err ignored;
    bool has = false;
    if (snap_repos(home, &repos, &ignored) < 0)
        return false;
    for (size_t at = 0; !has && at < repos.n;) {
        const char *path = (const char *)repos.p + at;
        has = snap_refs_has(path, session);
        at += strlen(path) + 1;
    }
    return has;
}
