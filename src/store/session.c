/* SPDX-License-Identifier: MIT */
/*
 * session.c -- the rows of sessions, and their snapshots and instructions.
 *
 * What is read is not believed: an id is one or the library is damaged, keys go down, and
 * a number below zero is none.
 */
#include <errno.h>
#include <limits.h>

#include "store/store_priv.h"

enum kind { TEXT, COUNT, TIME, SMALL, EXIT_CODE, FLAG };

#define AT(field) offsetof(struct store_session, field)

/* In the order of STORE_COLUMNS. */
static const struct column {
    enum kind kind;
    size_t at;
} columns[] = {
    { TEXT, AT(id) },
    { TEXT, AT(name) },
    { TEXT, AT(role) },
    { TEXT, AT(kind) },
    { TEXT, AT(status) },
    { TEXT, AT(signal) },
    { TEXT, AT(cmd) },
    { TEXT, AT(command) },
    { TEXT, AT(cwd) },
    { TEXT, AT(task) },
    { TEXT, AT(parent) },
    { TEXT, AT(resumed_from) },
    { TEXT, AT(agent) },
    { TEXT, AT(agent_session_id) },
    { TEXT, AT(model) },
    { EXIT_CODE, AT(exit_code) },
    { TIME, AT(started_at_ns) },
    { TIME, AT(ended_at_ns) },
    { COUNT, AT(bytes) },
    { COUNT, AT(size_bytes) },
    { SMALL, AT(cols) },
    { SMALL, AT(rows) },
    { COUNT, AT(snapshots) },
    { COUNT, AT(instructions) },
    { COUNT, AT(lines) },
    { COUNT, AT(text_bytes) },
    { FLAG, AT(is_damaged) },
    { COUNT, AT(input_tokens) },
    { COUNT, AT(output_tokens) },
    { COUNT, AT(cache_creation_tokens) },
    { COUNT, AT(cache_read_tokens) },
    { COUNT, AT(calls) },
    { COUNT, AT(branch_snapshot) },
    { COUNT, AT(branch_byte) },
    { TEXT, AT(project) },
    { TIME, AT(iterations) },
    { COUNT, AT(turns) },
    { COUNT, AT(fork_turn) },
};

enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

/* In the order of STORE_SHORT_COLUMNS. */
static const struct column short_columns[] = {
    { TEXT, AT(id) },
    { TEXT, AT(name) },
    { TEXT, AT(status) },
    { TEXT, AT(command) },
    { TEXT, AT(parent) },
    { TIME, AT(started_at_ns) },
    { TIME, AT(ended_at_ns) },
    { COUNT, AT(size_bytes) },
    { FLAG, AT(is_damaged) },
    { TEXT, AT(kind) },
    { TEXT, AT(agent) },
    { COUNT, AT(input_tokens) },
    { COUNT, AT(output_tokens) },
    { COUNT, AT(cache_creation_tokens) },
    { COUNT, AT(cache_read_tokens) },
    { TEXT, AT(task) },
};

enum { SHORT_COLUMNS = sizeof(short_columns) / sizeof(short_columns[0]) };

const struct store_session store_session_unknown = {
    .exit_code = -1,
    .bytes = UINT64_MAX,
    .snapshots = UINT64_MAX,
    .instructions = UINT64_MAX,
    .lines = UINT64_MAX,
    .text_bytes = UINT64_MAX,
    .input_tokens = UINT64_MAX,
    .output_tokens = UINT64_MAX,
    .cache_creation_tokens = UINT64_MAX,
    .cache_read_tokens = UINT64_MAX,
    .calls = UINT64_MAX,
    .branch_snapshot = UINT64_MAX,
    .branch_byte = UINT64_MAX,
    .turns = UINT64_MAX,
    .fork_turn = UINT64_MAX,
};

/* -- a row to and from SQLite -- */

