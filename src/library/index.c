/* SPDX-License-Identifier: MIT */
/*
 * index.c -- one session into the library.
 *
 * The long part, reading the recording, comes before the change is begun: others write
 * meanwhile.
 */
#include "library/index_priv.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "library/damaged.h"
#include "library/events.h"
#include "library/fill_priv.h"
#include "library/mask_priv.h"
#include "play/turns.h"
#include "session/folder.h"
#include "session/hold.h"
#include "session/lines.h"

int
library_db_path(const char *home, struct buf *ret)
{
    return buf_printf(ret, "%s/library.db", home);
}

/* -- what there is to know of it -- */

/* Made of an agent's own; else `import` is a recording. */
static bool
is_history(const struct store_session *row)
{
    return row->kind && !strcmp(row->kind, "import") && row->agent;
}

/* Its events are what there is of it. */
static bool
is_talk(const struct store_session *row)
{
    return row->kind && (!strcmp(row->kind, "stream") || !strcmp(row->kind, "wire") ||
                         is_history(row));
}

struct known {
    struct library_session session; /* masked */
    struct play_loaded loaded;
    struct play_events events; /* all, wherever they stand */
    struct buf tape_path;
    bool has_tape;
    bool has_turns; /* its events are beside its recording */
    bool is_damaged;
};

static void
known_release(struct known *k)
{
    library_session_release(&k->session);
    play_loaded_release(&k->loaded);
    play_events_release(&k->events);
    buf_release(&k->tape_path);
}

static void
on_notice(void *ctx, const struct tape_notice *n)
{
    struct known *k = ctx;
    k->is_damaged |= n->kind != TAPE_NOTE_WARNING;
}

/* Damage that no notice has told of: bytes that nobody owned up to. */
static bool
has_hole(const struct play_loaded *l)
{
    const struct play_gap *gaps = (const void *)l->gaps.p;
    for (size_t i = 0; i < l->gaps.n / sizeof(*gaps); i++)
        if (!gaps[i].is_recorded)
            return true;
    return false;
}

static int
load(struct known *k, const struct tape_progress *progress, struct err *err)
{
    const struct play_load_options opt = {
        .cols = k->session.facts.cols,
        .rows = k->session.facts.rows,
        .has_times = true,
        .notice = on_notice,
        .ctx = k,
        .progress = progress,
    };
    int r = play_load(&k->loaded, tape_io_files(), buf_str(&k->tape_path), &opt, err);
    k->has_tape = r == 0;
    k->is_damaged |= !k->has_tape || !k->loaded.records || has_hole(&k->loaded);
    return r == ERR_MISSING ? 0 : r; /* then its facts are all there is */
}

static int
join_events(struct known *k, struct err *err)
{
    struct library_found found = { 0 };
    AUTO(library_events) beside = { 0 };
    uint64_t left_out = 0;
    int r = buf_append(&found.tape_path, k->tape_path.p, k->tape_path.n);
    if (!r)
        r = library_events(&found, &beside, err);
    library_found_release(&found);
    if (r < 0)
        return r;
    k->is_damaged |= beside.snapshots.lines || beside.instructions.lines ||
                     beside.snapshots.error < 0 || beside.instructions.error < 0;
    r = play_events_join(&k->events, &k->loaded.events, &left_out);
    if (!r)
        r = play_events_join(&k->events, &beside.events, &left_out);
    if (r < 0)
        return err_code(err, r, "cannot keep the snapshots of '%s'", k->session.facts.id);
    play_events_sort(&k->events);
    return 0;
}

/* A terminal's, if its model's API was recorded. */
static bool
has_turns(struct known *k)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    return session_sibling_path(buf_str(&k->tape_path), SESSION_TURNS, &path) == 0 &&
           play_turns_exist(buf_str(&path));
}

static int
learn(struct known *k, const char *home, const char *id, struct redact *redact,
      const struct tape_progress *progress, struct err *err)
{
    k->tape_path.ceiling = PATH_MAX;
    int r = library_session_read(&k->session, home, id, err);
    if (!r)
        r = mask_facts(&k->session, redact, err);
    if (!r && buf_printf(&k->tape_path, "%s/sessions/%s/session.ahr", home, id) < 0)
        r = err_code(err, k->tape_path.failed, "cannot look into session '%s'", id);
    if (!r)
        k->has_turns = is_talk(&k->session.facts) || has_turns(k);
    if (!r)
        r = load(k, progress, err);
    return r < 0 ? r : join_events(k, err);
}

/* -- into the library -- */

static int
put_lines(struct fill *f, const struct known *k, const char *path)
{
    return k->has_tape ? fill_lines(f, &k->loaded, path) : 0;
}

/* A run's events are beside its recording. */
static int
put_run(struct fill *f, struct known *k, struct err *err)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    uint64_t unread = 0;
    int r = session_sibling_path(buf_str(&k->tape_path), SESSION_TURNS, &path);
    if (r < 0)
        return err_code(err, r, "cannot look into session '%s'", k->session.facts.id);
    r = fill_said(f, buf_str(&path));
    if (!r)
        r = put_lines(f, k, buf_str(&k->tape_path));
    if (!r)
        r = fill_turns(f, buf_str(&path), &unread);
    k->is_damaged |= unread > 0;
    return r;
}

