/* SPDX-License-Identifier: MIT */
/*
 * find.c -- from what a person calls a session to its recording.
 *
 * Of those that are not in the index, ids begin with the day, so that only the metas of
 * one day are read for `last`, and those from the newest day down to the first that fits
 * for a name.
 */
#include "library/find.h"

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>

#include "journal/project.h"
#include "library/ids_priv.h"
#include "library/index.h"
#include "redact/redact.h"
#include "session/folder.h"
#include "session/home.h"
#include "session/meta.h"

#define NO_SESSION "no session or file '%s'; 'ahr list' lists the sessions"

enum {
    DAY_LEN = sizeof("YYYY-MM-DD") - 1,
    NAMED_MAX = 4, /* sessions in a message */
    UUID_AT = DAY_LEN + 1,
    UUID_PREFIX_MIN = 4,
};

void
library_found_release(struct library_found *f)
{
    buf_release(&f->tape_path);
    buf_release(&f->meta_path);
}

static bool
is_folder(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool
is_link(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

/* -- a session by its id -- */

/* Where it lies; it may be moved from live/ to sessions/ at any time. False: nowhere. */
static bool
locate(const char *home, const char *id, struct buf *ret_dir, bool *ret_is_live)
{
    static const char *const kinds[] = { "sessions", "live", "sessions" };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        buf_clear(ret_dir);
        buf_printf(ret_dir, "%s/%s/%s", home, kinds[i], id);
        *ret_is_live = i == 1;
        if (!ret_dir->failed && is_folder(buf_str(ret_dir)))
            return true;
    }
    return false;
}

static int
find_id(struct library_found *ret, const char *home, const char *id, struct err *err)
{
    AUTO(buf) dir = { .ceiling = PATH_MAX };
    if (!locate(home, id, &dir, &ret->is_live)) {
        if (!dir.failed && is_link(buf_str(&dir)))
            return err_set(err, ERR_MISSING,
                           "'%s' is a link: what it leads to is no session of this "
                           "library, and is left alone",
                           buf_str(&dir));
        buf_clear(&dir);
        if (buf_printf(&dir, "%s/damaged/%s", home, id) == 0 && is_folder(buf_str(&dir)))
            return err_set(err, ERR_MISSING,
                           "nothing of session '%s' can be read: see '%s'", id,
                           buf_str(&dir));
        return err_set(err, ERR_MISSING, "no session '%s'", id);
    }
    int r = session_folder_paths(buf_str(&dir), &ret->tape_path, &ret->meta_path);
    if (r == ERR_DAMAGED)
        return err_set(err, r, "'%s/out-file' names no file", buf_str(&dir));
    if (r < 0)
        return err_code(err, r, "cannot look into '%s'", buf_str(&dir));
    memcpy(ret->id, id, SESSION_ID_LEN + 1);
    ret->is_encrypted = !ret->is_live && session_folder_is_encrypted(home, id);
    return 0;
}

int
library_refuse_encrypted(const char *what, struct err *err)
{
    return err_set(err, -EACCES,
                   "session '%s' is encrypted; 'ahr decrypt %s' makes it readable", what,
                   what);
}

/* False when there are none that can be read. */
static bool
read_facts(const char *home, const char *id, struct session_facts *ret)
{
    AUTO(buf) dir = { .ceiling = PATH_MAX };
    AUTO(buf) tape = { 0 };
    AUTO(buf) meta = { 0 };
    bool is_live;
    return locate(home, id, &dir, &is_live) &&
           session_folder_paths(buf_str(&dir), &tape, &meta) == 0 &&
           session_meta_read(buf_str(&meta), ret, NULL) == 0;
}

/* -- by name, prefix, or `last` -- */

static int
collect(struct buf *ids, const char *home, const char *prefix, struct err *err)
{
    /* In this order: one that ends meanwhile moves from the first to the second. */
    int r = ids_collect(ids, home, "live", prefix);
    if (!r)
        r = ids_collect(ids, home, "sessions", prefix);
    return r < 0 ? err_code(err, r, "cannot list the sessions in '%s'", home) : 0;
}

/* The one that began last, of the newest day that has any. */
struct newest {
    const char *home;
    const char *name; /* NULL: whatever it is called */
    bool is_by_files; /* the index is not asked */
    char id[SESSION_ID_LEN + 1];
    uint64_t started_at_ns;
    struct ids_set stored; /* those of which the index has told are marked */
};

static void
consider(struct newest *n, const char *id, uint64_t started_at_ns)
{
    uint64_t start_ns = started_at_ns ? started_at_ns : ids_day_ns(id);
    int day = *n->id ? strncmp(id, n->id, DAY_LEN) : 1;
    bool is_newer = day                            ? day > 0
                    : start_ns != n->started_at_ns ? start_ns > n->started_at_ns
                                                   : strcmp(id, n->id) > 0;
    if (!is_newer)
        return;
    memcpy(n->id, id, sizeof(n->id));
    n->started_at_ns = start_ns;
}

static bool
is_called(const struct newest *n, const char *name)
{
    return !n->name || (name && *name && !strcmp(name, n->name));
}

/* A store_brief_fn. Gone ones do not count; a name that is masked there is told by the
 * files alone. */
static int
look_at_row(void *ctx, const struct store_brief *row)
{
    struct newest *n = ctx;
    size_t at = ids_set_find(&n->stored, row->id);
    if (at == SIZE_MAX)
        return 1;
    if (n->name && row->name && redact_has_mask(row->name, strlen(row->name)))
        n->stored.is_marked[at] = false;
    else if (is_called(n, row->name))
        consider(n, ids_at(n->stored.ids, at), row->started_at_ns);
    return 1;
}

/* The newest day of those that are marked; false: none is. */
static bool
find_day(const struct newest *n, char ret[DAY_LEN + 1])
{
    const char *best = NULL;
    for (size_t i = 0; i < ids_count(n->stored.ids); i++) {
        const char *id = ids_at(n->stored.ids, i);
        if (n->stored.is_marked[i] && (!best || strncmp(id, best, DAY_LEN) > 0))
            best = id;
    }
    if (best)
        memcpy(ret, best, DAY_LEN);
    ret[DAY_LEN] = 0;
    return best;
}

static int
look_at_rows(struct newest *n, struct store *store, struct err *why)
{
    AUTO(buf) ids = { 0 };
    char day[DAY_LEN + 1];
    int r = store_begin_read(store, why);
    if (!r)
        r = store_ids(store, &ids, why);
    if (r < 0)
        return r;
    (void)ids_set_mark(&n->stored, &ids);
    if (n->name)
        return store_briefs_named(store, n->name, REDACT_MASK, look_at_row, n, why);
    return find_day(n, day) ? store_briefs_of(store, day, look_at_row, n, why) : 0;
}

static int
look_into_index(struct newest *n, struct err *why)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    struct store *store;
    int r = library_db_path(n->home, &path);
    if (r < 0)
        return err_code(why, r, "cannot open '%s/library.db'", n->home);
    r = store_open(&store, buf_str(&path), STORE_READ, LIBRARY_WAIT_LOOK_MS, why);
    if (r < 0)
        return r;
    r = look_at_rows(n, store, why);
    store_close(store);
    return r;
}

