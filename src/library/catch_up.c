/* SPDX-License-Identifier: MIT */
#include "library/catch_up.h"

#include "library/ids_priv.h"
#include "library/keyframes.h"
#include "redact/own.h"

struct work {
    const char *home;
    const struct library_catch_up *what;
    struct store *store; /* NULL: not opened yet */
    struct redact *redact;
    struct buf ids, gone;
    int failed;
    struct err *err;
};

static int
open_store(struct work *w, enum store_mode mode, struct err *err)
{
    AUTO(buf) path = { 0 };
    int r = library_db_path(w->home, &path);
    return r < 0 ? err_code(err, r, "cannot open the library")
                 : store_open(&w->store, buf_str(&path), mode, w->what->wait_ms, err);
}

/* What there is to do; a library is made for nothing less. */
static int
find_work(struct work *w, struct err *err)
{
    const struct buf *ids = w->what->ids;
    if (ids && buf_append(&w->ids, ids->p, ids->n) < 0)
        return err_code(err, w->ids.failed, "cannot index");
    if (!w->what->is_all)
        return 0;
    int r = open_store(w, STORE_READ, err);
    if (r < 0 && r != ERR_MISSING)
        return r;
    r = library_pending(w->store, w->home, &w->ids, &w->gone, err);
    if (w->store)
        store_close(w->store);
    w->store = NULL;
    ids_sort(&w->ids);
    return r;
}

static void
note(struct work *w, const char *id, int r, const struct library_indexed *done,
     const struct err *why, size_t at)
{
    const struct library_catch_up *what = w->what;
    bool is_failed = r < 0 && r != ERR_BUSY && r != ERR_MISSING;
    if (is_failed && !w->failed++)
        *w->err = *why;
    if (what->each)
        what->each(what->ctx, id, r, done, why, at, ids_count(&w->ids));
}

static void
forget_gone(struct work *w)
{
    for (size_t i = 0; i < ids_count(&w->gone); i++) {
        struct err why = { 0 };
        int r = library_forget(w->home, ids_at(&w->gone, i), &why);
        if (r < 0 && !w->failed++)
            *w->err = why;
    }
}

static void
index_all(struct work *w)
{
    for (size_t i = 0; i < ids_count(&w->ids); i++) {
        struct library_indexed done = { 0 };
        struct err why = { 0 };
        int r = library_index(w->store, w->home, ids_at(&w->ids, i), w->redact, NULL,
                              &done, &why);
        note(w, ids_at(&w->ids, i), r, &done, &why, i);
    }
}

/* Nobody has asked for them yet: one that cannot be had is made when it is wanted. */
static void
make_keyframes(struct work *w)
{
    for (size_t i = 0; w->what->has_keyframes && i < ids_count(&w->ids); i++)
        (void)library_keyframes_make(w->home, ids_at(&w->ids, i), NULL);
}

static int
work(struct work *w, struct err *err)
{
    int r = find_work(w, err);
    if (r < 0 || (!w->ids.n && !w->gone.n))
        return r;
    r = redact_own_open(&w->redact, NULL, err);
    if (!r)
        r = open_store(w, STORE_WRITE, err);
    if (r < 0)
        return r;
    forget_gone(w);
    index_all(w);
    store_close(w->store);
    make_keyframes(w);
    return w->failed;
}

int
library_catch_up(const char *home, const struct library_catch_up *what, struct err *err)
{
    struct err ignored;
    struct work w = { .home = home, .what = what, .err = err ? err : &ignored };
    int r = work(&w, w.err);
    if (w.redact)
        redact_close(w.redact);
    buf_release(&w.ids);
    buf_release(&w.gone);
    return r;
}
