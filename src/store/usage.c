/* SPDX-License-Identifier: MIT */
/*
 * usage.c -- what sessions have used.
 *
 * `messages` has all that each session knows of its own; a flag says what of it counts:
 * of a message that several have that of one (store.h). `totals` has what agents have
 * told of sessions of theirs. `usage` is the sum of what counts, by session, model and
 * day (usage_priv.h), and is made anew from them for each session of which that may have
 * changed.
 */
#include "store/store_priv.h"

/* -- who counts -- */

static int
run_for(struct store *s, enum store_query which, int64_t key, int64_t other,
        struct err *err)
{
    sqlite3_stmt *stmt;
    int r = store_query(s, which, &stmt, err);
    if (r < 0)
        return r;
    int rc = sqlite3_bind_int64(stmt, 1, key);
    rc |= sqlite3_bind_int64(stmt, 2, other);
    return store_run(s, stmt, rc, err);
}

/* Appends the keys (int64_t) that are told of this one. */
static int
collect(struct store *s, enum store_query which, int64_t key, struct buf *ret,
        struct err *err)
{
    sqlite3_stmt *stmt;
    int r = store_query(s, which, &stmt, err);
    if (r < 0)
        return r;
    if (sqlite3_bind_int64(stmt, 1, key) != SQLITE_OK)
        return store_fail(s, SQLITE_NOMEM, err);
    while ((r = store_step(s, stmt, err)) > 0) {
        int64_t other = sqlite3_column_int64(stmt, 0);
        if (sqlite3_column_type(stmt, 0) == SQLITE_INTEGER &&
            buf_append(ret, &other, sizeof(other)) < 0) {
            r = err_code(err, ret->failed, "cannot change '%s'", s->path);
            break;
        }
    }
    sqlite3_reset(stmt);
    return r;
}

static int
make_usage(struct store *s, int64_t key, struct err *err)
{
    int r = store_delete_by_key(s, QUERY_USAGE_DELETE, key, err);
    return r < 0 ? r : store_delete_by_key(s, QUERY_USAGE_MAKE, key, err);
}

static int64_t
key_at(const struct buf *keys, size_t i)
{
    int64_t key;
    memcpy(&key, keys->p + i * sizeof(key), sizeof(key));
    return key;
}

/* Of each of these sessions the flags change. */
static int
change_flags(struct store *s, enum store_query which, int64_t key,
             const struct buf *others, struct err *err)
{
    int r = 0;
    for (size_t i = 0; !r && i < others->n / sizeof(int64_t); i++)
        r = run_for(s, which, key, key_at(others, i), err);
    return r;
}

static int
make_usages(struct store *s, const struct buf *keys, struct err *err)
{
    int r = 0;
    for (size_t i = 0; !r && i < keys->n / sizeof(int64_t); i++)
        r = make_usage(s, key_at(keys, i), err);
    return r;
}

int
store_messages_settle(struct store *s, int64_t key, struct err *err)
{
    AUTO(buf) losers = { 0 };
    AUTO(buf) peers = { 0 };
    int r = store_delete_by_key(s, QUERY_MESSAGES_COUNT, key, err);
    if (!r)
        r = collect(s, QUERY_MESSAGES_LOSERS, key, &losers, err);
    if (!r)
        r = collect(s, QUERY_PEERS, key, &peers, err);
    if (!r)
        r = change_flags(s, QUERY_MESSAGES_LOSE, key, &losers, err);
    if (!r)
        r = make_usages(s, &losers, err);
    if (!r)
        r = make_usages(s, &peers, err);
    return r < 0 ? r : make_usage(s, key, err);
}

int
store_messages_bequeath(struct store *s, int64_t key, struct err *err)
{
    AUTO(buf) heirs = { 0 };
    AUTO(buf) peers = { 0 };
    int r = collect(s, QUERY_MESSAGES_HEIRS, key, &heirs, err);
    if (!r)
        r = collect(s, QUERY_PEERS, key, &peers, err);
    if (!r)
        r = change_flags(s, QUERY_MESSAGES_INHERIT, key, &heirs, err);
    if (!r)
        r = store_delete_by_key(s, QUERY_MESSAGES_DELETE, key, err);
    if (!r)
        r = store_delete_by_key(s, QUERY_TOTALS_DELETE, key, err);
    if (!r)
        r = make_usages(s, &heirs, err);
    return r < 0 ? r : make_usages(s, &peers, err);
}

int
store_message_put(struct store *s, int64_t key, const struct store_message *m,
                  struct err *err)
{
    sqlite3_stmt *stmt;
    int r = store_query(s, QUERY_MESSAGE_PUT, &stmt, err);
    if (r < 0)
        return r;
    int rc = sqlite3_bind_int64(stmt, 1, key);
    rc |= sqlite3_bind_int64(stmt, 2, (int64_t)m->message);
    rc |= sqlite3_bind_text(stmt, 3, m->model, -1, SQLITE_STATIC);
    rc |= sqlite3_bind_int64(stmt, 4, store_clamp(m->day));
    rc |= sqlite3_bind_int64(stmt, 5, m->trust);
    rc |= store_bind_u64(stmt, 6, m->input_tokens, UINT64_MAX);
    rc |= store_bind_u64(stmt, 7, m->output_tokens, UINT64_MAX);
    rc |= store_bind_u64(stmt, 8, m->cache_creation_tokens, UINT64_MAX);
    rc |= store_bind_u64(stmt, 9, m->cache_read_tokens, UINT64_MAX);
    rc |= sqlite3_bind_int64(stmt, 10, store_clamp(m->calls));
    rc |= sqlite3_bind_int64(stmt, 11, store_clamp(m->open_calls));
    rc |= sqlite3_bind_int64(stmt, 12, store_clamp(m->span));
    rc |= sqlite3_bind_int(stmt, 13, m->is_extra);
    rc |= sqlite3_bind_int64(stmt, 14, (int64_t)m->caller);
    return store_run(s, stmt, rc, err);
}

