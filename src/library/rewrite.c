/* SPDX-License-Identifier: MIT */
/*
 * rewrite.c -- secrets taken out of a stored session after the fact.
 *
 * All that can fail comes before the exchange of the folders: the library is open, the
 * new folder is whole, looked through and on the disk, and the session is out of the
 * index. What comes behind it only removes, and is done as well where nothing was found:
 * a run that was killed there is ended by the next.
 */
#include "library/rewrite.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "journal/metadata.h"
#include "library/anew_priv.h"
#include "library/anew_run_priv.h"
#include "library/archive_priv.h"
#include "library/encrypt_priv.h"
#include "library/entire.h"
#include "library/find.h"
#include "library/ids_priv.h"
#include "library/remake_priv.h"
#include "library/stub_priv.h"
#include "session/folder.h"

#define AUDIT "session.audit.jsonl"

struct rewrite {
    struct remake at;
    const struct library_rewrite *rw;
    struct library_rewritten done;
    struct buf root;     /* of the project; empty: not known */
    struct buf vault_id; /* the session whose vault has the run's files; empty: none */
};

static void
rewrite_release(struct rewrite *w)
{
    remake_release(&w->at);
    buf_release(&w->root);
    buf_release(&w->vault_id);
}

static void
tell(const struct rewrite *w, const char *text)
{
    if (w->rw->tell)
        w->rw->tell(w->rw->ctx, text);
}

/* -- what is locked away -- */

/* Whose stub is in the run's folder? */
static int
put_owner(struct rewrite *w, struct buf *ret)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    AUTO(journal_told) told = { 0 };
    if (w->at.project_fd < 0 || !stub_is(w->at.project_fd, NULL))
        return 0;
    buf_printf(&path, "%s/" STUB_NAME, buf_str(&w->at.project));
    int r = path.failed ? path.failed
                        : journal_metadata_read(buf_str(&path), &told, NULL);
    return r < 0 ? r : buf_puts(ret, told.id ? told.id : "?");
}

static int
look_for_vault(struct rewrite *w, struct err *err)
{
    struct stat st;
    if (session_folder_is_encrypted(w->at.home, w->at.id)) /* since it was found */
        return library_refuse_encrypted(w->at.id, err);
    bool has_rest = fstatat(w->at.hold_fd, ENCRYPT_REST, &st, AT_SYMLINK_NOFOLLOW) == 0;
    int r = has_rest ? buf_puts(&w->vault_id, w->at.id) : put_owner(w, &w->vault_id);
    return r < 0 ? err_code(err, r, "cannot tell whether '%s' is encrypted",
                            buf_str(&w->at.project))
                 : 0;
}

/* It may hold what was masked, and would bring it back. */
static int
tell_of_vault(struct rewrite *w, struct err *err)
{
    return err_set(err, ERR_DAMAGED,
                   "the session is clean, but what its run kept in its project is "
                   "encrypted and was not looked into: 'ahr decrypt %s', and redact it "
                   "again",
                   buf_str(&w->vault_id));
}

/* -- the new folder -- */

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
                 : openat(w->at.new_fd, AUDIT,
                          O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd == -1)
        fd = -errno;
    int r = fd < 0 ? fd : file_write_all(fd, line.p, line.n);
    if (!r && fsync(fd) < 0)
        r = -errno;
    if (fd >= 0)
        close(fd);
    return r < 0
               ? err_code(err, r, "cannot write '%s/" AUDIT "'", buf_str(&w->at.new_dir))
               : 0;
}

/* In w->done.is_changed: is there something in the new folder that is not as it was? */
static int
fill_folder(struct rewrite *w, struct err *err)
{
    AUTO(anew)
    a = { .rw = w->rw,
          .from = buf_str(&w->at.dir),
          .to = buf_str(&w->at.new_dir),
          .from_fd = w->at.hold_fd,
          .to_fd = w->at.new_fd };
    int r = anew_make(&a, err);
    a.done.is_unpacked = w->done.is_unpacked;
    w->done = a.done;
    w->done.is_changed = a.done.masked || a.done.dropped || a.done.is_damaged;
    if (r < 0 || !w->done.is_changed)
        return r;
    r = write_audit(w, &a.files, err);
    if (!r && fsync(w->at.new_fd) < 0 && errno != EINVAL)
        r = err_sys(err, "cannot write '%s'", buf_str(&w->at.new_dir));
    return r;
}

/* -- the exchange, and what comes behind it -- */

/* Into the index again, and nothing else in the library's file. Somebody else who indexes
 * it meanwhile reads what is there now. */
