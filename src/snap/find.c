/* SPDX-License-Identifier: MIT */
/* find.c -- one snapshot by what a person calls it. */
#include "snap/list.h"

#include <errno.h>
#include <inttypes.h>

#include "snap/tidy.h"

enum { ID_MIN = 4, COMMIT_MIN = 7, NAMED_MAX = 4 };

/* How well a name fits: what fits better is meant. */
enum rank { IS_IT, IS_ITS_LABEL, BEGINS_SO, FITS_NOT };

struct search {
    const char *what; /* borrowed */
    enum rank rank;   /* of those found */
    unsigned count;   /* of them */
    struct snap_facts facts;
    char *repo_path;
    struct buf named; /* the first of them, for a person */
};

static void
search_release(struct search *s)
{
    snap_facts_release(&s->facts);
    free(s->repo_path);
    buf_release(&s->named);
}

static bool
begins_so(const char *text, const char *what, const char *digits, size_t min)
{
    size_t n = strlen(what);
    return n >= min && strspn(what, digits) == n && strncmp(text, what, n) == 0;
}

static enum rank
judge(const struct snap_facts *f, const char *what)
{
    char id[24];
    snprintf(id, sizeof(id), "%" PRIu64, f->id);
    if (strcmp(id, what) == 0 || strcmp(f->commit, what) == 0)
        return IS_IT;
    if (*what && strcmp(f->label, what) == 0)
        return IS_ITS_LABEL;
    return begins_so(id, what, "0123456789", ID_MIN) ||
                   begins_so(f->commit, what, "0123456789abcdef", COMMIT_MIN)
               ? BEGINS_SO
               : FITS_NOT;
}

static int
keep(struct search *s, const struct snap_facts *f, const char *repo_path)
{
    snap_facts_release(&s->facts);
    free(s->repo_path);
    s->facts = *f;
    s->facts.label = strdup(f->label);
    s->facts.root = strdup(f->root);
    s->repo_path = strdup(repo_path);
    return s->facts.label && s->facts.root && s->repo_path ? 0 : -ENOMEM;
}

static int
look(void *ctx, const struct snap_facts *f, const char *repo_path)
{
    struct search *s = ctx;
    if (strcmp(s->what, "last") == 0) { /* the list goes by time */
        s->count = 1;
        return keep(s, f, repo_path);
    }
    enum rank rank = judge(f, s->what);
    if (rank == FITS_NOT || rank > s->rank)
        return 0;
    if (rank < s->rank) {
        s->rank = rank;
        s->count = 0;
        buf_clear(&s->named);
    }
    if (s->count++ < NAMED_MAX)
        buf_printf(&s->named, "%s%" PRIu64, s->count > 1 ? ", " : "", f->id);
    return keep(s, f, repo_path);
}

/* 0: *s has what was found, if anything. One that is whole may be found although another
 * is damaged. */
static int
search_in(struct search *s, const char *home, const struct snap_filter *filter,
          struct err *err)
{
    int r = snap_list(home, filter, look, s, err);
    if (r == -ENOMEM)
        return err_code(err, r, "cannot look for the snapshot '%s'", s->what);
    return r == ERR_DAMAGED && s->count ? 0 : r;
}

/* There must be one, and but one. */
static int
open_found(struct search *s, struct snap_found *ret, const char *hint, struct err *err)
{
    if (!s->count)
        return err_set(err, ERR_MISSING,
                       "there is no snapshot '%s': 'ahr fs list%s' shows what there is",
                       s->what, hint);
    if (s->count > 1)
        return err_set(err, ERR_USAGE, "'%s' may be any of %u snapshots: %s%s", s->what,
                       s->count, buf_str(&s->named), s->count > NAMED_MAX ? ", ..." : "");
    int r = snap_repo_open_at(&ret->repo, s->repo_path, SNAP_SHARED, SNAP_WAIT_MS, err);
    if (r < 0)
        return r;
    ret->facts = s->facts;
    s->facts = (struct snap_facts){ 0 };
    return 0;
}

int
snap_find(struct snap_found *ret, const char *home, const char *here, const char *what,
          struct err *err)
{
    AUTO(search) s = { .what = what, .rank = FITS_NOT };
    struct snap_filter near = { .root = here };
    int r = here ? search_in(&s, home, &near, err) : 0;
    if (!s.count && (!r || r == ERR_DAMAGED))
        r = search_in(&s, home, NULL, err);
    return r < 0 ? r : open_found(&s, ret, "", err);
}

int
snap_find_of(struct snap_found *ret, const char *home, const char *session,
             const char *what, struct err *err)
{
    AUTO(search) s = { .what = what, .rank = FITS_NOT };
    AUTO(buf) hint = { 0 };
    struct snap_filter own = { .session = session };
    int r = search_in(&s, home, &own, err);
    buf_printf(&hint, " --session %s", session);
    return r < 0 ? r : open_found(&s, ret, buf_str(&hint), err);
}

void
snap_found_release(struct snap_found *f)
{
    snap_facts_release(&f->facts);
    snap_repo_release(&f->repo);
}
