/* SPDX-License-Identifier: MIT */
/*
 * connect.c -- a connection to SQLite, and what holds in each: nothing in a database's
 * schema is run, sizes are checked, what is deleted is overwritten.
 *
 * Nothing is checkpointed when a reader leaves: that costs syncs, which are the writers'.
 */
#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "store/store_priv.h"

enum { VALUE_MAX = 128 << 20 }; /* of one text or blob */

struct store *
store_new(const char *path, bool is_writer, unsigned wait_ms)
{
    struct store *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->path = strdup(path);
    s->lock_fd = s->new_lock_fd = s->door_fd = -1;
    s->wait_ms = wait_ms;
    s->is_writer = is_writer;
    store_enter(s);
    if (!s->path) {
        free(s);
        return NULL;
    }
    return s;
}

void
store_enter(struct store *s)
{
    s->deadline_ns = clock_mono_ns() + s->wait_ms * UINT64_C(1000000);
}

static int
on_busy(void *ctx, int tries)
{
    struct store *s = ctx;
    return clock_back_off((unsigned)tries, s->deadline_ns);
}

/* A path may hold what a URI takes for something else. */
static int
put_uri(struct buf *b, const char *path, const char *params)
{
    buf_puts(b, "file:");
    for (const char *p = path; *p; p++)
        buf_printf(b, "%%%02x", (unsigned char)*p);
    return buf_printf(b, "?%s", params);
}

static void
configure(sqlite3 *db, bool is_writer)
{
    static const struct {
        int option, value;
    } settings[] = {
        { SQLITE_DBCONFIG_DEFENSIVE, 1 },      { SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
        { SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 }, { SQLITE_DBCONFIG_ENABLE_VIEW, 0 },
        { SQLITE_DBCONFIG_DQS_DDL, 0 },        { SQLITE_DBCONFIG_DQS_DML, 0 },
    };
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
        sqlite3_db_config(db, settings[i].option, settings[i].value, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !is_writer, NULL);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, VALUE_MAX);
    sqlite3_extended_result_codes(db, 1);
}

int
store_connect(struct store *s, const char *params, struct err *err)
{
    static const char all[] = "PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY;";
    static const char reader[] = "PRAGMA query_only = ON;";
    static const char writer[] =
        "PRAGMA secure_delete = ON; PRAGMA synchronous = NORMAL;"
        "PRAGMA cache_size = -16384; PRAGMA journal_size_limit = 67108864;"
        "PRAGMA wal_autocheckpoint = 4000;"; /* each waits for the disk */
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
    AUTO(buf) uri = { 0 };
    if (put_uri(&uri, s->path, params) < 0)
        return err_code(err, -ENOMEM, "cannot open '%s'", s->path);
    int rc = sqlite3_open_v2(buf_str(&uri), &s->db, flags, NULL);
    if (rc != SQLITE_OK)
        return store_fail(s, rc, err);
    configure(s->db, s->is_writer);
    sqlite3_busy_handler(s->db, on_busy, s);
    int r = store_exec(s, all, err);
    return r < 0 ? r : store_exec(s, s->is_writer ? writer : reader, err);
}

void
store_disconnect(struct store *s)
{
    for (size_t i = 0; i < QUERY_COUNT; i++) {
        sqlite3_finalize(s->made[i]);
        s->made[i] = NULL;
    }
    sqlite3_close(s->db);
    s->db = NULL;
}

void
store_close(struct store *s)
{
    if (!s)
        return;
    store_enter(s);
    store_rollback(s);
    store_disconnect(s);
    if (s->new_lock_fd >= 0) { /* it was never put in its place, or is there */
        (void)store_remove_beside(s->path, NULL);
        unlink(s->path);
    }
    store_unlock_new(s);
    store_close(s->old);
    store_unlock(s);
    free(s->path);
    free(s);
}