static int
put_back(struct rewrite *w, struct err *err)
{
    struct library_indexed ignored;
    struct err why;
    int r = library_index(w->at.store, w->at.home, w->at.id, LIBRARY_WAIT_LOOK_MS,
                          w->rw->redact, NULL, &ignored, err);
    if (r == ERR_BUSY)
        r = 0;
    int scrubbed = store_scrub(w->at.store, &why);
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
    if (remake_others(&w->at, &ids) < 0)
        return;
    size_t count = ids_count(&ids);
    const char *other = count ? ids_at(&ids, count - 1) : NULL;
    for (size_t i = 0; i < count; i++)
        buf_printf(&text, "%s%s", i ? ", " : "", ids_at(&ids, i));
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
    if (w->at.project.n && w->at.project_fd < 0 &&
        buf_printf(&text, "'%s'", buf_str(&w->at.project)) == 0) {
        buf_puts(&text, ", the run's folder in its project, is not there: if it was "
                        "moved, what it holds was not looked at");
        tell(w, buf_str(&text));
    }
    look_for_others(w);
    buf_clear(&text);
    if (buf_printf(&text, "%s/damaged/%s", w->at.home, w->at.id) < 0 ||
        lstat(buf_str(&text), &st) < 0)
        return;
    buf_puts(&text, " is a ruin of the same session: what it holds was not looked at");
    tell(w, buf_str(&text));
}

/* What is archived is looked into as it was, and stays so. */
static int
unpack(struct rewrite *w, struct err *err)
{
    struct archive a = { .is_undo = true, .is_dry_run = true };
    archive_session(&a, w->at.hold_fd, buf_str(&w->at.dir));
    if (!a.files && !a.failed)
        return 0;
    int r = library_forget(w->at.home, w->at.id, err); /* its size is another one then */
    if (r < 0)
        return r;
    a = (struct archive){ .is_undo = true, .tell = w->rw->tell, .ctx = w->rw->ctx };
    archive_session(&a, w->at.hold_fd, buf_str(&w->at.dir));
    w->done.is_unpacked = a.files > 0;
    if (!a.failed)
        return 0;
    return err_set(err, a.error,
                   "session '%s' has an archive that cannot be looked into: 'ahr archive "
                   "--undo %s' keeps what can be read of it. Nothing was masked",
                   w->at.id, w->at.id);
}

static void
tell_unpacked(const struct rewrite *w)
{
    AUTO(buf) text = { 0 };
    buf_printf(&text,
               "it was archived and is not any more: 'ahr archive %s' does it again",
               w->at.id);
    tell(w, buf_str(&text));
}

/* The folder, new or as it was. The session is ours. */
static int
change(struct rewrite *w, struct err *err)
{
    int r = unpack(w, err);
    if (!r)
        r = remake_folder(&w->at, err);
    if (!r)
        r = fill_folder(w, err);
    if (!r)
        r = library_forget(w->at.home, w->at.id, err);
    if (!r && w->done.is_changed)
        return remake_exchange(&w->at, err);
    struct err ignored;
    int removed = w->at.new_fd < 0 ? 0 : remake_drop(&w->at, &ignored);
    return r < 0 || !removed ? r : err_set(err, removed, "%s", ignored.text);
}

int
library_rewrite(const char *home, const char *id, const struct library_rewrite *rw,
                struct library_rewritten *ret, struct err *err)
{
    AUTO(rewrite) w = { .at = REMAKE(home, id), .rw = rw };
    int r = remake_init(&w.at, err);
    if (!r)
        r = remake_hold(&w.at, err);
    if (!r)
        r = remake_hold_project(&w.at, err);
    if (!r)
        r = look_for_vault(&w, err);
    if (!r && (r = library_entire_root(buf_str(&w.at.dir), &w.root)) < 0)
        err_code(err, r, "cannot tell where the project of '%s' is", id);
    if (!r)
        r = remake_open_library(&w.at, err);
    if (!r)
        r = change(&w, err);
    if (r < 0 && !w.at.is_exchanged)
        return r;
    struct err why;
    int e = remake_forget_keyframes(&w.at, &why);
    r = remake_first_error(r, e, &why, err);
    remake_let_go(&w.at.new_fd);
    remake_let_go(&w.at.hold_fd); /* who indexes it holds it */
    e = put_back(&w, &why);
    r = remake_first_error(r, e, &why, err);
    e = w.at.project_fd < 0
            ? 0
            : anew_run_make(buf_str(&w.at.project), w.at.project_fd, rw, &w.done, &why);
    r = remake_first_error(r, e, &why, err);
    e = w.root.n ? anew_entire_make(buf_str(&w.root), id, buf_str(&w.at.dir), rw, &w.done,
                                    &why)
                 : 0;
    r = remake_first_error(r, e, &why, err);
    look_elsewhere(&w);
    if (w.done.is_unpacked)
        tell_unpacked(&w);
    w.done.is_changed |= w.done.masked > 0;
    if (!r && w.vault_id.n)
        r = tell_of_vault(&w, err);
    if (!r)
        *ret = w.done;
    return r;
}