/* ids: sorted. */
static void
look_into_folders(struct newest *n, const struct buf *ids)
{
    for (size_t i = ids_count(ids); i-- > 0;) {
        const char *id = ids_at(ids, i);
        struct session_facts facts = { 0 };
        if (*n->id && strncmp(id, n->id, DAY_LEN) < 0)
            break;
        bool is_read = read_facts(n->home, id, &facts);
        if (!n->name || (is_read && is_called(n, facts.name)))
            consider(n, id, facts.started_at_ns);
    }
}

/* Appends those of the stored ones that are not marked. */
static int
add_unmarked(const struct newest *n, struct buf *ids)
{
    int r = 0;
    for (size_t i = 0; !r && i < ids_count(n->stored.ids); i++)
        if (!n->stored.is_marked[i])
            r = buf_append(ids, ids_at(n->stored.ids, i), IDS_STEP);
    return r;
}

static int
look(struct newest *n, struct err *why)
{
    AUTO(buf) stored = { 0 };
    AUTO(buf) rest = { 0 };
    /* In this order: one that ends meanwhile moves from the first to the second. */
    int r = ids_collect(&rest, n->home, "live", "");
    if (!r)
        r = ids_collect(&stored, n->home, "sessions", "");
    if (!r)
        r = ids_set_init(&n->stored, &stored);
    if (!r && stored.n && !n->is_by_files && look_into_index(n, why) < 0) {
        memset(n->stored.is_marked, 0, ids_count(&stored));
        *n->id = 0;
    }
    if (!r)
        r = add_unmarked(n, &rest);
    if (!r) {
        ids_sort(&rest);
        look_into_folders(n, &rest);
    }
    ids_set_release(&n->stored);
    return r;
}

static int
find_newest(struct library_found *ret, const char *home, const char *name,
            bool is_by_files, struct err *err)
{
    struct newest n = { .home = home, .name = name, .is_by_files = is_by_files };
    int r = look(&n, &ret->why);
    if (r < 0)
        return err_code(err, r, "cannot list the sessions in '%s'", home);
    if (*n.id)
        return find_id(ret, home, n.id, err);
    if (name)
        return err_set(err, ERR_MISSING, NO_SESSION, name);
    return err_set(err, ERR_MISSING, "there is no session in '%s' yet", home);
}

