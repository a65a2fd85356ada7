/* SPDX-License-Identifier: MIT */
/* whole.c -- the library as a whole: nothing left of what was deleted; is all of it well?
 */
#include "base/file.h"
#include "store/store_priv.h"

/* -- scrub -- */

/* The file into which SQLite copies what is to stay lies beside the library: there is as
 * much room as is needed at all. */
static int
vacuum(struct store *s, struct err *err)
{
    size_t n = file_dir_len(s->path);
    char *set = sqlite3_mprintf("PRAGMA temp_store_directory = '%.*q'", n ? (int)n : 1,
                                n ? s->path : ".");
    if (!set)
        return store_fail(s, SQLITE_NOMEM, err);
    store_enter(s);
    int r = store_exec(s, "PRAGMA temp_store = FILE", err);
    if (!r)
        r = store_exec(s, set, err);
    if (!r)
        r = store_exec(s, "VACUUM", err);
    (void)store_exec(s, "PRAGMA temp_store_directory = ''; PRAGMA temp_store = MEMORY;",
                     NULL);
    sqlite3_free(set);
    return r;
}

static int
empty_log(struct store *s, struct err *err)
{
    store_enter(s);
    int rc = sqlite3_wal_checkpoint_v2(s->db, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL,
                                       NULL);
    return rc == SQLITE_OK ? 0 : store_fail(s, rc, err);
}

/* Words that were deleted stay in their index until it is merged; rows that were moved
 * from page to page may have left copies behind, which only a rewrite of all finds. */
int
store_scrub(struct store *s, struct err *err)
{
    int r = store_begin(s, err);
    if (r < 0)
        return r;
    r = store_exec(s, "INSERT INTO words (words) VALUES ('optimize')", err);
    if (!r)
        r = store_commit(s, err);
    if (!r)
        r = vacuum(s, err);
    if (r < 0) {
        store_rollback(s);
        return r;
    }
    return empty_log(s, err);
}

/* -- check -- */

static int
check_pages(struct store *s, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(s->db, "PRAGMA integrity_check(1)", -1, &stmt, NULL);
    int r = rc == SQLITE_OK ? store_step(s, stmt, err) : store_fail(s, rc, err);
    const char *said = r > 0 ? (const char *)sqlite3_column_text(stmt, 0) : NULL;
    if (r >= 0)
        r = said && !strcmp(said, "ok")
                ? 0
                : store_damaged(s->path, "its pages do not fit together", err);
    sqlite3_finalize(stmt);
    return r;
}

static int
check_words(struct store *s, struct err *err)
{
    int r = store_begin(s, err); /* SQLite takes the question for a change */
    if (r < 0)
        return r;
    r = store_exec(s, "INSERT INTO words (words) VALUES ('integrity-check')", err);
    store_rollback(s);
    if (r == ERR_DAMAGED)
        return store_damaged(s->path, "its index of words is broken", err);
    return r;
}

static int
check_rows(struct store *s, struct err *err)
{
    static const struct {
        const char *sql, *what;
    } questions[] = {
        { "SELECT count(*) FROM pieces WHERE place >> 20 NOT IN (SELECT key FROM "
          "sessions)",
          "it has text of a session that it does not know" },
        { "SELECT count(*) FROM moments WHERE key NOT IN (SELECT key FROM sessions)",
          "it has snapshots of a session that it does not know" },
        { "SELECT count(*) FROM (SELECT key FROM turns UNION SELECT key FROM usage"
          " UNION SELECT key FROM messages UNION SELECT key FROM totals UNION SELECT key"
          " FROM artifacts) WHERE key NOT IN (SELECT key FROM sessions)",
          "it has turns of a session that it does not know" },
        { "SELECT count(*) FROM (SELECT message FROM messages WHERE counts AND message <>"
          " 0 GROUP BY message HAVING count(DISTINCT key) > 1)",
          "it counts a message twice" },
        { "SELECT count(*) FROM sessions WHERE length(id) <> 47 OR id GLOB "
          "'*[^0-9a-f-]*'",
          "a session in it is called what none is called" },
    };
    int64_t n = 0;
    int r = 0;
    for (size_t i = 0; !r && i < sizeof(questions) / sizeof(questions[0]); i++) {
        r = store_number(s, questions[i].sql, &n, err);
        if (!r && n)
            r = store_damaged(s->path, questions[i].what, err);
    }
    return r;
}

const char *
store_sqlite_version(void)
{
    return sqlite3_libversion();
}

int
store_check(struct store *s, struct err *err)
{
    store_enter(s);
    int r = check_pages(s, err);
    if (!r)
        r = check_rows(s, err);
    return r < 0 || !s->is_writer ? r : check_words(s, err);
}
