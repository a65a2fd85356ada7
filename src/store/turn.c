/* SPDX-License-Identifier: MIT */
/* turn.c -- what an agent did: events, and the files it has made. */
#include "store/store_priv.h"

static int
bind_text(sqlite3_stmt *stmt, int i, const char *text)
{
    return sqlite3_bind_text(stmt, i, text, -1, SQLITE_STATIC); /* NULL: null */
}

int
store_turn_put(struct store *s, int64_t key, const struct store_turn *t, struct err *err)
{
    sqlite3_stmt *stmt;
    int r = store_query(s, QUERY_TURN_PUT, &stmt, err);
    if (r < 0)
        return r;
    int rc = sqlite3_bind_int64(stmt, 1, key);
    rc |= sqlite3_bind_int64(stmt, 2, store_clamp(t->number));
    rc |= store_bind_u64(stmt, 3, t->ts_ns, 0);
    rc |= store_bind_u64(stmt, 4, t->iteration, 0);
    rc |= bind_text(stmt, 5, t->type);
    rc |= bind_text(stmt, 6, t->role);
    rc |= bind_text(stmt, 7, t->name);
    rc |= bind_text(stmt, 8, t->call);
    rc |= sqlite3_bind_int64(stmt, 9, store_clamp(t->text_bytes));
    rc |= sqlite3_bind_int(stmt, 10, t->has_failed);
    return store_run(s, stmt, rc, err);
}

int
store_artifact_put(struct store *s, int64_t key, const struct store_artifact *a,
                   struct err *err)
{
    sqlite3_stmt *stmt;
    int r = store_query(s, QUERY_ARTIFACT_PUT, &stmt, err);
    if (r < 0)
        return r;
    int rc = sqlite3_bind_int64(stmt, 1, key);
    rc |= sqlite3_bind_int64(stmt, 2, store_clamp(a->turn));
    rc |= bind_text(stmt, 3, a->path);
    rc |= bind_text(stmt, 4, a->action);
    rc |= store_bind_u64(stmt, 5, a->ts_ns, 0);
    return store_run(s, stmt, rc, err);
}
