/* SPDX-License-Identifier: MIT */
#include "library/catch_up.h"

#include "library/ids_priv.h"
#include "library/index_priv.h"
#include "library/keyframes.h"
#include "redact/own.h"

struct work {
    const char *home;
    unsigned wait_ms;
    struct store *store;
    struct redact *redact;
    struct buf done; /* ids */
    int failed;
    struct err *err;
};

static int
open_store(struct work *w, enum store_mode mode, struct err *err)
{
    AUTO(buf) path = { 0 };
    int r = library_db_path(w->home, &path);
    return r < 0 ? err_code(err, r, "cannot open the library")
                 : store_open(&w->store, buf_str(&path), mode, w->wait_ms, err);
}

static void
close_store(struct work *w)
{
    if (w->store)
        store_close(w->store);
    w->store = NULL;
}

/* 1: there is something to do. A library is made for nothing less. */
static int
has_pending(struct work *w, struct err *err)
{
    AUTO(buf) missing = { 0 };
    AUTO(buf) gone = { 0 };
    int r = open_store(w, STORE_READ, err);
    if (!r || r == ERR_MISSING)
        r = library_pending(w->store, w->home, &missing, &gone, err);
    close_store(w);
    return r < 0 ? r : missing.n || gone.n;
}

static void
note(void *ctx, const char *id, int r, const struct library_indexed *done,
     const struct err *why, size_t at, size_t count)
{
    struct work *w = ctx;
    (void)at, (void)count;
    if (!r && !done->is_moved)
        (void)buf_append(&w->done, id, IDS_STEP);
    if (r < 0 && r != ERR_BUSY && r != ERR_MISSING && !w->failed++)
        *w->err = *why;
}

/* One that cannot be had now is made when it is wanted. */
static void
make_keyframes(struct work *w)
{
    for (size_t i = 0; i < ids_count(&w->done); i++)
        (void)library_keyframes_make(w->home, ids_at(&w->done, i), NULL);
}

static int
work(struct work *w, const struct buf *ids, struct err *err)
{
    int r = ids ? ids->n > 0 : has_pending(w, err);
    if (r <= 0)
        return r;
    r = redact_own_open(&w->redact, NULL, err);
    if (!r)
        r = open_store(w, STORE_WRITE, err);
    if (r < 0)
        return r;
    r = ids ? index_list(w->store, w->home, ids, LIBRARY_WAIT_LOOK_MS, w->redact, note, w,
                         err)
            : library_index_pending(w->store, w->home, LIBRARY_WAIT_LOOK_MS, w->redact,
                                    note, w, err);
    close_store(w);
    make_keyframes(w);
    return r < 0 ? r : w->failed;
}

int
library_catch_up(const char *home, const struct buf *ids, unsigned wait_ms,
                 struct err *err)
{
    struct err ignored;
    struct work w = { .home = home, .wait_ms = wait_ms, .err = err ? err : &ignored };
    int r = work(&w, ids, w.err);
    if (w.redact)
        redact_close(w.redact);
    buf_release(&w.done);
    return r;
}
