/* SPDX-License-Identifier: MIT */
/*
 * recover.c -- sessions whose recorder has vanished.
 *
 * The recording is made whole, then the lines of its snapshots are, then the meta tells
 * of it, then the folder moves: each step finds its own work done when it is taken a
 * second time. A meta that tells of an end already stays as it is, for its recorder had
 * only the move to do.
 */
#include "library/recover.h"

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "library/damaged.h"
#include "library/ids_priv.h"
#include "library/index.h"
#include "library/left.h"
#include "library/recover_meta.h"
#include "library/recover_run.h"
#include "library/snapshots_priv.h"
#include "session/folder.h"
#include "session/hold.h"
#include "session/home.h"
#include "session/meta.h"

/* Has the out-file been recorded over by a later session? */
static bool
is_taken_over(const struct session_folder *f)
{
    struct session_facts facts;
    return f->is_outside && session_meta_read(f->meta_path, &facts, NULL) == 0 &&
           *facts.id && strcmp(facts.id, f->id) != 0;
}

static bool
has_bytes(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && st.st_size > 0;
}

static int
tell_end(const struct session_folder *f, uint64_t at_least_ns, struct err *err)
{
    struct session_facts facts;
    bool is_told = session_meta_read(f->meta_path, &facts, NULL) == 0 && *facts.status &&
                   strcmp(facts.status, session_status_name(SESSION_ACTIVE)) != 0;
    return is_told ? 0
                   : recover_meta(f->dir, f->id, f->tape_path, f->meta_path, at_least_ns,
                                  err);
}

/* What has become of it. TALK: a ruin, but for what was said. */
enum outcome { SEALED, NOTHING, RUIN, TALK };

/* r is what repair gave. */
static int
judge(const struct session_folder *f, int r, const struct tape_repair_report *done,
      struct err *err)
{
    if (r == ERR_MISSING)
        return NOTHING;
    if (r == ERR_DAMAGED && !f->is_outside) {
        struct err why;
        int is_ruin = library_is_ruin(f->tape_path, &why);
        if (is_ruin < 0)
            *err = why;
        return is_ruin < 0 ? is_ruin : is_ruin ? RUIN : r;
    }
    if (r < 0 || done->blocks)
        return r < 0 ? r : SEALED;
    if (!library_has_bytes(f->tape_path))
        return NOTHING;
    /* Tails that were cut in their first record hold nothing, but are still there in a
     * dry run. */
    bool is_kept = done->torn_bytes || done->bad_tails || done->damages;
    return !is_kept ? NOTHING : f->is_outside ? SEALED : RUIN;
}

/* Who starts another session in its folder is told of it. Runs are found there. */
static void
note_left(const struct session_folder *f)
{
    AUTO(session_told) told = { 0 };
    bool is_told = session_meta_tell(f->meta_path, &told, NULL) == 0 && told.cwd;
    bool is_other = told.kind &&
                    (!strcmp(told.kind, "stream") || !strcmp(told.kind, "wire"));
    if (is_told && told.status && !strcmp(told.status, "interrupted") && !is_other)
        library_left_note(f->home, f->id, told.cwd);
}

/* To sessions/, or to damaged/; or it is removed, but what stands at an out-file stays.
 */
static int
put_away(struct session_folder *f, enum outcome what, bool is_ours, uint64_t at_least_ns,
         struct err *err)
{
    bool is_kept = what != NOTHING || (f->is_outside && has_bytes(f->meta_path));
    if (!is_ours || !is_kept) {
        session_folder_discard(f);
        return 0;
    }
    int r = what == SEALED ? snapshots_complete(f->tape_path, err) : 0;
    if (!r || r == ERR_MISSING) /* a run may have events alone */
        r = tell_end(f, at_least_ns, err);
    if (r < 0)
        return r;
    if (what != RUIN && !f->is_outside)
        note_left(f);
    return what == RUIN ? library_set_aside(f->home, "live", f->id, NULL, err)
                        : session_folder_finish(f, err);
}