static int
bind_column(sqlite3_stmt *stmt, int i, const struct column *c, const void *row)
{
    const void *field = (const char *)row + c->at;
    switch (c->kind) {
    case TEXT:
        return sqlite3_bind_text(stmt, i, *(const char *const *)field, -1, SQLITE_STATIC);
    case COUNT:
        return store_bind_u64(stmt, i, *(const uint64_t *)field, UINT64_MAX);
    case TIME:
        return store_bind_u64(stmt, i, *(const uint64_t *)field, 0);
    case SMALL:
        return sqlite3_bind_int64(stmt, i, *(const unsigned *)field);
    case EXIT_CODE:
        return *(const int *)field < 0 ? sqlite3_bind_null(stmt, i)
                                       : sqlite3_bind_int(stmt, i, *(const int *)field);
    case FLAG:
        return sqlite3_bind_int(stmt, i, *(const bool *)field);
    }
    return SQLITE_MISUSE;
}

static uint64_t
column_u64(sqlite3_stmt *stmt, int i, uint64_t unknown)
{
    if (sqlite3_column_type(stmt, i) != SQLITE_INTEGER)
        return unknown;
    int64_t v = sqlite3_column_int64(stmt, i);
    return v < 0 ? unknown : (uint64_t)v;
}

static void
read_column(sqlite3_stmt *stmt, int i, const struct column *c, void *row)
{
    void *field = (char *)row + c->at;
    uint64_t v = c->kind == TEXT ? 0 : column_u64(stmt, i, UINT64_MAX);
    switch (c->kind) {
    case TEXT:
        *(const char **)field = (const char *)sqlite3_column_text(stmt, i);
        break;
    case COUNT:
        *(uint64_t *)field = v;
        break;
    case TIME:
        *(uint64_t *)field = v == UINT64_MAX ? 0 : v;
        break;
    case SMALL:
        *(unsigned *)field = v > UINT_MAX ? 0 : (unsigned)v;
        break;
    case EXIT_CODE:
        *(int *)field = v > INT_MAX ? -1 : (int)v;
        break;
    case FLAG:
        *(bool *)field = v == 1;
        break;
    }
}

/* They become parts of paths. */
bool
store_is_id(const char *id)
{
    size_t n = 0;
    while (id && ((id[n] >= '0' && id[n] <= '9') || (id[n] >= 'a' && id[n] <= 'f') ||
                  id[n] == '-'))
        n++;
    return id && n == STORE_ID_LEN && !id[n];
}

int
store_bad_id(struct store *s, struct err *err)
{
    return store_damaged(s->path, "a session in it is called what none is called", err);
}

static int
read_row(struct store *s, sqlite3_stmt *stmt, struct store_session *ret, struct err *err)
{
    bool is_short = sqlite3_column_count(stmt) == SHORT_COLUMNS + 1;
    const struct column *c = is_short ? short_columns : columns;
    int count = is_short ? SHORT_COLUMNS : COLUMNS;
    *ret = store_session_unknown;
    for (int i = 0; i < count; i++)
        read_column(stmt, i + 1, &c[i], ret);
    if (sqlite3_errcode(s->db) == SQLITE_NOMEM)
        return store_fail(s, SQLITE_NOMEM, err);
    return store_is_id(ret->id) ? 0 : store_bad_id(s, err);
}

/* -- keys -- */

int64_t
store_key_of_start(uint64_t started_at_ns)
{
    uint64_t ms = started_at_ns / 1000000;
    return ms > (uint64_t)STORE_KEY_MAX ? STORE_KEY_MAX : (int64_t)ms;
}

/* 1 and the answer, 0 for no row. */
static int
ask(struct store *s, enum store_query which, int64_t key, int64_t *ret, struct err *err)
{
    sqlite3_stmt *stmt;
    int r = store_query(s, which, &stmt, err);
    if (r < 0)
        return r;
    sqlite3_bind_int64(stmt, 1, key);
    r = store_step(s, stmt, err);
    if (r > 0)
        *ret = sqlite3_column_int64(stmt, 0);
    sqlite3_reset(stmt);
    return r;
}

