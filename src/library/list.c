/* SPDX-License-Identifier: MIT */
/*
 * list.c -- all sessions of a home.
 *
 * Rows of the index come in their order, and are shown if their folder is there; what is
 * in no row waits, sorted, and is read from its folder when its turn comes. So nothing
 * but names of folders is held for each session, and a stored one costs no look at its
 * files. An index that fails on the way is left there: the rest comes from the folders.
 */
#include "library/list.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>

#include "library/ids_priv.h"
#include "library/index.h"
#include "session/folder.h"
#include "session/meta.h"

/* One that is not in the index. */
struct waiting {
    uint64_t started_at_ns;
    char id[SESSION_ID_LEN + 1];
};

struct listing {
    const char *home;
    const struct library_list *list;
    library_list_fn fn;
    void *ctx;
    struct library_listed *counts;
    struct buf stored, live;
    struct ids_set set;  /* of the stored ones; marked: in the index */
    struct buf waiting;  /* struct waiting, the newest first */
    size_t next;         /* of them */
    bool *is_passed;     /* by place in stored: its row has come by */
    struct store *store; /* NULL: not used */
    bool is_over;
    int failed; /* what fn returned, < 0 */
};

/* What is no folder is no session. */
static bool
is_stored(const char *home, const char *id)
{
    return session_id_is(id) && session_folder_exists(home, "sessions", id);
}

/* -- one session is handed over -- */

static bool
is_wanted_start(const struct library_list *l, uint64_t ns)
{
    return (!l->since_ns || ns >= l->since_ns) && (!l->until_ns || ns < l->until_ns);
}

static bool
is_wanted(const struct library_list *l, const struct store_session *row)
{
    if (!is_wanted_start(l, row->started_at_ns))
        return false;
    if (l->status && (!row->status || strcmp(row->status, l->status) != 0))
        return false;
    return !l->name_glob || (row->name && fnmatch(l->name_glob, row->name, 0) == 0);
}

/* 0: it was the last one; 1: there may be more. */
static int
hand_over(struct listing *l, const struct library_session *s)
{
    if (!is_wanted(l->list, &s->facts))
        return 1;
    int r = l->fn(l->ctx, s);
    if (r < 0)
        return l->failed = r;
    l->counts->sessions++;
    l->is_over = !r || (l->list->limit && l->counts->sessions >= l->list->limit);
    return !l->is_over;
}

/* -- those of no row -- */

static const struct waiting *
waiting_at(const struct listing *l, size_t i)
{
    const void *p = l->waiting.p + i * sizeof(struct waiting);
    return p;
}

static size_t
waiting_count(const struct listing *l)
{
    return l->waiting.n / sizeof(struct waiting);
}

static int
compare(const void *a, const void *b)
{
    const struct waiting *x = a, *y = b;
    if (x->started_at_ns != y->started_at_ns)
        return x->started_at_ns > y->started_at_ns ? -1 : 1;
    return -strcmp(x->id, y->id);
}

static void
sort_waiting(struct listing *l)
{
    if (l->waiting.n)
        qsort(l->waiting.p, waiting_count(l), sizeof(struct waiting), compare);
}

/* Its start is all that is looked at now. */
static int
add_waiting(struct listing *l, const char *place, const char *id)
{
    AUTO(buf) dir = { .ceiling = PATH_MAX };
    AUTO(buf) tape = { 0 };
    AUTO(buf) meta = { 0 };
    struct session_facts facts = { 0 };
    if (buf_printf(&dir, "%s/%s/%s", l->home, place, id) == 0 &&
        session_folder_paths(buf_str(&dir), &tape, &meta) == 0)
        (void)session_meta_read(buf_str(&meta), &facts, NULL);
    struct waiting w = { .started_at_ns = facts.started_at_ns };
    if (!w.started_at_ns)
        w.started_at_ns = ids_day_ns(id);
    memcpy(w.id, id, sizeof(w.id));
    return is_wanted_start(l->list, w.started_at_ns)
               ? buf_append(&l->waiting, &w, sizeof(w))
               : 0;
}

static int
read_and_hand_over(struct listing *l, const char *id)
{
    AUTO(library_session) s = { 0 };
    struct err ignored;
    if (library_session_read(&s, l->home, id, &ignored) < 0 || s.place == LIBRARY_DAMAGED)
        return 1;
    return hand_over(l, &s);
}

/* Those that began at this time or later; 0: all. */
static int
hand_over_waiting(struct listing *l, uint64_t from_ns)
{
    int r = 1;
    while (r > 0 && l->next < waiting_count(l) &&
           waiting_at(l, l->next)->started_at_ns >= from_ns)
        r = read_and_hand_over(l, waiting_at(l, l->next++)->id);
    return r;
}

/* -- the rows -- */

static int
mark_indexed(struct listing *l, struct err *why)
{
    AUTO(buf) ids = { 0 };
    int r = store_ids(l->store, &ids, why);
    if (!r)
        l->counts->gone = ids_set_mark(&l->set, &ids);
    return r;
}

/* A store_session_fn. */
static int
pass_row(void *ctx, const struct store_session *row)
{
    struct listing *l = ctx;
    struct library_session s = { .facts = *row, .is_indexed = true };
    size_t at = ids_set_find(&l->set, row->id);
    /* One that is not marked, as in a damaged index, waits already. */
    if (at == SIZE_MAX || !l->set.is_marked[at] || l->is_passed[at])
        return 1;
    int r = hand_over_waiting(l, row->started_at_ns);
    if (r <= 0)
        return r;
    l->is_passed[at] = true;
    return hand_over(l, &s);
}