/* A conversation is worth as much as a recording. */
static enum outcome
beside(const struct session_folder *f, enum outcome what)
{
    if (what == NOTHING && (recover_has_turns(f) || recover_has_wire(f)))
        return SEALED; /* events, of which nothing was shown yet */
    return what == RUIN && library_has_talk(f->dir) ? TALK : what;
}

/* The folder is ours. */
static int
recover(struct session_folder *f, bool is_dry_run, const struct tape_progress *progress,
        struct tape_repair_report *ret, struct library_project *ret_project,
        struct err *err)
{
    struct stat st;
    if (!f->is_outside && lstat(f->tape_path, &st) == 0 && !S_ISREG(st.st_mode))
        return err_set(err, ERR_DAMAGED, "'%s' is no regular file; it is left alone",
                       f->tape_path);
    bool is_ours = !is_taken_over(f);
    int r = !is_ours ? ERR_MISSING
                     : tape_repair(tape_io_files(), f->tape_path, is_dry_run, progress,
                                   ret, err);
    r = judge(f, r, ret, err);
    if (r < 0)
        return r;
    enum outcome what = is_ours && !f->is_outside ? beside(f, (enum outcome)r)
                                                  : (enum outcome)r;
    ret->damages += what == TALK;
    if (is_dry_run)
        return (int)what;
    struct err why;
    uint64_t wire_ns = 0; /* the last that went over it */
    if (is_ours && recover_wire(f, &wire_ns, &why) < 0 && !ret_project->why.code)
        ret_project->why = why;
    r = f->is_outside ? 0 : recover_run(f, ret_project, err);
    if (r < 0)
        return r;
    r = put_away(f, what, is_ours, wire_ns, err);
    return r < 0 ? r : (int)what;
}

int
library_recover(const char *id, bool is_dry_run, const struct tape_progress *progress,
                struct tape_repair_report *ret, struct buf *ret_path,
                struct library_project *ret_project, struct err *err)
{
    AUTO(library_project) project = { 0 };
    AUTO(buf) home = { .ceiling = PATH_MAX };
    AUTO(session_folder) f = { .lock_fd = -1 };
    struct tape_repair_report report = { 0 };
    struct err ignored;
    err = err ? err : &ignored;
    if (!session_id_is(id)) /* or any folder could be taken for a session */
        return err_set(err, ERR_MISSING, "no session '%s'", id);
    int r = session_home(&home, err);
    if (!r)
        r = session_folder_take(&f, buf_str(&home), id, err);
    if (!r)
        r = recover(&f, is_dry_run, progress, &report,
                    ret_project ? ret_project : &project, err);
    if (r < 0)
        return r;
    if ((r == SEALED || r == TALK) && buf_puts(ret_path, f.tape_path) < 0)
        return err_code(err, ret_path->failed, "cannot tell where '%s' is", id);
    report.is_changed = true; /* at least it moves */
    *ret = report;
    return r == RUIN;
}

/* -- stored ones -- */

/* A library that is damaged knows nothing, until it is made anew of what is here. */
static int
forget(const char *home, const char *id, struct err *err)
{
    int r = library_forget(home, id, err);
    return r == ERR_DAMAGED ? 0 : r;
}

struct mending {
    const char *home, *id;
    struct buf dir, tape, meta;
    const struct tape_progress *progress;
    bool is_ruin; /* nothing of its recording can be read … */
    bool is_talk; /* … or there is none, and what was said is there */
    bool is_meta_lost;
};

static void
mending_release(struct mending *m)
{
    buf_release(&m->dir);
    buf_release(&m->tape);
    buf_release(&m->meta);
}

static int
repair(struct mending *m, bool is_dry_run, struct tape_repair_report *ret,
       struct err *err)
{
    return tape_repair(tape_io_files(), buf_str(&m->tape), is_dry_run, m->progress, ret,
                       err);
}

