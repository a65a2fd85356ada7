/* SPDX-License-Identifier: MIT */
/*
 * collect.c -- the bytes that no snapshot needs are given back.
 *
 * All that the refs need is put into one new pack, which takes a while: nobody is locked
 * out meanwhile. Then, alone, what snapshots that were taken meanwhile need is put into a
 * second one, for they may stand on anything that was there; and the other packs go.
 *
 * Where there is no room for the new pack, only those go that hold nothing of it; that
 * may make room.
 */
#include "snap/collect_priv.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "snap/git_priv.h"
#include "snap/join_priv.h"
#include "snap/packs_priv.h"
#include "snap/refs_priv.h"
#include "snap/repo_priv.h"
#include "snap/spare_priv.h"
#include "snap/sweep_priv.h"
#include "snap/tidy.h"

enum {
    REFS_MANY = 200,
    WASTE = 4, /* of what is needed, this part is much … */
    WASTE_TIGHT = 32,
};

#define DOING "cannot collect what snapshots have left"

static int
run_git(const char *repo_path, const char *const *args, struct err *err)
{
    return snap_git_run(repo_path, args, (struct view){ 0 }, NULL, DOING, err);
}

/* What refs name, a line each. git is told that: left to look for itself, it takes one
 * that is removed meanwhile for a broken one. */
static int
put_commits(struct buf *ret, struct view refs)
{
    for (struct view line; snap_refs_line(&refs, &line);) {
        const uint8_t *space = line.n ? memchr(line.p, ' ', line.n) : NULL;
        if (!space)
            continue;
        buf_append(ret, line.p, (size_t)(space - line.p));
        buf_puts(ret, "\n");
    }
    return ret->failed;
}

/* Both are in one order: is each line of a also in b? */
static bool
is_part(struct view a, struct view b)
{
    struct view line, other;
    while (snap_refs_line(&a, &line))
        do
            if (!snap_refs_line(&b, &other))
                return false;
        while (other.n != line.n || memcmp(other.p, line.p, line.n) != 0);
    return true;
}

static int
unmark(const char *repo_path, const char *name, struct err *err)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    int r = buf_printf(&path, "%s/%s", repo_path, name);
    if (r >= 0 && unlink(buf_str(&path)) < 0 && errno != ENOENT)
        r = -errno;
    return r < 0 ? err_code(err, r, DOING) : 0;
}

struct collection {
    const char *repo_path; /* borrowed */
    struct buf refs;       /* that there were at the beginning */
    struct buf now;        /* … and are, since it is held alone */
    struct buf before;     /* struct snap_pack each: what there was */
    struct buf made;
    struct snap_repo repo; /* held alone, at last */
    bool has_loose;
};

static void
collection_release(struct collection *c)
{
    buf_release(&c->refs);
    buf_release(&c->now);
    buf_release(&c->before);
    buf_release(&c->made);
    snap_repo_release(&c->repo);
}

static struct view
all_of(const struct buf *b)
{
    return (struct view){ b->p, b->n };
}

/* What those refs need, and no pack that was made has. */
static int
make(struct collection *c, const struct buf *refs, struct err *err)
{
    AUTO(buf) commits = { 0 };
    int r = put_commits(&commits, all_of(refs));
    if (r < 0)
        return err_code(err, r, DOING);
    return snap_packs_make(&c->made, c->repo_path, "--revs", all_of(&commits), DOING,
                           err);
}

/* All that is needed, while others may be at it. None is: who tidies next removes the
 * whole repository. */
static int
gather(struct collection *c, struct err *err)
{
    int r = snap_refs(c->repo_path, "refs/", &c->refs, err);
    if (r < 0 || !c->refs.n)
        return r;
    r = snap_packs(&c->before, c->repo_path);
    return r < 0 ? err_code(err, r, DOING) : make(c, &c->refs, err);
}

/* From here on alone: what there is. */
static int
hold(struct collection *c, struct err *err)
{
    struct snap_inventory has = { 0 };
    int r = snap_repo_open_at(&c->repo, c->repo_path, SNAP_ALONE, SNAP_WAIT_MS, err);
    if (r < 0)
        return r;
    r = snap_sweep(&has, c->repo_path); /* a git that had no room leaves what it had */
    if (r < 0)
        return err_code(err, r, DOING);
    if (has.broken_refs) /* what it named may be found by hand */
        return err_set(err, ERR_DAMAGED,
                       DOING ": names of snapshots are damaged in '%s/refs'",
                       c->repo_path);
    c->has_loose = has.loose_objects;
    return snap_refs(c->repo_path, "refs/", &c->now, err);
}