static int
put_text(struct store *s, int64_t key, struct known *k, struct redact *redact,
         struct library_indexed *ret, struct err *err)
{
    AUTO(fill) f = { 0 };
    int r = fill_begin(&f, s, key, redact, err);
    f.is_history = is_history(&k->session.facts);
    if (!r && k->has_turns)
        r = put_run(&f, k, err);
    else if (!r)
        r = put_lines(&f, k, buf_str(&k->tape_path));
    if (!r)
        r = fill_moments(&f, &k->events);
    *ret = f.done;
    return r;
}

static int
put(struct store *s, struct known *k, struct redact *redact, struct library_indexed *ret,
    struct err *err)
{
    struct store_session *row = &k->session.facts;
    int64_t key;
    row->lines = row->text_bytes = 0;
    if (row->bytes == UINT64_MAX && k->has_tape)
        row->bytes = k->loaded.total_bytes;
    int r = fill_remove(s, row->id, err);
    if (!r)
        r = store_session_put(s, row, &key, err);
    if (!r)
        r = put_text(s, key, k, redact, ret, err);
    row->is_damaged = ret->is_damaged = k->is_damaged;
    row->lines = ret->lines;
    row->text_bytes = ret->text_bytes;
    if (k->has_turns)
        row->turns = ret->turns;
    return r < 0 ? r : store_session_put(s, row, &key, err);
}

static int
change(struct store *s, struct known *k, struct redact *redact,
       struct library_indexed *ret, struct err *err)
{
    struct library_indexed done = { 0 };
    int r = store_begin(s, err);
    if (r < 0)
        return r;
    r = put(s, k, redact, &done, err);
    if (!r)
        r = store_commit(s, err);
    if (r < 0)
        store_rollback(s);
    else
        *ret = done;
    return r;
}

int
index_drop(struct store *s, const char *id, struct err *err)
{
    int r = store_begin(s, err);
    if (r < 0)
        return r;
    r = fill_remove(s, id, err);
    if (!r)
        r = store_commit(s, err);
    if (r < 0)
        store_rollback(s);
    return r;
}

/* Nothing of it can be read: not now, and not by anybody who comes later. */
static bool
is_ruin(struct known *k, const char *home, const char *id)
{
    AUTO(buf) dir = { .ceiling = PATH_MAX };
    return k->has_tape && !k->loaded.records &&
           library_is_ruin(buf_str(&k->tape_path), NULL) == 1 &&
           buf_printf(&dir, "%s/sessions/%s", home, id) == 0 &&
           !library_has_talk(buf_str(&dir));
}

static int
set_aside(struct store *s, const char *home, const char *id, struct library_indexed *ret,
          bool *ret_is_store, struct err *err)
{
    int r = index_drop(s, id, err);
    *ret_is_store = r < 0;
    if (!r)
        r = library_set_aside(home, "sessions", id, NULL, err);
    if (!r)
        *ret = (struct library_indexed){ .is_damaged = true, .is_moved = true };
    return r;
}

/* Nothing of it is in the library then. */
static int
leave_out(struct store *s, const char *id, bool is_encrypted, bool *ret_is_store,
          struct err *err)
{
    int r = index_drop(s, id, err);
    *ret_is_store = r < 0;
    if (r < 0)
        return r;
    return is_encrypted
               ? err_set(err, ERR_MISSING,
                         "session '%s' is encrypted: nothing of it is indexed", id)
               : err_set(err, ERR_MISSING, "no session '%s'", id);
}

int
index_session(struct store *s, const char *home, const char *id, unsigned wait_ms,
              struct redact *redact, const struct tape_progress *progress,
              struct library_indexed *ret, bool *ret_is_store, struct err *err)
{
    AUTO(known) k = { 0 };
    *ret_is_store = false;
    int hold = session_hold(home, id, wait_ms, err);
    if (hold == ERR_MISSING)
        return leave_out(s, id, false, ret_is_store, err);
    if (hold < 0)
        return hold;
    if (session_folder_is_encrypted(home, id)) {
        close(hold);
        return leave_out(s, id, true, ret_is_store, err);
    }
    int r = learn(&k, home, id, redact, progress, err);
    if (!r && is_ruin(&k, home, id)) {
        r = set_aside(s, home, id, ret, ret_is_store, err);
    } else if (!r) {
        r = change(s, &k, redact, ret, err);
        *ret_is_store = r < 0;
    }
    close(hold);
    return r;
}

int
library_index(struct store *s, const char *home, const char *id, unsigned wait_ms,
              struct redact *redact, const struct tape_progress *progress,
              struct library_indexed *ret, struct err *err)
{
    bool is_store;
    return index_session(s, home, id, wait_ms, redact, progress, ret, &is_store, err);
}

int
library_forget(const char *home, const char *id, struct err *err)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    struct store *s;
    if (library_db_path(home, &path) < 0)
        return err_code(err, path.failed, "cannot open the library of '%s'", home);
    if (access(buf_str(&path), F_OK) < 0 && errno == ENOENT)
        return 0;
    int r = store_open(&s, buf_str(&path), STORE_WRITE, LIBRARY_WAIT_MS, err);
    if (r < 0)
        return r;
    r = index_drop(s, id, err);
    store_close(s);
    return r;
}