int
store_total_put(struct store *s, int64_t key, const struct store_total *t,
                struct err *err)
{
    const uint64_t tokens[] = { t->input_tokens, t->output_tokens,
                                t->cache_creation_tokens, t->cache_read_tokens };
    sqlite3_stmt *stmt;
    uint64_t sum = 0;
    int r = store_query(s, QUERY_TOTAL_PUT, &stmt, err);
    if (r < 0)
        return r;
    int rc = sqlite3_bind_int64(stmt, 1, (int64_t)t->thread);
    for (int i = 0; i < 4; i++) {
        if (tokens[i] != UINT64_MAX)
            sum = tokens[i] > INT64_MAX - sum ? INT64_MAX : sum + tokens[i];
        rc |= store_bind_u64(stmt, 7 + i, tokens[i], UINT64_MAX);
    }
    rc |= sqlite3_bind_int64(stmt, 2, (int64_t)sum);
    rc |= sqlite3_bind_int64(stmt, 3, key);
    rc |= sqlite3_bind_int(stmt, 4, t->is_history);
    rc |= sqlite3_bind_text(stmt, 5, t->model, -1, SQLITE_STATIC);
    rc |= sqlite3_bind_int64(stmt, 6, store_clamp(t->day));
    rc |= sqlite3_bind_int64(stmt, 11, store_clamp(t->calls));
    return store_run(s, stmt, rc, err);
}

/* -- what it all took -- */

static uint64_t
number(sqlite3_stmt *stmt, int i, uint64_t unknown)
{
    int64_t v = sqlite3_column_int64(stmt, i);
    return sqlite3_column_type(stmt, i) != SQLITE_INTEGER || v < 0 ? unknown
                                                                   : (uint64_t)v;
}

static const char *
text(sqlite3_stmt *stmt, int i)
{
    const char *t = (const char *)sqlite3_column_text(stmt, i);
    return t && *t ? t : NULL;
}

static int
walk(struct store *s, sqlite3_stmt *stmt, store_usage_fn fn, void *ctx, struct err *err)
{
    int r;
    while ((r = store_step(s, stmt, err)) > 0) {
        const struct store_usage row = {
            .model = text(stmt, 0),
            .agent = text(stmt, 1),
            .group = text(stmt, 2),
            .day = number(stmt, 3, 0),
            .name = text(stmt, 4),
            .started_at_ns = number(stmt, 5, 0),
            .input_tokens = number(stmt, 6, UINT64_MAX),
            .output_tokens = number(stmt, 7, UINT64_MAX),
            .cache_creation_tokens = number(stmt, 8, UINT64_MAX),
            .cache_read_tokens = number(stmt, 9, UINT64_MAX),
            .calls = number(stmt, 10, UINT64_MAX),
            .open_calls = number(stmt, 11, 0),
        };
        r = sqlite3_errcode(s->db) == SQLITE_NOMEM ? store_fail(s, SQLITE_NOMEM, err)
                                                   : fn(ctx, &row);
        if (r <= 0)
            break;
    }
    sqlite3_reset(stmt);
    return r;
}

static int
find_range(struct store *s, const char *id, int64_t *ret_from, int64_t *ret_to,
           struct err *err)
{
    *ret_from = 0;
    *ret_to = STORE_KEY_MAX;
    int r = id ? store_key(s, id, ret_from, err) : 1;
    if (r == 0)
        return err_set(err, ERR_MISSING, "session '%s' is not indexed", id);
    if (id)
        *ret_to = *ret_from;
    return r < 0 ? r : 0;
}

int
store_usage(struct store *s, enum store_usage_by by,
            const struct store_usage_filter *filter, store_usage_fn fn, void *ctx,
            struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    int64_t from, to;
    int r = find_range(s, filter->id, &from, &to, err);
    if (!r)
        r = store_query(s, (enum store_query)(QUERY_USAGE_BY_DAY + (int)by), &stmt, err);
    if (r < 0)
        return r;
    int rc = sqlite3_bind_int64(stmt, 1, from);
    rc |= sqlite3_bind_int64(stmt, 2, to);
    rc |= sqlite3_bind_int64(stmt, 3, store_clamp(filter->since_day));
    if (rc != SQLITE_OK)
        return store_fail(s, SQLITE_NOMEM, err);
    return walk(s, stmt, fn, ctx, err);
}

int
store_repeats(struct store *s, const char *id, uint64_t *ret, struct err *err)
{
    sqlite3_stmt *stmt;
    int64_t key = 0;
    int r = store_key(s, id, &key, err);
    if (r == 0)
        return err_set(err, ERR_MISSING, "session '%s' is not indexed", id);
    if (r > 0)
        r = store_query(s, QUERY_MESSAGES_REPEATED, &stmt, err);
    if (r < 0)
        return r;
    if (sqlite3_bind_int64(stmt, 1, key) != SQLITE_OK)
        return store_fail(s, SQLITE_NOMEM, err);
    r = store_step(s, stmt, err);
    if (r > 0)
        *ret = number(stmt, 0, 0);
    sqlite3_reset(stmt);
    return r < 0 ? r : 0;
}
