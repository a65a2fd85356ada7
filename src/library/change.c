/* SPDX-License-Identifier: MIT */
/*
 * change.c -- stored sessions renamed and deleted.
 *
 * Out of the index first, then the files, then into the index again: whoever is killed
 * between leaves a session that is listed from its files, and indexed by the next.
 */
#include "library/change.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/tree.h"
#include "journal/project.h"
#include "library/change_priv.h"
#include "library/entire.h"
#include "library/index.h"
#include "library/kin.h"
#include "library/left.h"
#include "library/recover.h"
#include "library/runs.h"
#include "session/exchange.h"
#include "session/folder.h"
#include "session/hold.h"
#include "session/meta.h"
#include "snap/tidy.h"

int
library_settle(const char *home, const char *id, struct err *err)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    struct tape_repair_report report;
    if (!session_id_is(id))
        return err_set(err, ERR_MISSING, "no session '%s'", id);
    if (session_folder_exists(home, "sessions", id))
        return 0;
    if (!session_folder_exists(home, "live", id))
        return session_folder_exists(home, "sessions", id) /* it has just ended */
                   ? 0
                   : err_set(err, ERR_MISSING, "no session '%s'", id);
    if (session_folder_is_held(home, id))
        return err_set(err, ERR_BUSY,
                       "session '%s' is being recorded; 'ahr stop %s' ends it", id, id);
    int r = library_recover(id, false, NULL, &report, &path, NULL, err);
    if (r > 0)
        return err_set(err, ERR_DAMAGED,
                       "nothing of session '%s' can be read; its files are in "
                       "'%s/damaged' now",
                       id, home);
    if (r < 0 && r != ERR_MISSING)
        return r;
    return session_folder_exists(home, "sessions", id) ? 0 : 1;
}

/* -- renamed -- */

static int
write_name(const char *home, const char *id, const char *name, struct err *err)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    if (buf_printf(&path, "%s/sessions/%s/session." SESSION_META, home, id) < 0)
        return err_code(err, -ENAMETOOLONG, "cannot rename session '%s'", id);
    int hold = session_hold(home, id, LIBRARY_WAIT_MS, err);
    if (hold < 0)
        return hold;
    int r = library_forget(home, id, err);
    if (!r)
        r = session_meta_rename(buf_str(&path), name, err);
    close(hold);
    return r;
}

void
library_index_again(const char *home, const char *id, struct redact *redact)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    struct library_indexed done;
    struct err ignored;
    struct store *store;
    if (library_db_path(home, &path) < 0 ||
        store_open(&store, buf_str(&path), STORE_WRITE, LIBRARY_WAIT_LOOK_MS, &ignored) <
            0)
        return;
    (void)library_index(store, home, id, LIBRARY_WAIT_LOOK_MS, redact, NULL, &done,
                        &ignored);
    store_close(store);
}

int
library_rename(const char *home, const char *id, const char *name, struct redact *redact,
               struct err *err)
{
    int r = library_settle(home, id, err);
    if (r > 0)
        return err_set(err, ERR_MISSING, "there is nothing left of session '%s'", id);
    if (!r)
        r = write_name(home, id, name, err);
    if (!r)
        library_index_again(home, id, redact);
    return r;
}

/* -- deleted -- */

/* The folder of a session that goes: at .old-<id> it can be put back, and the next who
 * looks does that for one who was killed; at .gone-<id> it cannot. */
struct leaving {
    const char *home, *id;
    int dir_fd; /* sessions/ */
    char old[sizeof(SESSION_OLD) + SESSION_ID_LEN];
    char gone[sizeof(SESSION_GONE) + SESSION_ID_LEN];
};

static void
leaving_release(struct leaving *l)
{
    if (l->dir_fd >= 0)
        close(l->dir_fd);
}