static int
free_key(struct store *s, int64_t *key, struct err *err)
{
    int64_t found = 0;
    int r = ask(s, QUERY_KEY_IS_TAKEN, *key, &found, err);
    if (r <= 0)
        return r;
    r = ask(s, QUERY_KEY_ABOVE, *key, &found, err);
    if (r > 0 && found > STORE_KEY_MAX)
        r = ask(s, QUERY_KEY_BELOW, STORE_KEY_MAX, &found, err);
    if (r < 0)
        return r;
    if (r == 0 || found < 0 || found > STORE_KEY_MAX)
        return store_damaged(s->path, "its sessions are out of order", err);
    *key = found;
    return 0;
}

/* The key of a session that is there: 1; 0: none. */
static int
find_key(struct store *s, const char *id, int64_t *ret_key, uint64_t *ret_start,
         struct err *err)
{
    sqlite3_stmt *stmt;
    int r = store_query(s, QUERY_SESSION_KEY, &stmt, err);
    if (r < 0)
        return r;
    if (sqlite3_bind_text(stmt, 1, id, -1, SQLITE_STATIC) != SQLITE_OK)
        return store_fail(s, SQLITE_NOMEM, err);
    r = store_step(s, stmt, err);
    if (r > 0) {
        *ret_key = sqlite3_column_int64(stmt, 0);
        *ret_start = column_u64(stmt, 1, 0);
    }
    sqlite3_reset(stmt);
    if (r > 0 && (*ret_key < 0 || *ret_key > STORE_KEY_MAX))
        return store_damaged(s->path, "its sessions are out of order", err);
    return r;
}

int
store_key(struct store *s, const char *id, int64_t *ret_key, struct err *err)
{
    uint64_t start;
    return find_key(s, id, ret_key, &start, err);
}

/* All that hangs on the key but the pieces, of which there are none. */
static int
move_rest(struct store *s, int64_t from, int64_t to, struct err *err)
{
    static const enum store_query queries[] = {
        QUERY_MOMENTS_MOVE,  QUERY_TURNS_MOVE,  QUERY_USAGE_MOVE,
        QUERY_MESSAGES_MOVE, QUERY_TOTALS_MOVE, QUERY_ARTIFACTS_MOVE
    };
    int r = 0;
    for (size_t i = 0; !r && i < sizeof(queries) / sizeof(queries[0]); i++) {
        sqlite3_stmt *stmt;
        r = store_query(s, queries[i], &stmt, err);
        if (r < 0)
            return r;
        int rc = sqlite3_bind_int64(stmt, 1, from);
        r = store_run(s, stmt, rc | sqlite3_bind_int64(stmt, 2, to), err);
    }
    return r;
}

/* Where its row goes. One that has pieces stays where they are. */
static int
choose_key(struct store *s, const struct store_session *row, int64_t *ret_key,
           struct err *err)
{
    int64_t old = 0, key = store_key_of_start(row->started_at_ns), any;
    uint64_t start = 0;
    int r = find_key(s, row->id, &old, &start, err);
    bool is_there = r > 0;
    if (is_there && store_key_of_start(start) != key)
        r = ask(s, QUERY_PIECES_ANY, old, &any, err);
    if (r < 0)
        return r;
    if (r > 0) {
        *ret_key = old;
        return 0;
    }
    r = free_key(s, &key, err);
    if (!r && is_there)
        r = move_rest(s, old, key, err);
    if (!r)
        *ret_key = key;
    return r;
}

/* -- sessions -- */

int
store_session_put(struct store *s, const struct store_session *row, int64_t *ret_key,
                  struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    int64_t key = 0;
    if (!store_is_id(row->id))
        return err_set(err, -EINVAL, "'%s' is no session's id", row->id ? row->id : "");
    int r = choose_key(s, row, &key, err);
    if (!r)
        r = store_query(s, QUERY_SESSION_PUT, &stmt, err);
    if (r < 0)
        return r;
    int rc = sqlite3_bind_int64(stmt, 1, key);
    for (int i = 0; i < COLUMNS; i++)
        rc |= bind_column(stmt, i + 2, &columns[i], row);
    r = store_run(s, stmt, rc, err);
    if (!r && ret_key)
        *ret_key = key;
    return r;
}

