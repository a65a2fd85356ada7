/* SPDX-License-Identifier: MIT */
#include "library/remake_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/tree.h"
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

int
remake_init(struct remake *w, struct err *err)
{
    w->dir.ceiling = w->new_dir.ceiling = w->db_path.ceiling = PATH_MAX;
    buf_printf(&w->dir, "%s/sessions/%s", w->home, w->id);
    buf_printf(&w->new_dir, "%s/sessions/" SESSION_NEW "%s", w->home, w->id);
    int r = library_db_path(w->home, &w->db_path);
    if (!session_id_is(w->id)) /* or any folder could be taken for a session */
        return err_set(err, ERR_MISSING, "no session '%s'", w->id);
    if (r < 0 || w->dir.failed || w->new_dir.failed)
        return err_code(err, -ENAMETOOLONG, "cannot change session '%s'", w->id);
    return 0;
}

void
remake_let_go(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void
remake_release(struct remake *w)
{
    remake_let_go(&w->hold_fd);
    remake_let_go(&w->new_fd);
    remake_let_go(&w->sessions_fd);
    remake_let_go(&w->project_fd);
    store_close(w->beside);
    store_close(w->store);
    buf_release(&w->dir);
    buf_release(&w->new_dir);
    buf_release(&w->db_path);
    buf_release(&w->project);
}

/* -- what must be ours first -- */

/* One whose recorder has vanished is sealed first. */
static int
hold_stored(struct remake *w, struct err *err)
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

int
remake_hold_project(struct remake *w, struct err *err)
{
    (void)library_project_find(w->home, w->id, &w->project);
    if (!w->project.n)
        return 0;
    w->project_fd = anew_run_hold(buf_str(&w->project), err);
    return w->project_fd < -1 ? w->project_fd : 0;
}

int
remake_hold(struct remake *w, struct err *err)
{
    library_sweep(w->home); /* an old one may have to be put back first */
    w->hold_fd = hold_stored(w, err);
    if (w->hold_fd < 0)
        return w->hold_fd;
    w->sessions_fd = file_open_dir(buf_str(&w->dir));
    return w->sessions_fd < 0
               ? err_code(err, w->sessions_fd, "cannot open '%s/sessions'", w->home)
               : 0;
}

static int
explain_library(struct remake *w, int r, struct err *err)
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
open_beside(struct remake *w, struct err *err)
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
int
remake_open_library(struct remake *w, struct err *err)
{
    int r = open_beside(w, err);
    if (!r)
        r = store_open(&w->store, buf_str(&w->db_path), STORE_WRITE, LIBRARY_WAIT_MS,
                       err);
    return r < 0 ? explain_library(w, r, err) : 0;
}

/* -- the new folder -- */

static int
remove_hidden(struct remake *w, const char *prefix, struct err *err)
{
    char name[sizeof(SESSION_NEW) + SESSION_ID_LEN];
    snprintf(name, sizeof(name), "%s%s", prefix, w->id);
    int r = tree_remove(w->sessions_fd, name);
    return r < 0 ? err_code(err, r, "cannot remove '%s/sessions/%s'", w->home, name) : 0;
}

/* Whoever sweeps may have taken it away before it was held. */
static int
make_held(struct remake *w)
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
int
remake_folder(struct remake *w, struct err *err)
{
    int r = remove_hidden(w, SESSION_NEW, err);
    if (!r)
        r = remove_hidden(w, SESSION_OLD, err);
    if (r < 0)
        return r;
    r = make_held(w);
    return r < 0 ? err_code(err, r, "cannot make '%s'", buf_str(&w->new_dir)) : 0;
}

int
remake_drop(struct remake *w, struct err *err)
{
    return remove_hidden(w, SESSION_NEW, err);
}

/* -- the exchange, and what comes behind it -- */

int
remake_exchange(struct remake *w, struct err *err)
{
    AUTO(buf) old = { 0 };
    int r = session_exchange(w->home, w->id, &old, err);
    if (r < 0)
        return r;
    /* From here on nothing is taken back: to go on is the way to an end. */
    w->is_exchanged = true;
    if (fsync(w->sessions_fd) < 0 && errno != EINVAL)
        return err_sys(
            err,
            "cannot write '%s/sessions' to the disk, and the session as it was "
            "stays in '%s' until the next ahr sweeps there",
            w->home, buf_str(&old));
    r = tree_remove(w->sessions_fd, file_name(buf_str(&old)));
    if (r < 0)
        return err_code(err, r, "'%s', the session as it was, cannot be removed",
                        buf_str(&old));
    return fsync(w->sessions_fd) < 0 && errno != EINVAL
               ? err_sys(err, "cannot write '%s/sessions' to the disk", w->home)
               : 0;
}

int
remake_forget_keyframes(struct remake *w, struct err *err)
{
    AUTO(buf) tape = { .ceiling = PATH_MAX };
    int r = buf_printf(&tape, "%s/session.ahr", buf_str(&w->dir));
    return r < 0 ? err_code(err, r, "cannot remove keyframes")
                 : library_keyframes_remove(buf_str(&tape), err);
}

int
remake_others(struct remake *w, struct buf *ret_ids)
{
    AUTO(buf) ids = { 0 };
    if (!w->project.n)
        return 0;
    int r = ids_collect(&ids, w->home, "sessions", "");
    ids_sort(&ids);
    for (size_t i = 0; !r && i < ids_count(&ids); i++) {
        AUTO(buf) project = { .ceiling = PATH_MAX };
        const char *id = ids_at(&ids, i);
        if (!strcmp(id, w->id))
            continue;
        (void)library_project_find(w->home, id, &project);
        if (project.n && !strcmp(buf_str(&project), buf_str(&w->project)))
            r = buf_append(ret_ids, id, IDS_STEP);
    }
    return r;
}

int
remake_first_error(int r, int next, const struct err *why, struct err *err)
{
    return r < 0 || next >= 0 ? r : err_set(err, next, "%s", why->text);
}