/* The session is held, and in no row. What keeps it from going is met here. */
static int
put_away(struct leaving *l, struct err *err)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    snprintf(l->old, sizeof(l->old), SESSION_OLD "%s", l->id);
    snprintf(l->gone, sizeof(l->gone), SESSION_GONE "%s", l->id);
    buf_printf(&path, "%s/sessions", l->home);
    l->dir_fd = open(buf_str(&path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int r = l->dir_fd < 0 ? -errno : tree_remove(l->dir_fd, l->gone); /* left before us */
    if (!r && renameat(l->dir_fd, l->id, l->dir_fd, l->old) < 0)
        r = -errno;
    return r < 0 ? err_code(err, r, "cannot remove '%s/sessions/%s'", l->home, l->id) : 0;
}

static void
put_back(struct leaving *l)
{
    (void)renameat(l->dir_fd, l->old, l->dir_fd, l->id); /* or the next sweep does */
}

static int
sync_folder(int fd)
{
    return fsync(fd) < 0 && errno != EINVAL ? -errno : 0;
}

static int
vanish(struct leaving *l, struct err *err)
{
    if (renameat(l->dir_fd, l->old, l->dir_fd, l->gone) < 0) {
        err_sys(err, "cannot remove '%s/sessions/%s'", l->home, l->id);
        put_back(l);
        return err->code;
    }
    int r = sync_folder(l->dir_fd);
    if (!r)
        r = tree_remove(l->dir_fd, l->gone);
    if (!r)
        r = sync_folder(l->dir_fd);
    return r < 0 ? err_code(err, r,
                            "session '%s' is deleted, but '%s/sessions/%s' cannot be "
                            "removed",
                            l->id, l->home, l->gone)
                 : 0;
}

/* Before its files: a session may have lost its snapshots, but there must be none that
 * nobody can name any more. */
static int
forget_snapshots(const char *home, const char *id, struct err *err)
{
    struct err why = { 0 };
    int r = snap_forget_session(home, id, &why);
    return r < 0
               ? err_set(err, r, "session '%s' stays, for its snapshots of files do: %s",
                         id, why.text)
               : 0;
}

/* Before its files, too: these alone lead there. Other files in that folder stay. */
static int
forget_transcript(const char *dir, const char *id, struct err *err)
{
    struct err why = { 0 };
    int r = library_entire_remove(dir, id, &why);
    return r < 0 ? err_set(err, r, "session '%s' stays, for its transcript does: %s", id,
                           why.text)
                 : 0;
}

/* What of the session lies elsewhere. */
static int
take_beside(struct leaving *l, const struct change_also *also, struct err *err)
{
    AUTO(buf) dir = { .ceiling = PATH_MAX };
    int r = also ? also->fn(also->ctx, err) : 0;
    if (!r && (r = buf_printf(&dir, "%s/sessions/%s", l->home, l->old)) < 0)
        err_code(err, r, "cannot remove session '%s'", l->id);
    if (!r)
        r = forget_transcript(buf_str(&dir), l->id, err);
    if (!r)
        r = forget_snapshots(l->home, l->id, err);
    if (r < 0)
        put_back(l);
    return r;
}

/* It is held. Out of the index, which may be locked, before anything goes that does not
 * come back; *ret_forgotten is what that came to, and the rows may follow later. */
static int
take_out(const char *home, const char *id, const struct change_also *also,
         int *ret_forgotten, struct err *err)
{
    AUTO(leaving) l = { .home = home, .id = id, .dir_fd = -1 };
    struct err why = { 0 };
    int forgotten = library_forget(home, id, &why);
    bool is_full = forgotten == -ENOSPC || forgotten == -EDQUOT;
    /* Rows of what is gone are never shown: a session can go also from under an index
     * that nobody can write to any more; on a full disk it makes the room for that. */
    bool can_go = !forgotten || forgotten == ERR_DAMAGED || forgotten == ERR_NEWER ||
                  is_full;
    int r = can_go ? put_away(&l, err) : forgotten;
    if (!r)
        r = take_beside(&l, also, err);
    if (!r)
        r = vanish(&l, err);
    if (!r && is_full)
        forgotten = library_forget(home, id, &why);
    if (!can_go || (!r && forgotten))
        *err = why;
    *ret_forgotten = forgotten;
    return r;
}

/* What stays of a run in its project tells that it is over, where that can be told. */
static void
end_in_project(const struct session_folder *f)
{
    AUTO(buf) dir = { .ceiling = PATH_MAX };
    struct err ignored;
    if (library_project_of(f->dir, f->meta_path, &dir) == 0 && dir.n)
        (void)journal_project_recover(buf_str(&dir), &ignored);
}

/* Its recorder has vanished, and nothing was ever stored of it. Nothing is recovered for
 * that: it would need room, and be for nothing. */
static int
take_cut_off(struct session_folder *f, bool is_forced, const struct change_also *also,
             struct err *err)
{
    AUTO(buf) live = { .ceiling = PATH_MAX };
    int r = buf_printf(&live, "%s/live", f->home);
    if (!r && access(buf_str(&live), W_OK) < 0)
        r = -errno;
    if (r < 0)
        return err_code(err, r, "cannot remove '%s'", f->dir);
    if (!is_forced)
        r = library_check_heirs(f->home, f->id, err);
    if (!r && also)
        r = also->fn(also->ctx, err);
    if (!r)
        r = forget_transcript(f->dir, f->id, err);
    if (!r)
        r = forget_snapshots(f->home, f->id, err);
    if (r < 0)
        return r;
    if (!also)
        end_in_project(f);
    return session_folder_remove(f, err);
}

/* 1: it is no such session, or its recording stands at an out-file, and stays there. */
static int
delete_cut_off(const char *home, const char *id, bool is_forced,
               const struct change_also *also, struct err *err)
{
    AUTO(session_folder) f = { .lock_fd = -1 };
    if (!session_id_is(id) || session_folder_exists(home, "sessions", id) ||
        !session_folder_exists(home, "live", id) || session_folder_is_held(home, id))
        return 1;
    int r = session_folder_take(&f, home, id, err);
    if (r < 0)
        return r == ERR_MISSING ? 1 : r;
    return f.is_outside ? 1 : take_cut_off(&f, is_forced, also, err);
}

/* Nothing is stored of it. */
static int
take_rest(const char *home, const char *id, const struct change_also *also,
          struct err *err)
{
    int r = also ? also->fn(also->ctx, err) : 0;
    return r < 0 ? r : forget_snapshots(home, id, err);
}

int
change_delete(const char *home, const char *id, bool is_forced,
              const struct change_also *also, struct err *err)
{
    struct err ignored;
    int forgotten = 0, r = delete_cut_off(home, id, is_forced, also, err);
    if (r <= 0)
        return r;
    r = library_settle(home, id, err);
    if (r)
        return r < 0 ? r : take_rest(home, id, also, err);
    int hold = session_hold(home, id, LIBRARY_WAIT_MS, err);
    if (hold < 0)
        return hold;
    r = is_forced ? 0 : library_check_heirs(home, id, err);
    if (!r)
        r = take_out(home, id, also, &forgotten, err);
    close(hold);
    if (r < 0)
        return r;
    (void)library_left_forget(home, id, &ignored); /* it would only not be found */
    return forgotten < 0;
}

int
library_delete(const char *home, const char *id, bool is_forced, struct err *err)
{
    return change_delete(home, id, is_forced, NULL, err);
}