int
store_session_get(struct store *s, const char *id, store_session_fn fn, void *ctx,
                  struct err *err)
{
    sqlite3_stmt *stmt;
    struct store_session row;
    int r = store_query(s, QUERY_SESSION_GET, &stmt, err);
    if (r < 0)
        return r;
    if (sqlite3_bind_text(stmt, 1, id, -1, SQLITE_STATIC) != SQLITE_OK)
        return store_fail(s, SQLITE_NOMEM, err);
    r = store_step(s, stmt, err);
    if (r == 0)
        return err_set(err, ERR_MISSING, "session '%s' is not indexed", id);
    if (r > 0)
        r = read_row(s, stmt, &row, err);
    if (r == 0 && fn)
        r = fn(ctx, &row);
    sqlite3_reset(stmt);
    return r < 0 ? r : 0;
}

static int
walk_sessions(struct store *s, sqlite3_stmt *stmt, store_session_fn fn, void *ctx,
              struct err *err)
{
    struct store_session row;
    int64_t last = INT64_MAX;
    int r;
    while ((r = store_step(s, stmt, err)) > 0) {
        int64_t key = sqlite3_column_int64(stmt, 0);
        if (key >= last)
            r = store_damaged(s->path, "its sessions are out of order", err);
        else if ((r = read_row(s, stmt, &row, err)) == 0)
            r = fn(ctx, &row);
        if (r <= 0)
            break;
        last = key;
    }
    sqlite3_reset(stmt);
    return r;
}

int
store_sessions(struct store *s, const struct store_filter *filter, store_session_fn fn,
               void *ctx, struct err *err)
{
    static const struct store_filter any;
    const struct store_filter *f = filter ? filter : &any;
    sqlite3_stmt *stmt;
    enum store_query which = f->is_short ? QUERY_SESSIONS_SHORT
                             : f->name   ? QUERY_SESSIONS_NAMED
                                         : QUERY_SESSIONS;
    int r = store_query(s, which, &stmt, err);
    if (r < 0)
        return r;
    int64_t until = f->until_ns ? store_clamp(f->until_ns - 1) : INT64_MAX;
    int rc = sqlite3_bind_int64(stmt, 2, store_key_of_start(f->since_ns));
    rc |= f->name ? sqlite3_bind_text(stmt, 1, f->name, -1, SQLITE_STATIC) : SQLITE_OK;
    rc |= sqlite3_bind_text(stmt, 3, f->status, -1, SQLITE_STATIC);
    rc |= sqlite3_bind_int64(stmt, 4, store_clamp(f->since_ns));
    rc |= sqlite3_bind_int64(stmt, 5, until);
    if (rc != SQLITE_OK)
        return store_fail(s, SQLITE_NOMEM, err);
    return walk_sessions(s, stmt, fn, ctx, err);
}

int
store_ids(struct store *s, struct buf *ret, struct err *err)
{
    sqlite3_stmt *stmt;
    size_t had = ret->n;
    int r = store_query(s, QUERY_IDS, &stmt, err);
    if (r < 0)
        return r;
    while ((r = store_step(s, stmt, err)) > 0) {
        const char *id = (const char *)sqlite3_column_text(stmt, 0);
        const void *last = ret->n > had ? ret->p + ret->n - (STORE_ID_LEN + 1) : NULL;
        if (!store_is_id(id) || (last && strcmp(last, id) >= 0))
            r = store_bad_id(s, err);
        else if ((r = buf_append(ret, id, STORE_ID_LEN + 1)) < 0)
            r = err_code(err, r, "cannot read '%s'", s->path);
        if (r < 0)
            break;
    }
    sqlite3_reset(stmt);
    if (r < 0)
        ret->n = had;
    return r;
}