static int
open_index(struct listing *l, struct err *why)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    int r = library_db_path(l->home, &path);
    if (r < 0)
        return err_code(why, r, "cannot open '%s/library.db'", l->home);
    r = store_open(&l->store, buf_str(&path), STORE_READ, LIBRARY_WAIT_LOOK_MS, why);
    if (!r)
        r = store_begin_read(l->store, why);
    return r < 0 ? r : mark_indexed(l, why);
}

static void
close_index(struct listing *l)
{
    if (l->store)
        store_close(l->store);
    l->store = NULL;
}

/* What the index would have told is read from the folders. */
static int
do_without(struct listing *l)
{
    int r = 0;
    close_index(l);
    for (size_t i = 0; !r && i < ids_count(&l->stored); i++)
        if (l->set.is_marked[i] && !l->is_passed[i])
            r = add_waiting(l, "sessions", ids_at(&l->stored, i));
    if (l->next) { /* what has gone is not sorted again */
        size_t gone = l->next * sizeof(struct waiting);
        memmove(l->waiting.p, l->waiting.p + gone, l->waiting.n - gone);
        l->waiting.n -= gone;
        l->next = 0;
    }
    sort_waiting(l);
    return r;
}

/* -- all -- */

/* In this order: one that ends meanwhile moves from the first to the second. */
static int
collect(struct listing *l)
{
    AUTO(buf) damaged = { 0 };
    int r = ids_collect(&l->live, l->home, "live", "");
    if (!r)
        r = ids_collect_stored(&l->stored, l->home);
    if (!r)
        r = ids_set_init(&l->set, &l->stored);
    (void)ids_collect(&damaged, l->home, "damaged", ""); /* they are only counted */
    l->counts->damaged = ids_count(&damaged);
    l->is_passed = calloc(ids_count(&l->stored) + 1, sizeof(*l->is_passed));
    return r < 0 ? r : l->is_passed ? 0 : -ENOMEM;
}

static int
collect_waiting(struct listing *l)
{
    int r = 0;
    for (size_t i = 0; !r && i < ids_count(&l->live); i++) {
        const char *id = ids_at(&l->live, i);
        if (ids_set_find(&l->set, id) != SIZE_MAX)
            continue;
        l->counts->interrupted += !session_folder_is_held(l->home, id);
        r = add_waiting(l, "live", id);
    }
    for (size_t i = 0; !r && i < ids_count(&l->stored); i++)
        if (!l->set.is_marked[i] && is_stored(l->home, ids_at(&l->stored, i))) {
            const char *id = ids_at(&l->stored, i);
            l->counts->unindexed += !session_folder_is_encrypted(l->home, id);
            r = add_waiting(l, "sessions", id);
        }
    sort_waiting(l);
    return r;
}

static int
walk(struct listing *l)
{
    struct store_filter filter = {
        .status = l->list->status,
        .since_ns = l->list->since_ns,
        .until_ns = l->list->until_ns,
        .is_short = l->list->is_short,
    };
    int r = l->store ? store_sessions(l->store, &filter, pass_row, l, &l->counts->why)
                     : 0;
    bool is_all = l->store && !filter.status && !filter.since_ns && !filter.until_ns;
    /* Rows that a damaged index has and does not tell of are sessions all the same. */
    if ((r < 0 && !l->failed) || (!r && is_all && !l->is_over))
        r = do_without(l);
    if (!r && !l->is_over)
        r = hand_over_waiting(l, 0);
    return r < 0 ? r : 0;
}

static int
list_all(struct listing *l)
{
    int r = collect(l);
    if (!r && open_index(l, &l->counts->why) < 0) {
        close_index(l);
        l->counts->gone = 0;
        memset(l->set.is_marked, 0, ids_count(&l->stored));
    }
    if (!r)
        r = collect_waiting(l);
    return r < 0 ? r : walk(l);
}

int
library_list(const char *home, const struct library_list *list, library_list_fn fn,
             void *ctx, struct library_listed *ret, struct err *err)
{
    struct library_listed counts = { 0 };
    struct listing l = {
        .home = home, .list = list, .fn = fn, .ctx = ctx, .counts = &counts
    };
    int r = list_all(&l);
    close_index(&l);
    buf_release(&l.stored);
    buf_release(&l.live);
    buf_release(&l.waiting);
    ids_set_release(&l.set);
    free(l.is_passed);
    if (r < 0)
        return l.failed ? r : err_code(err, r, "cannot list the sessions in '%s'", home);
    *ret = counts;
    return 0;
}

/* -- one of them -- */

/* A store_session_fn. */
static int
keep_row(void *ctx, const struct store_session *row)
{
    int r = library_session_keep(ctx, row);
    return r < 0 ? r : 1;
}

static int
look_into_index(struct library_session *s, const char *home, const char *id,
                struct err *why)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    struct store *store;
    int r = library_db_path(home, &path);
    if (r < 0)
        return err_code(why, r, "cannot open '%s/library.db'", home);
    r = store_open(&store, buf_str(&path), STORE_READ, LIBRARY_WAIT_LOOK_MS, why);
    if (r < 0)
        return r;
    r = store_session_get(store, id, keep_row, s, why);
    store_close(store);
    s->is_indexed = !r;
    if (r == ERR_MISSING) /* it is not in it, and that is no trouble */
        why->code = 0;
    return r;
}

int
library_look(struct library_session *ret, const char *home, const char *id,
             struct err *ret_why, struct err *err)
{
    struct library_session s = { 0 };
    struct err why = { 0 };
    int r = is_stored(home, id) ? look_into_index(&s, home, id, &why) : -ENOENT;
    if (r < 0) {
        library_session_release(&s);
        r = library_session_read(&s, home, id, err);
    }
    if (r < 0)
        return r;
    *ret = s;
    *ret_why = why;
    return 0;
}
