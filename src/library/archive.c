/* SPDX-License-Identifier: MIT */
/*
 * archive.c -- one session archived, or back.
 *
 * The session is out of the index while its own file changes, as for every change of a
 * stored session: its size is another one afterwards. The locks are those of `redact`,
 * in the same order: the session's, then the run's folder in its project.
 */
#include "library/archive.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "journal/project.h"
#include "library/anew_run_priv.h"
#include "library/archive_priv.h"
#include "library/change_priv.h"
#include "library/index.h"
#include "library/runs.h"
#include "session/folder.h"
#include "session/hold.h"

struct work {
    const char *home, *id; /* borrowed, and so is the next */
    const struct library_archive *opt;
    struct buf dir, run_dir;
    int fd, run_fd; /* held; -1: none */
    uint64_t done, total;
};

static void
work_release(struct work *w)
{
    if (w->run_fd >= 0)
        close(w->run_fd);
    if (w->fd >= 0)
        close(w->fd);
    buf_release(&w->dir);
    buf_release(&w->run_dir);
}

/* -- what must be ours first -- */

static bool
is_counted(struct work *w)
{
    struct buf *counted = w->opt->counted;
    const char *dir = buf_str(&w->run_dir);
    if (!w->opt->is_dry_run || !counted)
        return false;
    for (size_t at = 0; at < counted->n; at += strlen((char *)counted->p + at) + 1)
        if (!strcmp((char *)counted->p + at, dir))
            return true;
    (void)buf_append(counted, dir, w->run_dir.n + 1);
    return false;
}

static int
hold_run(struct work *w, struct err *err)
{
    struct stat st;
    (void)library_project_find(w->home, w->id, &w->run_dir);
    if (!w->run_dir.n)
        return 0;
    const char *dir = buf_str(&w->run_dir);
    if (lstat(dir, &st) == 0 && S_ISLNK(st.st_mode))
        return err_set(err, -ELOOP,
                       "'%s' is a link, and what it leads to may be anybody's: put the "
                       "folder in its place first",
                       dir);
    int fd = is_counted(w) ? -1 : anew_run_hold(dir, err);
    if (fd < -1)
        return fd;
    w->run_fd = fd;
    return 0;
}

static int
hold(struct work *w, struct err *err)
{
    int r = w->opt->is_dry_run ? 0 : library_settle(w->home, w->id, err);
    if (r > 0)
        return err_set(err, ERR_MISSING, "there is nothing left of session '%s'", w->id);
    if (r < 0)
        return r;
    if (w->opt->is_dry_run && session_folder_is_held(w->home, w->id))
        return err_set(err, ERR_BUSY, "session '%s' is being recorded", w->id);
    if (buf_printf(&w->dir, "%s/sessions/%s", w->home, w->id) < 0)
        return err_code(err, -ENAMETOOLONG, "cannot archive session '%s'", w->id);
    w->fd = session_hold(w->home, w->id, LIBRARY_WAIT_LOOK_MS, err);
    if (w->fd < 0)
        return w->fd;
    return hold_run(w, err);
}

/* -- the files -- */

/* A gz_progress step. */
static void
step(void *ctx, uint64_t bytes)
{
    struct work *w = ctx;
    w->done += bytes;
    if (w->opt->step)
        w->opt->step(w->opt->ctx, w->done, w->total);
}

static struct archive
count(struct work *w, bool is_undo, bool is_run)
{
    struct archive a = { .is_undo = is_undo, .is_dry_run = true };
    if (is_run && w->run_fd >= 0)
        archive_run(&a, w->run_fd, buf_str(&w->run_dir));
    if (!is_run)
        archive_session(&a, w->fd, buf_str(&w->dir));
    return a;
}

static bool
is_any(struct archive a)
{
    return a.files || a.failed;
}

/* Those that are where they should be already. */
static bool
has_others(struct work *w)
{
    return is_any(count(w, !w->opt->is_undo, false)) ||
           is_any(count(w, !w->opt->is_undo, true));
}

/* What comes before the first file: all that may fail as a whole. */
static int
prepare(struct work *w, bool has_turns, bool has_run, struct err *err)
{
    int r = 0;
    if (w->opt->is_dry_run)
        return 0;
    if (has_run && !w->opt->is_undo) /* a log that goes on would do so for ever */
        r = journal_project_mend(buf_str(&w->run_dir), err);
    if (r == -ELOOP)
        r = 0; /* that file is told, and left alone */
    if (r >= 0 && has_turns)
        r = library_forget(w->home, w->id, err);
    return r < 0 ? r : 0;
}

/* The session is held. */
static int
change(struct work *w, struct archive *a, bool *ret_is_forgotten, struct err *err)
{
    struct archive turns = count(w, w->opt->is_undo, false);
    struct archive run = count(w, w->opt->is_undo, true);
    int r = prepare(w, is_any(turns), is_any(run), err);
    if (r < 0)
        return r;
    *ret_is_forgotten = is_any(turns) && !w->opt->is_dry_run;
    w->total = w->opt->is_undo ? 0 : turns.before + run.before;
    if (is_any(turns))
        archive_session(a, w->fd, buf_str(&w->dir));
    if (is_any(run))
        archive_run(a, w->run_fd, buf_str(&w->run_dir));
    return 0;
}

static int
report(const struct archive *a, const char *id, struct err *err)
{
    if (!a->failed)
        return 0;
    return err_set(err, a->error, "%" PRIu64 " file%s of session '%s' %s not %s",
                   a->failed, a->failed == 1 ? "" : "s", id,
                   a->failed == 1 ? "was" : "were",
                   a->is_undo ? "unpacked whole" : "archived");
}

static int
archive(struct work *w, struct library_archived *ret, struct err *err)
{
    const struct gz_progress progress = { step, w };
    struct archive a = { .is_undo = w->opt->is_undo,
                         .is_rescue = w->opt->is_undo,
                         .is_dry_run = w->opt->is_dry_run,
                         .progress = &progress,
                         .tell = w->opt->tell,
                         .ctx = w->opt->ctx };
    bool is_forgotten = false;
    int r = change(w, &a, &is_forgotten, err);
    *ret = (struct library_archived){ .files = a.files,
                                      .before = a.before,
                                      .after = w->opt->is_dry_run ? 0 : a.after,
                                      .failed = a.failed,
                                      .has_any = is_any(a) || has_others(w) };
    close(w->fd); /* who indexes it holds it */
    w->fd = -1;
    if (is_forgotten)
        library_index_again(w->home, w->id, w->opt->redact);
    return r < 0 ? r : report(&a, w->id, err);
}

int
library_archive(const char *home, const char *id, const struct library_archive *opt,
                struct library_archived *ret, struct err *err)
{
    AUTO(work)
    w = { .home = home,
          .id = id,
          .opt = opt,
          .dir.ceiling = PATH_MAX,
          .run_dir.ceiling = PATH_MAX,
          .fd = -1,
          .run_fd = -1 };
    *ret = (struct library_archived){ 0 };
    int r = hold(&w, err);
    return r < 0 ? r : archive(&w, ret, err);
}