static int
walk_briefs(struct store *s, sqlite3_stmt *stmt, store_brief_fn fn, void *ctx,
            struct err *err)
{
    int r;
    while ((r = store_step(s, stmt, err)) > 0) {
        struct store_brief row = {
            .id = (const char *)sqlite3_column_text(stmt, 0),
            .name = (const char *)sqlite3_column_text(stmt, 1),
            .started_at_ns = column_u64(stmt, 2, 0),
        };
        r = store_is_id(row.id) ? fn(ctx, &row) : store_bad_id(s, err);
        if (r <= 0)
            break;
    }
    sqlite3_reset(stmt);
    return r;
}

int
store_briefs_of(struct store *s, const char *id_prefix, store_brief_fn fn, void *ctx,
                struct err *err)
{
    sqlite3_stmt *stmt;
    int r = store_query(s, QUERY_BRIEFS_OF, &stmt, err);
    if (r < 0)
        return r;
    if (sqlite3_bind_text(stmt, 1, id_prefix, -1, SQLITE_STATIC) != SQLITE_OK)
        return store_fail(s, SQLITE_NOMEM, err);
    return walk_briefs(s, stmt, fn, ctx, err);
}

int
store_briefs_named(struct store *s, const char *name, const char *mask, store_brief_fn fn,
                   void *ctx, struct err *err)
{
    sqlite3_stmt *stmt;
    int r = store_query(s, QUERY_BRIEFS_NAMED, &stmt, err);
    if (r < 0)
        return r;
    int rc = sqlite3_bind_text(stmt, 1, name, -1, SQLITE_STATIC);
    rc |= sqlite3_bind_text(stmt, 2, mask, -1, SQLITE_STATIC);
    if (rc != SQLITE_OK)
        return store_fail(s, SQLITE_NOMEM, err);
    return walk_briefs(s, stmt, fn, ctx, err);
}

int
store_delete_by_key(struct store *s, enum store_query which, int64_t key, struct err *err)
{
    sqlite3_stmt *stmt;
    int r = store_query(s, which, &stmt, err);
    return r < 0 ? r : store_run(s, stmt, sqlite3_bind_int64(stmt, 1, key), err);
}

int
store_session_delete(struct store *s, const char *id, struct err *err)
{
    static const enum store_query queries[] = {
        QUERY_MOMENTS_DELETE,   QUERY_TURNS_DELETE,  QUERY_USAGE_DELETE,
        QUERY_ARTIFACTS_DELETE, QUERY_PIECES_DELETE, QUERY_SESSION_DELETE,
    };
    int64_t key = 0;
    int r = store_key(s, id, &key, err);
    if (r <= 0)
        return r;
    r = store_messages_bequeath(s, key, err);
    for (size_t i = 0; !r && i < sizeof(queries) / sizeof(queries[0]); i++)
        r = store_delete_by_key(s, queries[i], key, err);
    return r;
}

/* -- snapshots and instructions -- */

int
store_moment_put(struct store *s, int64_t key, const struct store_moment *m,
                 struct err *err)
{
    sqlite3_stmt *stmt;
    int r = store_query(s, QUERY_MOMENT_PUT, &stmt, err);
    if (r < 0)
        return r;
    int rc = sqlite3_bind_int64(stmt, 1, key);
    rc |= sqlite3_bind_int(stmt, 2, (int)m->kind);
    rc |= sqlite3_bind_int64(stmt, 3, store_clamp(m->id));
    rc |= sqlite3_bind_int64(stmt, 4, store_clamp(m->ts_ns));
    rc |= sqlite3_bind_int64(stmt, 5, store_clamp(m->anchor_byte));
    rc |= store_bind_u64(stmt, 6, m->snapshot_id, UINT64_MAX);
    rc |= sqlite3_bind_text64(stmt, 7, (const char *)m->text.p, m->text.n, SQLITE_STATIC,
                              SQLITE_UTF8);
    rc |= sqlite3_bind_int(stmt, 8, m->is_delivered);
    return store_run(s, stmt, rc, err);
}
