/* SPDX-License-Identifier: MIT */
#include "library/clean.h"

#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "journal/project.h"
#include "library/change.h"
#include "library/change_priv.h"
#include "library/session.h"

void
library_plan_release(struct library_plan *p)
{
    library_census_release(&p->census);
    free(p->verdicts);
    free(p->fates);
    free(p->going);
    *p = (struct library_plan){ 0 };
}

/* -- which -- */

static int
status_of(const struct library_member *m)
{
    const char *status = m->is_told ? library_member_status(m) : NULL;
    for (int i = 0; status && i < LIBRARY_STATUSES; i++)
        if (!strcmp(status, session_status_name((enum session_status)i)))
            return i;
    return -1;
}

/* A time that is not known, or lies in the future, is not over. */
static bool
is_meant(const struct library_member *m, int status, const struct library_clean_wish *w)
{
    uint64_t until_ns = w->until_ns[status];
    return until_ns == UINT64_MAX || (m->last_ns && m->last_ns < until_ns);
}

static enum library_fate
fate_of(const struct library_member *m, const struct library_verdict *v,
        const struct library_clean_wish *w)
{
    int status = status_of(m);
    if (m->is_active || status == SESSION_ACTIVE)
        return LIBRARY_STAYS;
    if (status < 0)
        return LIBRARY_UNKNOWN;
    if (!is_meant(m, status, w))
        return LIBRARY_STAYS;
    return v->guard != LIBRARY_GUARD_NONE ? LIBRARY_PROTECTED : LIBRARY_GOES;
}

/* -- the newest stay -- */

static int
compare_age(const void *a, const void *b)
{
    const struct library_member *const *x = a, *const *y = b;
    if ((*x)->last_ns != (*y)->last_ns)
        return (*x)->last_ns > (*y)->last_ns ? -1 : 1;
    return -strcmp((*x)->id, (*y)->id);
}

static int
keep_newest(struct library_plan *p, uint64_t keep)
{
    const struct library_member **all = calloc(p->census.count + 1, sizeof(*all));
    size_t n = 0;
    if (!all)
        return -ENOMEM;
    for (size_t i = 0; i < p->census.count; i++)
        if (p->fates[i] == LIBRARY_GOES)
            all[n++] = &p->census.list[i];
    qsort(all, n, sizeof(*all), compare_age);
    for (size_t i = 0; i < n && i < keep; i++)
        p->fates[all[i] - p->census.list] = LIBRARY_KEPT;
    free(all);
    return 0;
}

/* -- the order -- */

/* Is the run's folder this one's, by its metadata.json? */
static bool
owns_folder(const struct library_member *m)
{
    return m->run.id;
}

/* Where several have run under one name, whose folder it is now goes last: nobody uses it
 * any more, then. Of the others the oldest day first. */
static void
put_in_order(struct library_plan *p)
{
    for (int owns = 0; owns < 2; owns++)
        for (size_t i = 0; i < p->census.count; i++)
            if (p->fates[i] == LIBRARY_GOES && owns_folder(&p->census.list[i]) == owns)
                p->going[p->going_count++] = i;
}

static int
judge(struct library_plan *p, const struct library_clean_wish *wish)
{
    size_t n = p->census.count + 1;
    p->verdicts = calloc(n, sizeof(*p->verdicts));
    p->fates = calloc(n, sizeof(*p->fates));
    p->going = calloc(n, sizeof(*p->going));
    int r = p->verdicts && p->fates && p->going
                ? library_census_protect(&p->census, p->verdicts)
                : -ENOMEM;
    for (size_t i = 0; !r && i < p->census.count; i++)
        p->fates[i] = fate_of(&p->census.list[i], &p->verdicts[i], wish);
    if (!r)
        r = keep_newest(p, wish->keep);
    if (!r)
        put_in_order(p);
    return r;
}

int
library_plan_make(struct library_plan *ret, const char *home,
                  const struct library_clean_wish *wish, struct err *err)
{
    struct library_plan p = { 0 };
    library_sweep(home); /* what was put away for a moment counts, too */
    int r = library_census_take(&p.census, home, err);
    if (!r)
        r = library_census_check(&p.census, err);
    if (!r && (r = judge(&p, wish)) < 0)
        err_code(err, r, "cannot tell which sessions are to go");
    if (r < 0)
        library_plan_release(&p);
    else
        *ret = p;
    return r;
}

/* -- away -- */

static bool
is_shared(const struct library_plan *p, size_t at)
{
    struct library_member *me = &p->census.list[at];
    for (size_t i = 0; i < p->census.count; i++) {
        struct library_member *other = &p->census.list[i];
        if (i != at && *other->id && other->project.n == me->project.n &&
            !memcmp(other->project.p, me->project.p, me->project.n))
            return true;
    }
    return false;
}

static int
remove_folder(struct library_plan *p, size_t at, enum library_folder *ret,
              struct err *err)
{
    struct library_member *m = &p->census.list[at];
    struct stat st;
    *ret = LIBRARY_NO_FOLDER;
    if (!m->project.n)
        return 0;
    bool is_there = lstat(buf_str(&m->project), &st) == 0;
    if (is_there && is_shared(p, at)) {
        *ret = LIBRARY_FOLDER_SHARED;
        return 0;
    }
    int r = journal_project_remove(buf_str(&m->project), m->id, err);
    if (r >= 0)
        *ret = r          ? LIBRARY_FOLDER_LEFT
               : is_there ? LIBRARY_FOLDER_GONE
                          : LIBRARY_NO_FOLDER;
    return r < 0 ? r : 0;
}

struct going {
    struct library_plan *plan;
    size_t at;
    enum library_folder *folder;
};

/* A change_also's fn. */
static int
take_folder(void *ctx, struct err *err)
{
    struct going *g = ctx;
    return remove_folder(g->plan, g->at, g->folder, err);
}

int
library_clean(struct library_plan *p, const char *home, size_t at,
              enum library_folder *ret_folder, struct err *err)
{
    struct library_member *m = &p->census.list[at];
    struct going g = { p, at, ret_folder };
    const struct change_also also = { take_folder, &g };
    *ret_folder = LIBRARY_NO_FOLDER;
    int r = change_delete(home, m->id, false, &also, err);
    if (r >= 0)
        *m->id = 0;
    return r;
}

/* -- how much that is -- */

static uint64_t
tree_bytes(char *path)
{
    char *const roots[] = { path, NULL };
    FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    uint64_t bytes = 0;
    for (FTSENT *e; walk && (e = fts_read(walk));)
        if (e->fts_info == FTS_F)
            bytes += (uint64_t)e->fts_statp->st_size;
    if (walk)
        fts_close(walk);
    return bytes;
}

uint64_t
library_clean_bytes(const struct library_plan *p, const char *home, size_t at)
{
    struct library_member *m = &p->census.list[at];
    AUTO(buf) dir = { .ceiling = PATH_MAX };
    buf_printf(&dir, "%s/%s/%s", home, m->is_live ? "live" : "sessions", m->id);
    uint64_t bytes = buf_str(&dir)[0] ? tree_bytes((char *)dir.p) : 0;
    if (m->project.n && owns_folder(m) && !is_shared(p, at) && buf_str(&m->project)[0])
        bytes += tree_bytes((char *)m->project.p);
    return bytes;
}