static int
tell_several(const struct buf *ids, const char *prefix, struct err *err)
{
    AUTO(buf) list = { 0 };
    size_t count = ids_count(ids), named = count < NAMED_MAX ? count : NAMED_MAX;
    for (size_t i = 0; i < named; i++)
        buf_printf(&list, "%s'%s'", i ? ", " : "", ids_at(ids, i));
    if (count > named)
        buf_printf(&list, " and %zu more", count - named);
    return err_set(err, ERR_USAGE, "several sessions begin with '%s': %s", prefix,
                   buf_str(&list));
}

static int
find_prefix(struct library_found *ret, const char *home, const char *prefix,
            bool is_by_files, struct err *err)
{
    AUTO(buf) ids = { 0 };
    int r = collect(&ids, home, prefix, err);
    if (r < 0)
        return r;
    ids_sort(&ids);
    if (!ids_count(&ids))
        return find_newest(ret, home, prefix, is_by_files, err); /* others named it */
    return ids_count(&ids) > 1 ? tell_several(&ids, prefix, err)
                               : find_id(ret, home, ids_at(&ids, 0), err);
}

/* By the beginning of its UUID, which is shorter to type than a date. */
static int
find_uuid(struct library_found *ret, const char *home, const char *prefix,
          struct err *err)
{
    AUTO(buf) ids = { 0 };
    AUTO(buf) fitting = { 0 };
    size_t n = strlen(prefix);
    int r = collect(&ids, home, "", err);
    for (size_t i = 0; !r && i < ids_count(&ids); i++)
        if (!strncmp(ids_at(&ids, i) + UUID_AT, prefix, n))
            r = buf_append(&fitting, ids_at(&ids, i), IDS_STEP);
    if (r < 0)
        return err_code(err, r, "cannot list the sessions in '%s'", home);
    ids_sort(&fitting);
    if (ids_count(&fitting) > 1)
        return tell_several(&fitting, prefix, err);
    if (!fitting.n)
        return err_set(err, ERR_MISSING, NO_SESSION, prefix);
    return find_id(ret, home, ids_at(&fitting, 0), err);
}

bool
library_find_run(const char *name, char ret_id[SESSION_ID_LEN + 1])
{
    AUTO(buf) dir = { .ceiling = PATH_MAX };
    AUTO(buf) id = { 0 };
    if (journal_project_find(".", name, &dir, &id) <= 0 || id.n != SESSION_ID_LEN)
        return false;
    memcpy(ret_id, buf_str(&id), SESSION_ID_LEN + 1);
    return true;
}

/* False: there is none, or the library does not have it any more. */
static bool
find_run(struct library_found *ret, const char *home, const char *name)
{
    AUTO(buf) dir = { .ceiling = PATH_MAX };
    char id[SESSION_ID_LEN + 1];
    bool is_live;
    struct err ignored;
    return library_find_run(name, id) && locate(home, id, &dir, &is_live) &&
           find_id(ret, home, id, &ignored) == 0;
}

static int
find_session(struct library_found *ret, const char *what, bool is_by_files,
             struct err *err)
{
    AUTO(buf) home = { .ceiling = PATH_MAX };
    int r = session_home(&home, err);
    if (r < 0)
        return r;
    if (!strcmp(what, "last"))
        return find_newest(ret, buf_str(&home), NULL, is_by_files, err);
    if (session_id_is(what))
        return find_id(ret, buf_str(&home), what, err);
    if (find_run(ret, buf_str(&home), what))
        return 0;
    if (session_id_may_begin(what))
        return find_prefix(ret, buf_str(&home), what, is_by_files, err);
    r = find_newest(ret, buf_str(&home), what, is_by_files, err);
    size_t n = strlen(what);
    if (r == ERR_MISSING && n >= UUID_PREFIX_MIN &&
        strspn(what, "0123456789abcdef-") == n)
        r = find_uuid(ret, buf_str(&home), what, err);
    return r;
}

static bool
has_path_shape(const char *what)
{
    size_t n = strlen(what);
    return strchr(what, '/') || (n > 4 && !strcmp(what + n - 4, ".ahr"));
}

static int
find(struct library_found *ret, const char *what, bool is_by_files, struct err *err)
{
    struct library_found f = { 0 };
    struct stat st;
    bool exists = lstat(what, &st) == 0;
    bool is_file = has_path_shape(what) || (exists && !S_ISDIR(st.st_mode));
    int r = is_file ? 0 : find_session(&f, what, is_by_files, err);
    /* A folder may well be called as a session is; if none is, it was meant. */
    if (is_file || (r == ERR_MISSING && exists)) {
        r = buf_puts(&f.tape_path, what);
        if (r < 0)
            err_code(err, r, "cannot open '%s'", what);
    }
    if (r < 0)
        library_found_release(&f);
    else
        *ret = f;
    return r;
}

int
library_find(struct library_found *ret, const char *what, struct err *err)
{
    return find(ret, what, false, err);
}

int
library_find_by_files(struct library_found *ret, const char *what, struct err *err)
{
    return find(ret, what, true, err);
}
