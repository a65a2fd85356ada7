/* SPDX-License-Identifier: MIT */
/*
 * rewrite.c -- secrets taken out of a stored session after the fact.
 *
 * All that can fail comes before the exchange of the folders: the library is open, the
 * new folder is whole, looked through and on the disk, and the session is out of the
 * index. What comes behind it only removes, and is done as well where nothing was found:
 * a run that was killed there is ended by the next.
 *
 * Both folders are held until the old one is gone, and nobody makes the library anew
 * meanwhile: a new one could hold what was read before.
 */
#include "library/rewrite.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/tree.h"
#include "library/anew_priv.h"
#include "library/anew_run_priv.h"
#include "library/change.h"
#include "library/ids_priv.h"
#include "library/keyframes.h"
#include "library/recover.h"
#include "library/runs.h"
#include "session/exchange.h"
#include "session/folder.h"
#include "session/hold.h"

enum { TRIES = 10 };

#define AUDIT "session.audit.jsonl"

struct rewrite {
    const char *home, *id; /* borrowed */
    const struct library_rewrite *rw;
    struct buf dir, new_dir, db_path;
    struct buf project;               /* of a run: its folder there; empty: none */
    int hold_fd, new_fd, sessions_fd; /* -1: none */
    int project_fd;                   /* … and so is this: that folder's */
    struct store *store;
    struct store *beside; /* keeps others from making the library anew */
    struct library_rewritten done;
    bool is_exchanged; /* the new folder stands in the place of the old one */
};

static int
init(struct rewrite *w, struct err *err)
{
    w->dir.ceiling = w->new_dir.ceiling = w->db_path.ceiling = PATH_MAX;
    buf_printf(&w->dir, "%s/sessions/%s", w->home, w->id);
    buf_printf(&w->new_dir, "%s/sessions/" SESSION_NEW "%s", w->home, w->id);
    int r = library_db_path(w->home, &w->db_path);
    if (!session_id_is(w->id)) /* or any folder could be taken for a session */
        return err_set(err, ERR_MISSING, "no session '%s'", w->id);
    if (r < 0 || w->dir.failed || w->new_dir.failed)
        return err_code(err, -ENAMETOOLONG, "cannot rewrite session '%s'", w->id);
    return 0;
}