/* Held, and in no row. */
static int
mend_files(struct mending *m, struct tape_repair_report *ret, struct err *err)
{
    int r = m->is_talk ? 0 : repair(m, false, ret, err);
    if (r < 0 || !m->is_meta_lost)
        return r;
    ret->is_changed = true;
    return recover_meta(buf_str(&m->dir), m->id, buf_str(&m->tape), buf_str(&m->meta), 0,
                        err);
}

/* Changes nothing. */
static int
examine(struct mending *m, struct tape_repair_report *ret, struct err *err)
{
    struct err why;
    int r = repair(m, true, ret, err);
    m->is_ruin = r == ERR_DAMAGED && library_is_ruin(buf_str(&m->tape), &why) == 1;
    bool is_bare = m->is_ruin || r == ERR_MISSING ||
                   (!r && !ret->blocks && !ret->is_changed);
    m->is_talk = is_bare && library_has_talk(buf_str(&m->dir));
    if (m->is_talk) {
        m->is_ruin = false;
        ret->damages++;
        r = 0;
    }
    m->is_meta_lost = !r && recover_is_meta_lost(buf_str(&m->meta));
    ret->is_changed |= m->is_meta_lost;
    return r;
}

/* Held. First it is only looked at: a session that is whole stays in the index. */
static int
mend(struct mending *m, bool is_dry_run, struct tape_repair_report *ret, struct err *err)
{
    int r = examine(m, ret, err);
    if (is_dry_run || (!m->is_ruin && (r < 0 || !ret->is_changed)))
        return m->is_ruin ? 1 : r;
    r = forget(m->home, m->id, err);
    if (r < 0)
        return r;
    if (!m->is_ruin)
        return mend_files(m, ret, err);
    r = library_set_aside(m->home, "sessions", m->id, NULL, err);
    return r < 0 ? r : 1;
}

int
library_mend(const char *id, bool is_dry_run, const struct tape_progress *progress,
             struct tape_repair_report *ret, struct err *err)
{
    AUTO(buf) home = { .ceiling = PATH_MAX };
    AUTO(mending) m = { .id = id, .progress = progress };
    struct tape_repair_report report = { 0 };
    int r = session_home(&home, err);
    if (r < 0)
        return r;
    m.home = buf_str(&home);
    buf_printf(&m.dir, "%s/sessions/%s", m.home, id);
    buf_printf(&m.tape, "%s/session.ahr", buf_str(&m.dir));
    r = buf_printf(&m.meta, "%s/session." SESSION_META, buf_str(&m.dir));
    if (r < 0 || m.tape.failed)
        return err_code(err, -ENAMETOOLONG, "cannot read session '%s'", id);
    int hold = session_hold(m.home, id, LIBRARY_WAIT_MS, err);
    if (hold < 0)
        return hold;
    r = mend(&m, is_dry_run, &report, err);
    close(hold);
    if (r >= 0)
        *ret = report;
    return r;
}

/* -- those that there are -- */

int
library_interrupted(struct buf *ret_ids, uint64_t *ret_held, struct err *err)
{
    AUTO(buf) home = { .ceiling = PATH_MAX };
    AUTO(buf) ids = { 0 };
    uint64_t held = 0;
    int r = session_home(&home, err);
    if (r < 0)
        return r;
    session_folder_sweep(buf_str(&home));
    r = ids_collect(&ids, buf_str(&home), "live", "");
    ids_sort(&ids);
    for (size_t i = 0; !r && i < ids_count(&ids); i++) {
        AUTO(session_folder) f = { .lock_fd = -1 };
        int taken = session_folder_take(&f, buf_str(&home), ids_at(&ids, i), NULL);
        held += taken == ERR_BUSY;
        /* One that cannot be taken for another reason is to be told of. */
        if (taken != ERR_BUSY && taken != ERR_MISSING)
            r = buf_append(ret_ids, ids_at(&ids, i), IDS_STEP);
    }
    if (r < 0)
        return err_code(err, r, "cannot list the sessions in '%s'", buf_str(&home));
    if (ret_held)
        *ret_held = held;
    return 0;
}
