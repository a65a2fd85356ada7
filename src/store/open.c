/* SPDX-License-Identifier: MIT */
/*
 * open.c -- the library opened, for reading or for changes.
 *
 * SQLite takes a log (-wal) that lies beside a database for its own, whoever wrote it. So
 * one beside no database is removed before a new one is made, and one of another library
 * beside ours shows by its identity: every change writes it again into one page, and none
 * into the other.
 */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "store/schema_priv.h"
#include "store/store_priv.h"

enum { MAKE_MS = 50 }; /* between two looks whether another has made it */

static int
check_identity(struct store *s, struct err *err)
{
    sqlite3_stmt *stmt;
    int r = store_query(s, QUERY_IDENTITY, &stmt, err);
    if (!r)
        r = store_step(s, stmt, err);
    if (r > 0)
        sqlite3_reset(stmt);
    if (r == 0)
        return store_damaged(s->path, "the log beside it is another library's", err);
    return r < 0 ? r : 0;
}

/* -- reading -- */

/* A folder that cannot be written to has no place for what SQLite wants beside a database
 * with a log. Nobody writes there: without locks, then. */
static int
connect_unwritable(struct store *s, struct err *err)
{
    AUTO(buf) wal = { 0 };
    struct stat st;
    if (buf_printf(&wal, "%s-wal", s->path) < 0)
        return err_code(err, -ENOMEM, "cannot open '%s'", s->path);
    store_disconnect(s);
    if (stat(buf_str(&wal), &st) < 0 || st.st_size == 0)
        return store_connect(s, "mode=ro&immutable=1", err);
    int r = store_connect(s, "mode=ro&vfs=unix-none", err);
    return r < 0 ? r : store_exec(s, "PRAGMA locking_mode = EXCLUSIVE", err);
}

static bool
is_in_unwritable_folder(const struct store *s)
{
    AUTO(buf) dir = { 0 };
    size_t n = file_dir_len(s->path);
    buf_append(&dir, n ? s->path : ".", n ? n : 1);
    return access(buf_str(&dir), W_OK) < 0 && (errno == EACCES || errno == EROFS);
}

/* Nor has a full disk. There others could write, unless we have it alone. */
static bool
is_alone_on_full_disk(struct store *s, int r)
{
    return r == -ENOSPC && s->lock_fd >= 0 && file_lock(s->lock_fd, false, 0) == 0;
}

static bool
can_do_unwritten(struct store *s, int r)
{
    return r < 0 && r != ERR_NEWER && r != ERR_DAMAGED && r != ERR_BUSY &&
           (is_in_unwritable_folder(s) || is_alone_on_full_disk(s, r));
}

/* What was tried in vain is not told when something else has served. */
static int
connect_for_reading(struct store *s, int64_t *ret_missing, struct err *err)
{
    struct err why = { 0 };
    int r = store_connect(s, "mode=rw", &why);
    if (!r)
        r = store_version(s, ret_missing, &why);
    if (can_do_unwritten(s, r)) {
        r = connect_unwritable(s, &why);
        if (!r)
            r = store_version(s, ret_missing, &why);
    }
    return r < 0 ? err_set(err, r, "%s", why.text) : 0;
}

static int
open_for_reading(struct store *s, struct err *err)
{
    int64_t missing = 0;
    int r = store_look(s->path, err);
    if (r == 0)
        return err_set(err, ERR_MISSING, "there is no '%s' yet", s->path);
    if (r > 0)
        r = store_lock(s, true, false, err);
    if (!r)
        r = connect_for_reading(s, &missing, err);
    if (!r && missing)
        return err_set(err, ERR_MISSING, "'%s' is of an older ahr", s->path);
    return r < 0 ? r : check_identity(s, err);
}

static int
peek(struct store *s, struct err *err)
{
    int64_t missing = 0;
    int r = store_look(s->path, err);
    if (r == 0)
        return err_set(err, ERR_MISSING, "there is no '%s' yet", s->path);
    if (r > 0)
        r = connect_unwritable(s, err);
    if (!r)
        r = store_version(s, &missing, err);
    if (!r && missing)
        return err_set(err, ERR_MISSING, "'%s' is of an older ahr", s->path);
    return r < 0 ? r : check_identity(s, err);
}

/* -- writing -- */

/* In the place of nothing, or of an empty file; whatever was the log of that goes. */
static int
make_fresh(struct store *s, struct err *err)
{
    AUTO(buf) path = { 0 };
    int r = buf_printf(&path, "%s.fresh", s->path);
    struct store *fresh = r < 0 ? NULL : store_new(buf_str(&path), true, s->wait_ms);
    if (!fresh)
        return err_code(err, -ENOMEM, "cannot make '%s'", s->path);
    r = store_make(fresh, err);
    if (!r)
        r = store_seal(fresh, err);
    if (!r)
        r = store_place(fresh->path, s->path, err);
    if (r < 0) {
        store_disconnect(fresh);
        (void)store_remove_beside(fresh->path, NULL);
        unlink(fresh->path);
    }
    store_close(fresh);
    return r;
}

/* Alone, as whoever had the one that is gone may have it open still. ERR_BUSY when others
 * have it: they may have made one meanwhile, and never all rest. */
static int
make_missing(struct store *s, struct err *err)
{
    const uint64_t deadline_ns = s->deadline_ns;
    uint64_t until_ns = clock_mono_ns() + MAKE_MS * UINT64_C(1000000);
    s->deadline_ns = until_ns < deadline_ns ? until_ns : deadline_ns;
    int r = store_lock(s, false, true, err);
    s->deadline_ns = deadline_ns;
    if (!r)
        r = store_look(s->path, err);
    if (r == 0)
        r = make_fresh(s, err);
    return r < 0 ? r : store_lock(s, true, true, err);
}

/* With the lock, shared. */
static int
find_or_make(struct store *s, struct err *err)
{
    for (;;) {
        int r = store_lock(s, true, true, err);
        if (!r)
            r = store_look(s->path, err);
        if (r == 0)
            r = make_missing(s, err);
        if (r != ERR_BUSY || clock_mono_ns() >= s->deadline_ns)
            return r < 0 ? r : 0;
    }
}

/* Nothing of a log that may be another's goes into the database before it is known. */
static int
connect_for_writing(struct store *s, int64_t *ret_missing, struct err *err)
{
    if (access(s->path, W_OK) < 0) /* SQLite would read it, then */
        return err_sys(err, "cannot write '%s'", s->path);
    int r = store_connect(s, "mode=rw", err);
    if (r < 0)
        return r;
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    return store_version(s, ret_missing, err);
}

static int
open_for_writing(struct store *s, struct err *err)
{
    int64_t missing = 0;
    int r = find_or_make(s, err);
    if (!r)
        r = connect_for_writing(s, &missing, err);
    if (!r && missing)
        r = store_migrate(s, store_schema_steps, err);
    if (!r)
        r = check_identity(s, err);
    if (!r)
        sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
    return r;
}

int
store_open(struct store **ret, const char *path, enum store_mode mode, unsigned wait_ms,
           struct err *err)
{
    struct store *s = store_new(path, mode == STORE_WRITE, wait_ms);
    if (!s)
        return err_code(err, -ENOMEM, "cannot open '%s'", path);
    int r = mode == STORE_PEEK   ? peek(s, err)
            : mode == STORE_READ ? open_for_reading(s, err)
                                 : open_for_writing(s, err);
    if (r < 0)
        store_close(s);
    else
        *ret = s;
    return r;
}