static void
let_go(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void
rewrite_release(struct rewrite *w)
{
    let_go(&w->hold_fd);
    let_go(&w->new_fd);
    let_go(&w->sessions_fd);
    let_go(&w->project_fd);
    store_close(w->beside);
    store_close(w->store);
    buf_release(&w->dir);
    buf_release(&w->new_dir);
    buf_release(&w->db_path);
    buf_release(&w->project);
}

static void
tell(const struct rewrite *w, const char *text)
{
    if (w->rw->tell)
        w->rw->tell(w->rw->ctx, text);
}

/* -- what must be ours first -- */

/* One whose recorder has vanished is sealed first. */
static int
hold_stored(struct rewrite *w, struct err *err)
{
    AUTO(buf) path = { 0 };
    struct tape_repair_report ignored;
    int fd = session_hold(w->home, w->id, LIBRARY_WAIT_MS, err);
    if (fd != ERR_MISSING)
        return fd;
    if (session_folder_is_held(w->home, w->id))
        return err_set(err, ERR_BUSY,
                       "session '%s' is being recorded; 'ahr stop %s' ends it", w->id,
                       w->id);
    struct err why = *err;
    int r = library_recover(w->id, false, NULL, &ignored, &path, NULL, err);
    if (r == ERR_MISSING)
        *err = why;
    return r < 0 ? r : session_hold(w->home, w->id, LIBRARY_WAIT_MS, err);
}

/* A run's folder in its project, where there is one: nobody may be at work there. */
static int
hold_project(struct rewrite *w, struct err *err)
{
    (void)library_project_find(w->home, w->id, &w->project);
    if (!w->project.n)
        return 0;
    w->project_fd = anew_run_hold(buf_str(&w->project), err);
    return w->project_fd < -1 ? w->project_fd : 0;
}

static int
hold(struct rewrite *w, struct err *err)
{
    library_sweep(w->home); /* an old one may have to be put back first */
    w->hold_fd = hold_stored(w, err);
    if (w->hold_fd < 0)
        return w->hold_fd;
    int r = hold_project(w, err);
    if (r < 0)
        return r;
    w->sessions_fd = file_open_dir(buf_str(&w->dir));
    return w->sessions_fd < 0
               ? err_code(err, w->sessions_fd, "cannot open '%s/sessions'", w->home)
               : 0;
}

static int
explain_library(struct rewrite *w, int r, struct err *err)
{
    struct err why = *err;
    if (r == ERR_DAMAGED)
        return err_set(err, r,
                       "'%s' cannot be read, and may hold it, too; say 'ahr reindex' "
                       "first. Nothing was changed",
                       buf_str(&w->db_path));
    return err_set(err, r, "%s. Nothing was changed", why.text);
}

static int
open_beside(struct rewrite *w, struct err *err)
{
    uint64_t deadline_ns = clock_mono_ns() + LIBRARY_WAIT_MS * UINT64_C(1000000);
    unsigned tries = 0;
    int r;
    do
        r = store_new_beside(&w->beside, buf_str(&w->db_path), err);
    while (r == ERR_BUSY && clock_back_off(tries++, deadline_ns));
    return r;
}

/* In this order, which is reindex's: it has the one beside when it waits for all who have
 * the library open. */
static int
open_library(struct rewrite *w, struct err *err)
{
    int r = open_beside(w, err);
    if (!r)
        r = store_open(&w->store, buf_str(&w->db_path), STORE_WRITE, LIBRARY_WAIT_MS,
                       err);
    return r < 0 ? explain_library(w, r, err) : 0;
}

/* -- the new folder -- */

static int
remove_hidden(struct rewrite *w, const char *prefix, struct err *err)
{
    char name[sizeof(SESSION_NEW) + SESSION_ID_LEN];
    snprintf(name, sizeof(name), "%s%s", prefix, w->id);
    int r = tree_remove(w->sessions_fd, name);
    return r < 0 ? err_code(err, r, "cannot remove '%s/sessions/%s'", w->home, name) : 0;
}

/* Whoever sweeps may have taken it away before it was held. */
static int
make_held(struct rewrite *w)
{
    const char *path = buf_str(&w->new_dir);
    for (int i = 0; i < TRIES; i++) {
        if (mkdir(path, 0700) < 0)
            return -errno;
        int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0 && errno != ENOENT)
            return -errno;
        if (fd >= 0 && flock(fd, LOCK_EX) == 0 && file_is_at(fd, path)) {
            w->new_fd = fd;
            return fchmod(fd, 0700) < 0 ? -errno : 0;
        }
        if (fd >= 0)
            close(fd);
    }
    return -EAGAIN;
}

/* We hold the session: what a run that was killed has left is nobody's. */
static int
make_folder(struct rewrite *w, struct err *err)
{
    int r = remove_hidden(w, SESSION_NEW, err);
    if (!r)
        r = remove_hidden(w, SESSION_OLD, err);
    if (r < 0)
        return r;
    r = make_held(w);
    return r < 0 ? err_code(err, r, "cannot make '%s'", buf_str(&w->new_dir)) : 0;
}

static void
put_time(struct json *j, uint64_t now_ns)
{
    time_t s = (time_t)(now_ns / 1000000000);
    struct tm tm;
    char text[40];
    if (!gmtime_r(&s, &tm) || !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm))
        *text = 0;
    json_key(j, "time"), json_str(j, text);
}

