/* SPDX-License-Identifier: MIT */
/* pending.c -- what there is to index, and the way through a list of sessions. */
#include <limits.h>

#include "library/ids_priv.h"
#include "library/index_priv.h"
#include "session/folder.h"

/* What is encrypted is in no index. */
static bool
is_to_index(const char *home, const char *id)
{
    return session_folder_exists(home, "sessions", id) &&
           !session_folder_is_encrypted(home, id);
}

/* Both are sorted. */
static int
compare(const struct buf *there, const struct buf *known, const char *home,
        struct buf *ret_missing, struct buf *ret_gone)
{
    size_t i = 0, k = 0, n = ids_count(there), m = ids_count(known);
    int r = 0;
    while (!r && (i < n || k < m)) {
        int order = i == n ? 1 : k == m ? -1 : strcmp(ids_at(there, i), ids_at(known, k));
        if (order > 0)
            r = buf_append(ret_gone, ids_at(known, k), IDS_STEP);
        else if (order < 0 && is_to_index(home, ids_at(there, i)))
            r = buf_append(ret_missing, ids_at(there, i), IDS_STEP);
        i += order <= 0;
        k += order >= 0;
    }
    return r;
}

int
library_pending(struct store *s, const char *home, struct buf *ret_missing,
                struct buf *ret_gone, struct err *err)
{
    AUTO(buf) there = { 0 };
    AUTO(buf) known = { 0 };
    /* In this order: one that ends and is indexed meanwhile is not taken for gone. */
    int r = s ? store_ids(s, &known, err) : 0;
    if (r < 0)
        return r;
    r = ids_collect_stored(&there, home);
    ids_sort(&there);
    ids_sort(&known);
    if (!r)
        r = compare(&there, &known, home, ret_missing, ret_gone);
    return r < 0 ? err_code(err, r, "cannot list the sessions in '%s'", home) : 0;
}

int
index_list(struct store *s, const char *home, const struct buf *ids, unsigned wait_ms,
           struct redact *redact, library_each_fn each, void *ctx, struct err *err)
{
    size_t count = ids_count(ids);
    for (size_t i = 0; i < count; i++) {
        struct library_indexed done = { 0 };
        struct err own = { 0 };
        bool is_store;
        int r = index_session(s, home, ids_at(ids, i), wait_ms, redact, NULL, &done,
                              &is_store, &own);
        if (r < 0 && is_store)
            return err_set(err, r, "%s", own.text);
        if (r != ERR_MISSING && each) /* that was deleted meanwhile */
            each(ctx, ids_at(ids, i), r, &done, &own, i + 1, count);
    }
    return 0;
}

int
library_index_pending(struct store *s, const char *home, unsigned wait_ms,
                      struct redact *redact, library_each_fn each, void *ctx,
                      struct err *err)
{
    AUTO(buf) missing = { 0 };
    AUTO(buf) gone = { 0 };
    AUTO(buf) path = { .ceiling = PATH_MAX };
    if (library_db_path(home, &path) >= 0)
        store_sweep(buf_str(&path));
    int r = library_pending(s, home, &missing, &gone, err);
    for (size_t i = 0; !r && i < ids_count(&gone); i++)
        r = index_drop(s, ids_at(&gone, i), err);
    return r < 0 ? r : index_list(s, home, &missing, wait_ms, redact, each, ctx, err);
}
