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
#include "library/change_priv.h"
#include "library/index.h"
#include "library/recover.h"
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

/* The session is held, and in no row. */
static int
vanish(int dir_fd, const char *id)
{
    char gone[sizeof(SESSION_GONE) + SESSION_ID_LEN];
    snprintf(gone, sizeof(gone), SESSION_GONE "%s", id);
    int r = tree_remove(dir_fd, gone); /* what one before us has left */
    if (!r && renameat(dir_fd, id, dir_fd, gone) < 0)
        r = -errno;
    if (!r && fsync(dir_fd) < 0 && errno != EINVAL)
        r = -errno;
    if (!r)
        r = tree_remove(dir_fd, gone);
    if (!r && fsync(dir_fd) < 0 && errno != EINVAL)
        r = -errno;
    return r;
}

static int
remove_files(const char *home, const char *id, struct err *err)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    buf_printf(&path, "%s/sessions", home);
    int fd = open(buf_str(&path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int r = fd < 0 ? -errno : vanish(fd, id);
    if (fd >= 0)
        close(fd);
    if (!r)
        return 0;
    return session_folder_exists(home, "sessions", id)
               ? err_code(err, r, "cannot remove '%s/sessions/%s'", home, id)
               : err_code(err, r,
                          "session '%s' is deleted, but '%s/sessions/" SESSION_GONE
                          "%s' cannot be "
                          "removed",
                          id, home, id);
}

/* First of all: a session may have lost its snapshots, but there must be none that nobody
 * can name any more. */
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

int
library_delete(const char *home, const char *id, struct err *err)
{
    struct err why = { 0 };
    int r = library_settle(home, id, err);
    if (r)
        return r < 0 ? r : forget_snapshots(home, id, err);
    int hold = session_hold(home, id, LIBRARY_WAIT_MS, err);
    if (hold < 0)
        return hold;
    r = forget_snapshots(home, id, err);
    if (r < 0) {
        close(hold);
        return r;
    }
    int forgotten = library_forget(home, id, &why);
    bool is_full = forgotten == -ENOSPC || forgotten == -EDQUOT;
    /* Rows of what is gone are never shown: a session can go also from under an index
     * that nobody can write to any more; on a full disk it makes the room for that. */
    bool can_go = !forgotten || forgotten == ERR_DAMAGED || forgotten == ERR_NEWER ||
                  is_full;
    r = can_go ? remove_files(home, id, err) : forgotten;
    if (!r && is_full)
        forgotten = library_forget(home, id, &why);
    close(hold);
    if (!can_go || (!r && forgotten))
        *err = why;
    return r < 0 ? r : forgotten < 0;
}