/* What has come since. */
static int
complete(struct collection *c, struct err *err)
{
    int r = hold(c, err);
    if (!r && !is_part(all_of(&c->now), all_of(&c->refs)))
        r = make(c, &c->now, err);
    return r;
}

/* With packs of what is needed only. The mark stays where a snapshot was removed
 * meanwhile. */
static int
finish(struct collection *c, struct err *err)
{
    static const char *const prune[] = { "prune", "--expire=now", NULL };
    int r = c->has_loose ? run_git(c->repo_path, prune, err) : 0;
    if (!r)
        r = unmark(c->repo_path, SNAP_WASTE_FILE, err);
    if (!r && is_part(all_of(&c->refs), all_of(&c->now)))
        r = unmark(c->repo_path, SNAP_COLLECT_FILE, err);
    return r;
}

static int
let_go(struct collection *c, struct err *err)
{
    int r = snap_packs_remove(c->repo_path, all_of(&c->made), (struct view){ 0 });
    return r < 0 ? err_code(err, r, DOING) : finish(c, err);
}

static int
collect_whole(const char *repo_path, struct err *err)
{
    AUTO(collection) c = { .repo_path = repo_path, .repo.lock_fd = -1 };
    int r = gather(&c, err);
    if (!r && c.made.n)
        r = complete(&c, err);
    if (r < 0)
        snap_packs_undo(repo_path, all_of(&c.made), &c.before);
    else if (c.made.n)
        r = let_go(&c, err);
    return r;
}

/* What goes without room for anything new. *ret_is_all: nothing else is to go. */
static int
collect_spare(bool *ret_is_all, const char *repo_path, struct err *err)
{
    AUTO(collection) c = { .repo_path = repo_path, .repo.lock_fd = -1 };
    AUTO(buf) commits = { 0 };
    int r = hold(&c, err);
    if (r < 0 || !c.now.n)
        return r;
    r = put_commits(&commits, all_of(&c.now));
    if (r < 0)
        return err_code(err, r, DOING);
    r = snap_spare(ret_is_all, repo_path, all_of(&commits), DOING, err);
    return !r && *ret_is_all ? finish(&c, err) : r;
}

static bool
is_full(int r)
{
    return r == -ENOSPC || r == -EDQUOT;
}

static int
collect(const char *repo_path, struct err *err)
{
    bool is_all = false;
    int r = collect_whole(repo_path, err);
    if (!is_full(r))
        return r;
    r = collect_spare(&is_all, repo_path, err);
    if (!r && !is_all)
        r = collect_whole(repo_path, err);
    if (is_full(r)) { /* what it has written goes at least */
        AUTO(collection) c = { .repo_path = repo_path, .repo.lock_fd = -1 };
        (void)hold(&c, NULL);
    }
    return r;
}

/* What git has locked meanwhile is taken for a leftover by who removes a snapshot: so
 * nobody else may be at it. */
static int
join_refs(const char *repo_path, struct err *err)
{
    static const char *const args[] = { "pack-refs", "--all", NULL };
    AUTO(snap_repo) repo = { .lock_fd = -1 };
    int r = snap_repo_open_at(&repo, repo_path, SNAP_ALONE, 0, err);
    return r ? r : run_git(repo_path, args, err);
}

/* *ret: do packs hold much that nobody needs? */
static int
ask_waste(bool *ret, const char *repo_path, uint64_t pack_bytes, bool is_tight,
          struct err *err)
{
    AUTO(buf) refs = { 0 };
    AUTO(buf) commits = { 0 };
    uint64_t needed;
    int r = snap_refs(repo_path, "refs/", &refs, err);
    if (!r && (r = put_commits(&commits, all_of(&refs))) < 0)
        err_code(err, r, DOING);
    if (!r)
        r = snap_packs_needed(&needed, repo_path, all_of(&commits), err);
    if (!r)
        *ret = pack_bytes > needed + needed / (is_tight ? WASTE_TIGHT : WASTE);
    return r;
}

int
snap_collect(const char *repo_path, bool is_tight, struct err *err)
{
    struct snap_inventory has = { 0 };
    int r = snap_inventory(&has, repo_path);
    if (r < 0)
        return err_code(err, r, DOING);
    bool is_many = has.packs >= SNAP_PACKS_MANY, is_due = has.wants_collecting;
    if (!is_due && (has.may_waste || is_many || is_tight))
        r = ask_waste(&is_due, repo_path, has.pack_bytes, is_tight, err);
    if (!r && is_due)
        r = collect(repo_path, err);
    else if (!r && is_many)
        r = snap_join(repo_path, err);
    if (!r && has.may_waste && !is_due)
        r = unmark(repo_path, SNAP_WASTE_FILE, err);
    if (!r && has.loose_refs >= REFS_MANY)
        r = join_refs(repo_path, err);
    return r;
}
