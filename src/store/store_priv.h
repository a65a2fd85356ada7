/* SPDX-License-Identifier: MIT */
/*
 * store_priv.h -- a connection to library.db, and what the files of this folder do for
 * each other.
 *
 * Every call of store.h begins with store_enter(), from which its wait counts, or with
 * store_query(), which does that, too. Texts of SQL are here in the program alone; what
 * comes from outside is bound to them.
 */
#ifndef STORE_STORE_PRIV_H
#define STORE_STORE_PRIV_H

#include <sqlite3.h>

#include "store/store.h"

enum store_query {
    QUERY_TOUCH,
    QUERY_IDENTITY,
    QUERY_SESSION_PUT,
    QUERY_SESSION_GET,
    QUERY_SESSION_KEY,
    QUERY_SESSION_MOVE,
    QUERY_SESSION_DELETE,
    QUERY_SESSIONS,
    QUERY_SESSIONS_NAMED,
    QUERY_SESSIONS_SHORT,
    QUERY_IDS,
    QUERY_BRIEFS_OF,
    QUERY_BRIEFS_NAMED,
    QUERY_KEY_IS_TAKEN,
    QUERY_KEY_ABOVE,
    QUERY_KEY_BELOW,
    QUERY_MOMENT_PUT,
    QUERY_MOMENTS_MOVE,
    QUERY_MOMENTS_DELETE,
    QUERY_TURN_PUT,
    QUERY_TURNS_MOVE,
    QUERY_TURNS_DELETE,
    QUERY_MESSAGE_PUT,
    QUERY_MESSAGES_MOVE,
    QUERY_MESSAGES_DELETE,
    QUERY_MESSAGES_COUNT,
    QUERY_MESSAGES_LOSE,
    QUERY_MESSAGES_LOSERS,
    QUERY_MESSAGES_HEIRS,
    QUERY_MESSAGES_INHERIT,
    QUERY_MESSAGES_REPEATED,
    QUERY_TOTAL_PUT,
    QUERY_TOTALS_MOVE,
    QUERY_TOTALS_DELETE,
    QUERY_PEERS,
    QUERY_USAGE_MAKE,
    QUERY_USAGE_MOVE,
    QUERY_USAGE_DELETE,
    QUERY_USAGE_BY_DAY,
    QUERY_USAGE_BY_MODEL,
    QUERY_USAGE_BY_SESSION,
    QUERY_USAGE_BY_AGENT,
    QUERY_USAGE_BY_PROJECT,
    QUERY_ARTIFACT_PUT,
    QUERY_ARTIFACTS_MOVE,
    QUERY_ARTIFACTS_DELETE,
    QUERY_PIECE_PUT,
    QUERY_PIECE_DELETE,
    QUERY_PIECES_DELETE,
    QUERY_PIECES_ANY,
    QUERY_WORDS_PUT,
    QUERY_WORDS_DELETE,
    QUERY_PIECES,
    QUERY_PIECES_FOUND,
    QUERY_AGENTS,
    QUERY_ROLES,
    QUERY_TOOLS,
    QUERY_COUNT
};

struct store {
    sqlite3 *db;
    char *path;      /* as people are told */
    int lock_fd;     /* path.lock, held; -1: none */
    int new_lock_fd; /* path.lock of one that is made beside the library; -1: none */
    int door_fd;     /* path.door, barred; -1: not */
    unsigned wait_ms;
    uint64_t deadline_ns;
    bool is_writer;
    struct store *old; /* of one made beside the library: that, claimed; NULL: not yet */
    sqlite3_stmt *made[QUERY_COUNT];
};

/* Keys fit above the 20 bits of a piece's number: the year 2248. */
#define STORE_KEY_MAX ((INT64_C(1) << 43) - 1)

/* -- connect.c: a connection, and what holds in each -- */

/* Not connected yet; NULL without memory. */
struct store *store_new(const char *path, bool is_writer, unsigned wait_ms);
/* params: of an SQLite URI. */
int store_connect(struct store *s, const char *params, struct err *err);
void store_disconnect(struct store *s);
/* From now on until wait_ms have passed. */
void store_enter(struct store *s);

/* -- query.c: statements -- */

/* Ready to be bound; valid until the next call for the same. */
int store_query(struct store *s, enum store_query which, sqlite3_stmt **ret,
                struct err *err);
/* 1: a row, 0: the end, or an error; after these two the statement is reset. */
int store_step(struct store *s, sqlite3_stmt *stmt, struct err *err);
/* rc: of binds, or-ed. Binds failed: the error; else runs it to its end. */
int store_run(struct store *s, sqlite3_stmt *stmt, int rc, struct err *err);
/* Any number of statements without results. */
int store_exec(struct store *s, const char *sql, struct err *err);
/* The number that a PRAGMA says. */
int store_number(struct store *s, const char *sql, int64_t *ret, struct err *err);
/* Unsigned ones as SQLite has them: what is too large becomes the largest. */
int64_t store_clamp(uint64_t v);
/* NULL for one that is not known. */
int store_bind_u64(sqlite3_stmt *stmt, int i, uint64_t v, uint64_t unknown);

/* -- error.c: what went wrong, in our words -- */

int store_fail(struct store *s, int rc, struct err *err);
int store_damaged(const char *path, const char *what, struct err *err);

/* -- lock.c: who has the library open -- */

/* Opens path.lock where that is not done yet, and waits for it. is_needed false: goes
 * without where the folder cannot be written to. */
int store_lock(struct store *s, bool is_shared, bool is_needed, struct err *err);
/* The same alone, before whoever comes later. */
int store_lock_alone(struct store *s, struct err *err);
void store_unlock(struct store *s);
/* Whoever makes path has path.lock alone; it is removed by store_unlock_new(). */
int store_lock_new(struct store *s, struct err *err);
void store_unlock_new(struct store *s);

/* -- make.c: files -- */

/* Is there a library at path that is not empty? 1, 0, or an error for what can be none.
 */
int store_look(const char *path, struct err *err);
/* Removes path's log, journal and shared memory. */
int store_remove_beside(const char *path, struct err *err);
/* s: not connected. Makes its file anew, 0600, whatever was there, and connects. */
int store_make(struct store *s, struct err *err);
/* Disconnects so that all is in the one file, on the disk. */
int store_seal(struct store *s, struct err *err);

/* -- swap.c -- */

/* A sealed one takes the place of what is at `to`, whose log is removed. */
int store_place(const char *from, const char *to, struct err *err);

/* -- version.c -- */

/* Is it a library, and how many steps does it lack? ERR_NEWER for a newer one. */
int store_version(struct store *s, int64_t *ret_missing, struct err *err);
/* Brings it up to date by the steps that it lacks, all or none. */
int store_migrate(struct store *s, const char *const *steps, struct err *err);

/* -- session.c -- */

bool store_is_id(const char *id);
int store_bad_id(struct store *s, struct err *err);
int64_t store_key_of_start(uint64_t started_at_ns);
/* The key of a session that is there: 1; 0: none. */
int store_key(struct store *s, const char *id, int64_t *ret_key, struct err *err);
int store_delete_by_key(struct store *s, enum store_query which, int64_t key,
                        struct err *err);

/* -- usage.c -- */

/* Before a session goes: others count what they have of its messages. */
int store_messages_bequeath(struct store *s, int64_t key, struct err *err);

#endif
