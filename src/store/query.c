/* SPDX-License-Identifier: MIT */
/* query.c -- what is asked of SQLite: each text once, made ready when it is first asked.
 */
#include <assert.h>

#include "store/columns_priv.h"
#include "store/store_priv.h"
#include "store/usage_priv.h"

#define RANGE " BETWEEN ?1 << 20 AND (?1 << 20) + 1048575"
#define SESSION_FITS                                   \
    " AND coalesce(s.started_at_ns, 0) >= ?3"          \
    " AND (?4 IS NULL OR s.agent = ?4 COLLATE NOCASE)" \
    " AND (?5 IS NULL OR s.role = ?5 COLLATE NOCASE)"

/* Named in order of key, so that the newest are met first and no more are read than are
 * asked for. What belongs to no piece or session is passed over. */
static const char *const texts[QUERY_COUNT] = {
    [QUERY_TOUCH] = "UPDATE library SET changes = changes + 1",
    [QUERY_IDENTITY] = "SELECT 1 FROM library JOIN mark USING (identity)",
    [QUERY_SESSION_PUT] = "INSERT OR REPLACE INTO sessions (key, " STORE_COLUMNS
                          ") VALUES (?1, " STORE_MARKS ")",
    [QUERY_SESSION_GET] = "SELECT key, " STORE_COLUMNS " FROM sessions WHERE id = ?1",
    [QUERY_SESSION_KEY] = "SELECT key, started_at_ns FROM sessions WHERE id = ?1",
    [QUERY_SESSION_MOVE] = "UPDATE sessions SET key = ?2 WHERE key = ?1",
    [QUERY_SESSION_DELETE] = "DELETE FROM sessions WHERE key = ?1",
    [QUERY_SESSIONS] = "SELECT key, " STORE_COLUMNS " FROM sessions"
                       " WHERE key >= ?2 AND (?3 IS NULL OR status = ?3)"
                       " AND coalesce(started_at_ns, 0) BETWEEN ?4 AND ?5"
                       " ORDER BY key DESC",
    [QUERY_SESSIONS_NAMED] = "SELECT key, " STORE_COLUMNS " FROM sessions"
                             " WHERE name = ?1 AND key >= ?2"
                             " AND (?3 IS NULL OR status = ?3)"
                             " AND coalesce(started_at_ns, 0) BETWEEN ?4 AND ?5"
                             " ORDER BY key DESC",
    [QUERY_SESSIONS_SHORT] = "SELECT key, " STORE_SHORT_COLUMNS " FROM sessions"
                             " WHERE (?1 IS NULL OR name = ?1) AND key >= ?2"
                             " AND (?3 IS NULL OR status = ?3)"
                             " AND coalesce(started_at_ns, 0) BETWEEN ?4 AND ?5"
                             " ORDER BY key DESC",
    [QUERY_IDS] = "SELECT id FROM sessions ORDER BY id",
    [QUERY_BRIEFS_OF] = "SELECT id, name, started_at_ns FROM sessions"
                        " WHERE id BETWEEN ?1 AND ?1 || 'g'",
    [QUERY_BRIEFS_NAMED] = "SELECT id, name, started_at_ns FROM sessions"
                           " INDEXED BY sessions_name WHERE name IS NOT NULL"
                           " AND (name = ?1 OR instr(name, ?2))",
    [QUERY_KEY_IS_TAKEN] = "SELECT 1 FROM sessions WHERE key = ?1",
    [QUERY_KEY_ABOVE] =
        "SELECT key + 1 FROM sessions AS s WHERE key >= ?1 AND NOT EXISTS"
        " (SELECT 1 FROM sessions WHERE key = s.key + 1) ORDER BY key LIMIT 1",
    [QUERY_KEY_BELOW] =
        "SELECT key - 1 FROM sessions AS s WHERE key <= ?1 AND NOT EXISTS"
        " (SELECT 1 FROM sessions WHERE key = s.key - 1) ORDER BY key DESC LIMIT 1",
    [QUERY_MOMENT_PUT] =
        "INSERT INTO moments (key, kind, id, ts_ns, anchor_byte, snapshot_id, text,"
        " delivered) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    [QUERY_MOMENTS_MOVE] = "UPDATE moments SET key = ?2 WHERE key = ?1",
    [QUERY_MOMENTS_DELETE] = "DELETE FROM moments WHERE key = ?1",
    [QUERY_TURN_PUT] =
        "INSERT INTO turns (key, number, ts_ns, iteration, type, role, name, call,"
        " text_bytes, failed) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    [QUERY_TURNS_MOVE] = "UPDATE turns SET key = ?2 WHERE key = ?1",
    [QUERY_TURNS_DELETE] = "DELETE FROM turns WHERE key = ?1",
    [QUERY_MESSAGE_PUT] =
        "INSERT INTO messages (key, message, model, day, trust, counts, " STORE_TOKENS
        ", span, is_extra, caller) VALUES (?1, ?2, ?3, ?4, ?5, 0, ?6, ?7, ?8, ?9, ?10,"
        " ?11, ?12, ?13, ?14)",
    [QUERY_MESSAGES_MOVE] = "UPDATE messages SET key = ?2 WHERE key = ?1",
    [QUERY_MESSAGES_DELETE] = "DELETE FROM messages WHERE key = ?1",
    [QUERY_MESSAGES_COUNT] = "UPDATE messages AS m SET counts = 1 WHERE key = ?1"
                             " AND (message = 0 OR key = " STORE_OWNER ")",
    [QUERY_MESSAGES_LOSERS] = "SELECT DISTINCT o.key FROM messages AS m"
                              " CROSS JOIN messages AS o ON o.message = m.message"
                              " WHERE m.key = ?1 AND m.message <> 0 AND m.counts"
                              " AND o.key <> ?1 AND o.message <> 0 AND o.counts",
    [QUERY_MESSAGES_LOSE] = "UPDATE messages SET counts = 0 WHERE key = ?2"
                            " AND message IN " STORE_ITS_MESSAGES,
    [QUERY_MESSAGES_HEIRS] = "SELECT DISTINCT " STORE_HEIR " FROM messages AS m"
                             " WHERE m.key = ?1 AND m.message <> 0 AND m.counts",
    [QUERY_MESSAGES_INHERIT] = "UPDATE messages AS m SET counts = 1 WHERE key = ?2"
                               " AND message IN " STORE_ITS_MESSAGES
                               " AND key = " STORE_HEIR,
    [QUERY_MESSAGES_REPEATED] = "SELECT count(DISTINCT message) FROM messages"
                                " WHERE key = ?1 AND NOT counts AND NOT is_extra",
    [QUERY_TOTAL_PUT] =
        "INSERT OR IGNORE INTO totals (thread, total, key, is_history, model, day,"
        " input_tokens, output_tokens, cache_creation_tokens, cache_read_tokens, calls)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    [QUERY_TOTALS_MOVE] = "UPDATE totals SET key = ?2 WHERE key = ?1",
    [QUERY_TOTALS_DELETE] = "DELETE FROM totals WHERE key = ?1",
    [QUERY_PEERS] = STORE_PEERS,
    [QUERY_USAGE_MAKE] = "INSERT INTO usage (key, model, day, " STORE_TOKENS
                         ") SELECT ?1, model, day" STORE_SUMS " FROM (" STORE_WHAT_COUNTS
                         ") AS u GROUP BY model, day",
    [QUERY_USAGE_MOVE] = "UPDATE usage SET key = ?2 WHERE key = ?1",
    [QUERY_USAGE_DELETE] = "DELETE FROM usage WHERE key = ?1",
    [QUERY_USAGE_BY_DAY] = STORE_USAGE_BY("NULL, u.day, NULL, NULL",
                                          "u.day, u.model, s.agent", "u.day"),
    [QUERY_USAGE_BY_MODEL] = STORE_USAGE_BY("u.model, NULL, NULL, NULL",
                                            "u.model, s.agent", "u.model"),
    /* As the table lies, so that nothing is sorted. */
    [QUERY_USAGE_BY_SESSION] = STORE_USAGE_BY("s.id, NULL, s.name, s.started_at_ns",
                                              "u.key, u.model",
                                              "u.key DESC, u.model DESC"),
    [QUERY_USAGE_BY_AGENT] = STORE_USAGE_BY("s.agent, NULL, NULL, NULL",
                                            "s.agent, u.model", "s.agent"),
    [QUERY_USAGE_BY_PROJECT] = STORE_USAGE_BY(STORE_PROJECT ", NULL, NULL, NULL",
                                              STORE_PROJECT ", u.model, s.agent",
                                              STORE_PROJECT),
    [QUERY_ARTIFACT_PUT] = "INSERT INTO artifacts (key, turn, path, action, ts_ns)"
                           " VALUES (?1, ?2, ?3, ?4, ?5)",
    [QUERY_ARTIFACTS_MOVE] = "UPDATE artifacts SET key = ?2 WHERE key = ?1",
    [QUERY_ARTIFACTS_DELETE] = "DELETE FROM artifacts WHERE key = ?1",
    [QUERY_PIECE_PUT] = "INSERT INTO pieces (place, packed) VALUES (?1, ?2)",
    [QUERY_PIECE_DELETE] = "DELETE FROM pieces WHERE place = ?1",
    [QUERY_PIECES_DELETE] = "DELETE FROM pieces WHERE place" RANGE,
    [QUERY_PIECES_ANY] = "SELECT 1 FROM pieces WHERE place" RANGE " LIMIT 1",
    [QUERY_WORDS_PUT] = "INSERT INTO words (rowid, grams) VALUES (?1, ?2)",
    [QUERY_WORDS_DELETE] =
        "INSERT INTO words (words, rowid, grams) VALUES ('delete', ?1, ?2)",
    [QUERY_PIECES] = "SELECT place, packed, s.id FROM pieces"
                     " CROSS JOIN sessions AS s ON s.key = place >> 20"
                     " WHERE place BETWEEN ?1 AND ?2" SESSION_FITS " ORDER BY place DESC",
    [QUERY_PIECES_FOUND] = "SELECT w.rowid, p.packed, s.id FROM words AS w"
                           " CROSS JOIN sessions AS s ON s.key = w.rowid >> 20"
                           " CROSS JOIN pieces AS p ON p.place = w.rowid"
                           " WHERE w.rowid BETWEEN ?1 AND ?2" SESSION_FITS
                           " AND w.words MATCH ?6 ORDER BY w.rowid DESC",
    [QUERY_AGENTS] = "SELECT DISTINCT agent FROM sessions WHERE agent IS NOT NULL"
                     " ORDER BY agent",
    [QUERY_ROLES] = "SELECT DISTINCT role FROM sessions WHERE role IS NOT NULL"
                    " ORDER BY role",
    /* From one name to the next: there may be millions of turns. */
    [QUERY_TOOLS] =
        "WITH RECURSIVE names (name) AS ("
        "SELECT * FROM (SELECT name FROM turns WHERE name IS NOT NULL ORDER BY name"
        " LIMIT 1) UNION ALL SELECT (SELECT t.name FROM turns AS t WHERE t.name IS NOT"
        " NULL AND t.name > names.name ORDER BY t.name LIMIT 1) FROM names"
        " WHERE names.name IS NOT NULL)"
        " SELECT name FROM names WHERE EXISTS (SELECT 1 FROM turns AS t WHERE t.name ="
        " names.name AND t.type IN ('tool_call', 'tool_result'))",
};