/* What was masked, when, by what; never what it was. */
static int
write_audit(struct rewrite *w, const struct buf *files, struct err *err)
{
    AUTO(buf) line = { 0 };
    struct json json = { .out = &line }, *j = &json;
    struct clock clock;
    clock_start(&clock);
    json_open(j, '{');
    json_key(j, "ts_ns"), json_u64_str(j, clock.real_ns);
    put_time(j, clock.real_ns);
    json_key(j, "what"), json_str(j, "redact");
    json_key(j, "by"), json_str(j, w->rw->what);
    json_key(j, "masked"), json_u64(j, w->done.masked);
    json_key(j, "masked_bytes"), json_u64(j, w->done.masked_bytes);
    json_key(j, "dropped"), json_u64(j, w->done.dropped);
    json_key(j, "files"), json_open(j, '{');
    buf_append(&line, files->p, files->n);
    json_close(j, '}');
    json_key(j, "ahr_version"), json_str(j, AHR_VERSION);
    json_close(j, '}');
    buf_puts(&line, "\n");
    int fd = line.failed
                 ? line.failed
                 : openat(w->new_fd, AUDIT,
                          O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd == -1)
        fd = -errno;
    int r = fd < 0 ? fd : file_write_all(fd, line.p, line.n);
    if (!r && fsync(fd) < 0)
        r = -errno;
    if (fd >= 0)
        close(fd);
    return r < 0 ? err_code(err, r, "cannot write '%s/" AUDIT "'", buf_str(&w->new_dir))
                 : 0;
}

/* In w->done.is_changed: is there something in the new folder that is not as it was? */
static int
fill_folder(struct rewrite *w, struct err *err)
{
    AUTO(anew)
    a = { .rw = w->rw,
          .from = buf_str(&w->dir),
          .to = buf_str(&w->new_dir),
          .from_fd = w->hold_fd,
          .to_fd = w->new_fd };
    int r = anew_make(&a, err);
    w->done = a.done;
    w->done.is_changed = a.done.masked || a.done.dropped || a.done.is_damaged;
    if (r < 0 || !w->done.is_changed)
        return r;
    r = write_audit(w, &a.files, err);
    if (!r && fsync(w->new_fd) < 0 && errno != EINVAL)
        r = err_sys(err, "cannot write '%s'", buf_str(&w->new_dir));
    return r;
}

/* -- the exchange, and what comes behind it -- */

static int
exchange(struct rewrite *w, struct err *err)
{
    AUTO(buf) old = { 0 };
    int r = session_exchange(w->home, w->id, &old, err);
    if (r < 0)
        return r;
    /* From here on nothing is taken back: to go on is the way to an end. */
    w->is_exchanged = true;
    if (fsync(w->sessions_fd) < 0 && errno != EINVAL)
        r = err_sys(err, "cannot write '%s/sessions' to the disk", w->home);
    int removed = tree_remove(w->sessions_fd, file_name(buf_str(&old)));
    if (removed < 0 && !r)
        r = err_code(err, removed, "'%s' holds what was masked and cannot be removed",
                     buf_str(&old));
    if (!r && fsync(w->sessions_fd) < 0 && errno != EINVAL)
        r = err_sys(err, "cannot write '%s/sessions' to the disk", w->home);
    return r;
}

/* Pictures of the old recording that somebody may have kept. */
static int
remove_keyframes(struct rewrite *w, struct err *err)
{
    AUTO(buf) tape = { .ceiling = PATH_MAX };
    int r = buf_printf(&tape, "%s/session.ahr", buf_str(&w->dir));
    return r < 0 ? err_code(err, r, "cannot remove keyframes")
                 : library_keyframes_remove(buf_str(&tape), err);
}

/* Into the index again, and nothing else in the library's file. Somebody else who indexes
 * it meanwhile reads what is there now. */
static int
put_back(struct rewrite *w, struct err *err)
{
    struct library_indexed ignored;
    struct err why;
    int r = library_index(w->store, w->home, w->id, LIBRARY_WAIT_LOOK_MS, w->rw->redact,
                          NULL, &ignored, err);
    if (r == ERR_BUSY)
        r = 0;
    int scrubbed = store_scrub(w->store, &why);
    if (scrubbed < 0 && !r)
        r = err_set(err, scrubbed, "the session is clean, but the library may not be: %s",
                    why.text);
    return r;
}

