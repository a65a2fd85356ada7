/* SPDX-License-Identifier: MIT */
/* piece.c -- the text in pieces, and the words under which they are found. */
#include <errno.h>

#include "store/store_priv.h"

static int64_t
place_of(int64_t key, uint32_t number)
{
    return key * STORE_PIECES_MAX + (int64_t)number;
}

static int
check_place(int64_t key, uint32_t number, struct err *err)
{
    if (key < 0 || key > STORE_KEY_MAX)
        return err_set(err, -EINVAL, "no session has the key %lld", (long long)key);
    if (number >= STORE_PIECES_MAX)
        return err_set(err, ERR_LIMIT, "a session has at most %d pieces of text",
                       STORE_PIECES_MAX);
    return 0;
}

static int
bind_bytes(sqlite3_stmt *stmt, int i, struct view v, bool is_text)
{
    const char *p = v.n ? (const char *)v.p : "";
    return is_text ? sqlite3_bind_text64(stmt, i, p, v.n, SQLITE_STATIC, SQLITE_UTF8)
                   : sqlite3_bind_blob64(stmt, i, p, v.n, SQLITE_STATIC);
}

static int
put(struct store *s, enum store_query which, int64_t place, struct view bytes,
    struct err *err)
{
    sqlite3_stmt *stmt;
    int r = store_query(s, which, &stmt, err);
    if (r < 0)
        return r;
    int rc = sqlite3_bind_int64(stmt, 1, place);
    rc |= bind_bytes(stmt, 2, bytes, which != QUERY_PIECE_PUT);
    return store_run(s, stmt, rc, err);
}

int
store_piece_put(struct store *s, const struct store_piece *piece, struct view words,
                struct err *err)
{
    int r = check_place(piece->key, piece->number, err);
    if (r < 0)
        return r;
    int64_t place = place_of(piece->key, piece->number);
    r = put(s, QUERY_PIECE_PUT, place, piece->packed, err);
    return r < 0 ? r : put(s, QUERY_WORDS_PUT, place, words, err);
}

/* To take words out of the index that are not in it would damage it. */
int
store_piece_remove(struct store *s, int64_t key, uint32_t number, struct view words,
                   struct err *err)
{
    sqlite3_stmt *stmt;
    int r = check_place(key, number, err);
    if (r < 0)
        return r;
    int64_t place = place_of(key, number);
    r = store_query(s, QUERY_PIECE_DELETE, &stmt, err);
    if (!r)
        r = store_run(s, stmt, sqlite3_bind_int64(stmt, 1, place), err);
    if (r < 0 || !sqlite3_changes(s->db))
        return r;
    return put(s, QUERY_WORDS_DELETE, place, words, err);
}

/* -- search -- */

/* How many digits; < 0: there is something else in it, too. */
static ssize_t
count_digits(struct view words)
{
    ssize_t n = 0;
    for (size_t i = 0; i < words.n; i++) {
        if (!words.p[i] || !strchr("0123456789abcdef ", words.p[i]))
            return -1;
        n += words.p[i] != ' ';
    }
    return n;
}

static int
walk_pieces(struct store *s, sqlite3_stmt *stmt, store_piece_fn fn, void *ctx,
            struct err *err)
{
    int64_t last = INT64_MAX;
    int r;
    while ((r = store_step(s, stmt, err)) > 0) {
        int64_t place = sqlite3_column_int64(stmt, 0);
        const void *packed = sqlite3_column_blob(stmt, 1);
        struct store_piece piece = {
            .key = place / STORE_PIECES_MAX, /* never below zero */
            .number = (uint32_t)(place % STORE_PIECES_MAX),
            .id = (const char *)sqlite3_column_text(stmt, 2),
            .packed = { packed, packed ? (size_t)sqlite3_column_bytes(stmt, 1) : 0 },
        };
        if (place >= last)
            r = store_damaged(s->path, "its texts are out of order", err);
        else if (!store_is_id(piece.id))
            r = store_bad_id(s, err);
        else
            r = fn(ctx, &piece);
        if (r <= 0)
            break;
        last = place;
    }
    sqlite3_reset(stmt);
    return r;
}

/* The places of what may be found: of one session, or of those from a time on. 1; 0: of
 * none. */
static int
range(struct store *s, const struct store_search *search, int64_t *first, int64_t *last,
      struct err *err)
{
    *first = place_of(store_key_of_start(search->since_ns), 0);
    *last = INT64_MAX;
    if (!search->id)
        return 1;
    int64_t key = 0;
    int r = store_key(s, search->id, &key, err);
    if (r > 0) {
        *first = place_of(key, 0);
        *last = place_of(key, STORE_PIECES_MAX - 1);
    }
    return r;
}

int
store_pieces(struct store *s, const struct store_search *search, store_piece_fn fn,
             void *ctx, struct err *err)
{
    sqlite3_stmt *stmt;
    int64_t first, last;
    ssize_t digits = count_digits(search->words);
    if (digits < 0)
        return err_set(err, -EINVAL, "what is looked for in '%s' is not words", s->path);
    int r = range(s, search, &first, &last, err);
    if (r <= 0)
        return r;
    r = store_query(s, digits ? QUERY_PIECES_FOUND : QUERY_PIECES, &stmt, err);
    if (r < 0)
        return r;
    int rc = sqlite3_bind_int64(stmt, 1, first);
    rc |= sqlite3_bind_int64(stmt, 2, last);
    rc |= sqlite3_bind_int64(stmt, 3, store_clamp(search->since_ns));
    rc |= sqlite3_bind_text(stmt, 4, search->agent, -1, SQLITE_STATIC);
    rc |= sqlite3_bind_text(stmt, 5, search->role, -1, SQLITE_STATIC);
    if (digits)
        rc |= bind_bytes(stmt, 6, search->words, true);
    if (rc != SQLITE_OK)
        return store_fail(s, SQLITE_NOMEM, err);
    return walk_pieces(s, stmt, fn, ctx, err);
}

/* -- words that filters may have -- */

int
store_words(struct store *s, enum store_word which, store_word_fn fn, void *ctx,
            struct err *err)
{
    static const enum store_query queries[] = {
        [STORE_AGENT] = QUERY_AGENTS,
        [STORE_ROLE] = QUERY_ROLES,
        [STORE_TOOL] = QUERY_TOOLS,
    };
    sqlite3_stmt *stmt;
    int r = store_query(s, queries[which], &stmt, err);
    if (r < 0)
        return r;
    while ((r = store_step(s, stmt, err)) > 0) {
        const char *word = (const char *)sqlite3_column_text(stmt, 0);
        r = word ? fn(ctx, word) : 1;
        if (r <= 0)
            break;
    }
    sqlite3_reset(stmt);
    return r;
}