int
store_query(struct store *s, enum store_query which, sqlite3_stmt **ret, struct err *err)
{
    store_enter(s);
    if (!s->made[which]) {
        int rc = sqlite3_prepare_v3(s->db, texts[which], -1, SQLITE_PREPARE_PERSISTENT,
                                    &s->made[which], NULL);
        if (rc != SQLITE_OK)
            return store_fail(s, rc, err);
    }
    assert(!sqlite3_stmt_busy(s->made[which])); /* a walk inside of the same walk */
    sqlite3_clear_bindings(s->made[which]);
    *ret = s->made[which];
    return 0;
}

int
store_step(struct store *s, sqlite3_stmt *stmt, struct err *err)
{
    int rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW)
        return 1;
    int r = rc == SQLITE_DONE ? 0 : store_fail(s, rc, err);
    sqlite3_reset(stmt);
    return r;
}

int
store_run(struct store *s, sqlite3_stmt *stmt, int rc, struct err *err)
{
    if (rc != SQLITE_OK)
        return store_fail(s, sqlite3_errcode(s->db), err);
    int r = store_step(s, stmt, err);
    if (r > 0)
        sqlite3_reset(stmt);
    return r;
}

int
store_exec(struct store *s, const char *sql, struct err *err)
{
    int rc = sqlite3_exec(s->db, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? 0 : store_fail(s, rc, err);
}

int
store_number(struct store *s, const char *sql, int64_t *ret, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(s->db, sql, -1, &stmt, NULL);
    int r = rc == SQLITE_OK ? store_step(s, stmt, err) : store_fail(s, rc, err);
    if (r > 0)
        *ret = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    if (r == 0)
        return store_damaged(s->path, "it does not say what it is", err);
    return r < 0 ? r : 0;
}

int64_t
store_clamp(uint64_t v)
{
    return v > INT64_MAX ? INT64_MAX : (int64_t)v;
}

int
store_bind_u64(sqlite3_stmt *stmt, int i, uint64_t v, uint64_t unknown)
{
    return v == unknown ? sqlite3_bind_null(stmt, i)
                        : sqlite3_bind_int64(stmt, i, store_clamp(v));
}

/* -- a change -- */

int
store_begin(struct store *s, struct err *err)
{
    sqlite3_stmt *touch = NULL;
    store_enter(s);
    int r = store_exec(s, "BEGIN IMMEDIATE", err);
    if (!r)
        r = store_query(s, QUERY_TOUCH, &touch, err);
    if (!r)
        r = store_run(s, touch, SQLITE_OK, err);
    if (r < 0)
        store_rollback(s);
    return r;
}

int
store_commit(struct store *s, struct err *err)
{
    store_enter(s);
    int r = store_exec(s, "COMMIT", err);
    if (r < 0)
        store_rollback(s);
    return r;
}

int
store_begin_read(struct store *s, struct err *err)
{
    store_enter(s);
    return store_exec(s, "BEGIN", err);
}

void
store_rollback(struct store *s)
{
    if (s->db && !sqlite3_get_autocommit(s->db))
        (void)store_exec(s, "ROLLBACK", NULL);
}