/* Runs of one name share a folder: it is clean now, but each is a session of its own. */
static void
look_for_others(struct rewrite *w)
{
    AUTO(buf) ids = { 0 };
    AUTO(buf) text = { 0 };
    const char *other = NULL;
    size_t count = 0;
    if (!w->project.n || ids_collect(&ids, w->home, "sessions", "") < 0)
        return;
    ids_sort(&ids);
    for (size_t i = 0; i < ids_count(&ids); i++) {
        AUTO(buf) project = { .ceiling = PATH_MAX };
        const char *id = ids_at(&ids, i);
        if (!strcmp(id, w->id))
            continue;
        (void)library_project_find(w->home, id, &project);
        if (!project.n || strcmp(buf_str(&project), buf_str(&w->project)) != 0)
            continue;
        buf_printf(&text, "%s%s", count++ ? ", " : "", id);
        other = id;
    }
    if (!count || text.failed)
        return;
    AUTO(buf) line = { 0 };
    if (count == 1)
        buf_printf(&line, "another session of this run, %s, was", other);
    else
        buf_printf(&line, "%zu other sessions of this run were", count);
    buf_printf(&line, " not looked into: 'ahr redact %s …'", other);
    if (count > 1)
        buf_printf(&line, ", and so on for each of %s", buf_str(&text));
    tell(w, buf_str(&line));
}

static void
look_elsewhere(struct rewrite *w)
{
    AUTO(buf) text = { .ceiling = PATH_MAX };
    struct stat st;
    if (w->project.n && w->project_fd < 0 &&
        buf_printf(&text, "'%s'", buf_str(&w->project)) == 0) {
        buf_puts(&text, ", the run's folder in its project, is not there: if it was "
                        "moved, what it holds was not looked at");
        tell(w, buf_str(&text));
    }
    look_for_others(w);
    buf_clear(&text);
    if (buf_printf(&text, "%s/damaged/%s", w->home, w->id) < 0 ||
        lstat(buf_str(&text), &st) < 0)
        return;
    buf_puts(&text, " is a ruin of the same session: what it holds was not looked at");
    tell(w, buf_str(&text));
}

/* The folder, new or as it was. The session is ours. */
static int
change(struct rewrite *w, struct err *err)
{
    int r = make_folder(w, err);
    if (!r)
        r = fill_folder(w, err);
    if (!r)
        r = library_forget(w->home, w->id, err);
    if (!r && w->done.is_changed)
        return exchange(w, err);
    struct err ignored;
    int removed = w->new_fd < 0 ? 0 : remove_hidden(w, SESSION_NEW, &ignored);
    return r < 0 || !removed ? r : err_set(err, removed, "%s", ignored.text);
}

/* What fails behind the exchange stops nothing: the first of it is told. */
static int
first_error(int r, int next, const struct err *why, struct err *err)
{
    return r < 0 || next >= 0 ? r : err_set(err, next, "%s", why->text);
}

int
library_rewrite(const char *home, const char *id, const struct library_rewrite *rw,
                struct library_rewritten *ret, struct err *err)
{
    AUTO(rewrite)
    w = { .home = home,
          .id = id,
          .rw = rw,
          .hold_fd = -1,
          .new_fd = -1,
          .sessions_fd = -1,
          .project_fd = -1 };
    int r = init(&w, err);
    if (!r)
        r = hold(&w, err);
    if (!r)
        r = open_library(&w, err);
    if (!r)
        r = change(&w, err);
    if (r < 0 && !w.is_exchanged)
        return r;
    struct err why;
    int e = remove_keyframes(&w, &why);
    r = first_error(r, e, &why, err);
    let_go(&w.new_fd);
    let_go(&w.hold_fd); /* who indexes it holds it */
    e = put_back(&w, &why);
    r = first_error(r, e, &why, err);
    e = w.project_fd < 0
            ? 0
            : anew_run_make(buf_str(&w.project), w.project_fd, rw, &w.done, &why);
    r = first_error(r, e, &why, err);
    look_elsewhere(&w);
    w.done.is_changed |= w.done.masked > 0;
    if (!r)
        *ret = w.done;
    return r;
}
