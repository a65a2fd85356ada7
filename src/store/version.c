/* SPDX-License-Identifier: MIT */
/* version.c -- what kind of database lies there, and how an older one is brought up. */
#include <inttypes.h>
#include <sys/stat.h>

#include "store/schema_priv.h"
#include "store/store_priv.h"

static int64_t
count(const char *const *steps)
{
    int64_t n = 0;
    while (steps[n])
        n++;
    return n;
}

static int
check_version(struct store *s, int64_t version, int64_t known, struct err *err)
{
    if (version > known)
        return err_set(err, ERR_NEWER,
                       "'%s' was made by a newer ahr (version %" PRId64
                       ", this one knows "
                       "%" PRId64 "); 'ahr reindex' makes one for this ahr",
                       s->path, version, known);
    return version < 0 ? store_damaged(s->path, "its version is none", err) : 0;
}

/* SQLite takes what is missing of the last page for zeros. A page that was being written
 * stands whole in the log. */
static int
check_end(struct store *s, struct err *err)
{
    AUTO(buf) log = { 0 };
    struct stat st;
    int64_t page = 0;
    int r = store_number(s, "PRAGMA page_size", &page, err);
    if (r < 0 || page <= 0)
        return r;
    bool has_log = buf_printf(&log, "%s-wal", s->path) < 0 ||
                   (stat(buf_str(&log), &st) == 0 && st.st_size > 0);
    if (!has_log && stat(s->path, &st) == 0 && st.st_size % page)
        return store_damaged(s->path, "it ends inside of a page", err);
    return 0;
}

int
store_version(struct store *s, int64_t *ret_missing, struct err *err)
{
    int64_t kind = 0, version = 0, known = count(store_schema_steps);
    int r = store_number(s, "PRAGMA application_id", &kind, err);
    if (!r && kind != STORE_APPLICATION_ID)
        r = store_damaged(s->path, "it is no library of ahr", err);
    if (!r)
        r = check_end(s, err);
    if (!r)
        r = store_number(s, "PRAGMA user_version", &version, err);
    if (!r)
        r = check_version(s, version, known, err);
    if (!r)
        *ret_missing = known - version;
    return r;
}

/* In a change: others may have done it before we got there. */
static int
take_steps(struct store *s, const char *const *steps, struct err *err)
{
    char done[64];
    int64_t version = 0, known = count(steps);
    int r = store_number(s, "PRAGMA user_version", &version, err);
    if (!r)
        r = check_version(s, version, known, err);
    for (int64_t i = version; !r && i < known; i++)
        r = store_exec(s, steps[i], err);
    snprintf(done, sizeof(done), "PRAGMA user_version = %" PRId64, known);
    return r < 0 || version == known ? r : store_exec(s, done, err);
}

int
store_migrate(struct store *s, const char *const *steps, struct err *err)
{
    store_enter(s);
    int r = store_exec(s, "BEGIN IMMEDIATE", err);
    if (!r)
        r = take_steps(s, steps, err);
    if (!r)
        return store_commit(s, err);
    store_rollback(s);
    return r;
}
