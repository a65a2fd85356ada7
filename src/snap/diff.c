/* SPDX-License-Identifier: MIT */
#include "snap/diff.h"

#include <limits.h>

#include "snap/git_priv.h"
#include "snap/paths_priv.h"
#include "snap/repo_priv.h"
#include "snap/skip.h"
#include "snap/tree_priv.h"

/* One of the two. */
struct side {
    struct snap_tree tree;
    struct snap_paths left_out; /* of tree.skipped */
    size_t at;                  /* how far it is compared */
};

struct diff {
    struct side side[2]; /* before, after */
    snap_change_fn fn;
    void *ctx;
};

static void
side_release(struct side *s)
{
    snap_tree_release(&s->tree);
    snap_paths_release(&s->left_out);
}

/* -- what a snapshot has left out -- */

static int
find_left_out(struct side *s)
{
    struct view rest = { s->tree.skipped.p, s->tree.skipped.n };
    struct snap_skip skip;
    while (snap_skip_next(&rest, &skip))
        (void)snap_paths_add(&s->left_out, skip.path);
    snap_paths_sort(&s->left_out);
    return s->left_out.list.failed;
}

/* -- comparing -- */

static int
tell(struct diff *d, enum snap_change_kind kind, const struct snap_tree_entry *e)
{
    char path[PATH_MAX + 2];
    size_t n = strlen(e->path);
    if (e->kind != SNAP_DIR || n >= PATH_MAX)
        return d->fn(d->ctx, &(struct snap_change){ kind, e->path });
    memcpy(path, e->path, n);
    memcpy(path + n, "/", 2);
    return d->fn(d->ctx, &(struct snap_change){ kind, path });
}

/* Only one has it: `other` is the one that has not. A folder is told by what is in it. */
static int
tell_lone(struct diff *d, enum snap_change_kind kind, const struct side *other,
          const struct snap_tree_entry *e)
{
    if (e->kind == SNAP_DIR && !e->is_empty)
        return 0;
    return tell(d, snap_paths_cover(&other->left_out, e->path) ? SNAP_UNKNOWN : kind, e);
}

static int
tell_both(struct diff *d, const struct snap_tree_entry *a,
          const struct snap_tree_entry *b)
{
    if ((a->kind == SNAP_DIR) != (b->kind == SNAP_DIR)) {
        int r = tell_lone(d, SNAP_DELETED, &d->side[1], a);
        return r ? r : tell_lone(d, SNAP_ADDED, &d->side[0], b);
    }
    if (a->kind != b->kind)
        return tell(d, SNAP_TYPE, b);
    if (strcmp(a->id, b->id) != 0)
        return tell(d, SNAP_MODIFIED, b);
    return a->mode != b->mode ? tell(d, SNAP_MODE, b) : 0;
}

/* The next entry that counts; NULL: the end. */
static const struct snap_tree_entry *
next(struct side *s)
{
    while (s->at < s->tree.count && s->tree.entry[s->at].why)
        s->at++;
    return s->at < s->tree.count ? &s->tree.entry[s->at] : NULL;
}

static int
merge(struct diff *d)
{
    int r = 0;
    while (!r) {
        const struct snap_tree_entry *a = next(&d->side[0]), *b = next(&d->side[1]);
        if (!a && !b)
            break;
        int order = !a ? 1 : !b ? -1 : strcmp(a->path, b->path);
        r = order < 0   ? tell_lone(d, SNAP_DELETED, &d->side[1], a)
            : order > 0 ? tell_lone(d, SNAP_ADDED, &d->side[0], b)
                        : tell_both(d, a, b);
        d->side[0].at += order <= 0;
        d->side[1].at += order >= 0;
    }
    return r;
}

int
snap_diff(const struct snap_repo *repo, const char *commit_a, const char *commit_b,
          snap_change_fn fn, void *ctx, struct err *err)
{
    struct diff d = { .fn = fn, .ctx = ctx };
    const char *const commit[] = { commit_a, commit_b };
    int r = 0;
    for (int i = 0; !r && i < 2; i++) {
        d.side[i].left_out.list.ceiling = SNAP_TREE_BYTES_MAX;
        r = snap_tree_read(&d.side[i].tree, repo->path, commit[i], err);
        if (!r && find_left_out(&d.side[i]) < 0)
            r = err_code(err, d.side[i].left_out.list.failed,
                         "cannot compare the snapshots");
    }
    if (!r)
        r = merge(&d);
    side_release(&d.side[0]);
    side_release(&d.side[1]);
    return r;
}

/* -- as a patch -- */

/* Appends the id of the tree of its files. */
static int
find_files(const struct snap_repo *repo, const char *commit, struct buf *ret,
           struct err *err)
{
    static const char empty[] = "4b825dc642cb6eb9a060e54bf8d69288fbee4904\n";
    const char *args[] = { "ls-tree", "--object-only", commit, "files", NULL };
    int r = snap_git_run(repo->path, args, (struct view){ 0 }, ret,
                         "cannot read the snapshot", err);
    if (!r && !ret->n)
        buf_puts(ret, empty); /* git knows it in every repository */
    if (ret->n)
        ret->n--; /* the newline */
    return r;
}

int
snap_diff_patch(const struct snap_repo *repo, const char *commit_a, const char *commit_b,
                int fd, struct err *err)
{
    AUTO(buf) a = { 0 };
    AUTO(buf) b = { 0 };
    int r = find_files(repo, commit_a, &a, err);
    if (!r)
        r = find_files(repo, commit_b, &b, err);
    if (r < 0)
        return r;
    const char *args[] = { "diff-tree",
                           "-r",
                           "-p",
                           "--binary",
                           "--full-index",
                           "--no-renames",
                           "--no-ext-diff",
                           "--no-textconv",
                           "--no-color",
                           "--src-prefix=a/",
                           "--dst-prefix=b/",
                           buf_str(&a),
                           buf_str(&b),
                           NULL };
    struct snap_git g;
    r = snap_git_start(&g, repo->path, args, false, fd, err);
    return r < 0 ? r : snap_git_end(&g, "cannot compare the snapshots", err);
}

/* Nobody else knows this name: so others may be at the repository. */
int
snap_diff_drop(const struct snap_repo *repo, const char *ref, struct err *err)
{
    const char *args[] = { "update-ref", "-d", ref, NULL };
    (void)snap_repo_mark(repo->path, SNAP_WASTE_FILE);
    return snap_git_run(repo->path, args, (struct view){ 0 }, NULL,
                        "cannot drop what was compared", err);
}
