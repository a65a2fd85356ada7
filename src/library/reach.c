/* SPDX-License-Identifier: MIT */
/*
 * reach.c -- from what a person calls a session to the sockets of its recorder.
 *
 * Whether a recorder lives is told by the lock of its folder. It may end at any time:
 * whoever connects then finds nobody there.
 */
#include "library/reach.h"

#include <errno.h>
#include <limits.h>

#include "library/ids_priv.h"
#include "library/session.h"
#include "session/folder.h"
#include "session/home.h"
#include "session/meta.h"
#include "session/sockets.h"

void
library_live_release(struct library_live *l)
{
    library_found_release(&l->found);
    buf_release(&l->ctl_path);
    buf_release(&l->done_tape_path);
}

/* All 0: not known. */
static struct session_facts
read_facts(const char *home, const char *id)
{
    AUTO(buf) dir = { .ceiling = PATH_MAX };
    AUTO(buf) tape = { 0 };
    AUTO(buf) meta = { 0 };
    struct session_facts facts = { 0 };
    if (buf_printf(&dir, "%s/live/%s", home, id) == 0 &&
        session_folder_paths(buf_str(&dir), &tape, &meta) == 0)
        (void)session_meta_read(buf_str(&meta), &facts, NULL);
    return facts;
}

/* The live session that began last, of those called so; name NULL: whatever it is called.
 * NULL: none. */
static const char *
newest_held(const struct buf *ids, const char *home, const char *name)
{
    const char *best = NULL;
    uint64_t best_ns = 0;
    for (size_t i = 0; i < ids_count(ids); i++) {
        const char *id = ids_at(ids, i);
        if (!session_folder_is_held(home, id))
            continue;
        struct session_facts facts = read_facts(home, id);
        if (name && strcmp(facts.name, name) != 0)
            continue;
        if (!best || facts.started_at_ns >= best_ns) { /* if not known, the later day */
            best = id;
            best_ns = facts.started_at_ns;
        }
    }
    return best;
}

/* what NULL: any live one. A live one comes before others of its name, and before a file
 * that happens to be called so. */
static int
find(struct library_found *ret, const char *home, const char *what, struct err *err)
{
    AUTO(buf) ids = { 0 };
    int r = ids_collect(&ids, home, "live", "");
    if (r < 0)
        return err_code(err, r, "cannot list the sessions in '%s'", home);
    ids_sort(&ids);
    char run[SESSION_ID_LEN + 1];
    bool is_run = what && library_find_run(what, run) &&
                  session_folder_is_held(home, run);
    const char *id = is_run ? run : newest_held(&ids, home, what);
    if (!id && !what)
        return err_set(err, ERR_MISSING, "no session is being recorded");
    return library_find(ret, id ? id : what, err);
}

static int
tell_end(struct library_found *f, const char *what, struct err *err)
{
    struct session_facts facts = { 0 };
    if (f->is_encrypted)
        return library_refuse_encrypted(what, err);
    if (f->meta_path.n)
        (void)session_meta_read(buf_str(&f->meta_path), &facts, NULL);
    if (!*facts.status)
        return err_set(err, ERR_MISSING, "session '%s' has ended", what);
    return err_set(err, ERR_MISSING,
                   "session '%s' has ended (%s); 'ahr view %s' shows it", what,
                   facts.status, what);
}

/* It has; can it be reached? */
static int
check_recorder(struct library_found *f, const char *home, const char *what,
               struct err *err)
{
    AUTO(library_session) s = { 0 };
    struct err ignored;
    if (library_session_read(&s, home, f->id, &ignored) < 0 || !s.lost_pid)
        return 0;
    return err_set(err, ERR_MISSING,
                   "the recorder of session '%s' lives (process %d), but its socket is "
                   "gone: it cannot be reached, and is left alone",
                   what, s.lost_pid);
}

/* Has it a recorder? */
static int
check(struct library_found *f, const char *home, const char *what, struct err *err)
{
    if (!*f->id)
        return err_set(err, ERR_MISSING,
                       "'%s' is a file; a session that is being recorded goes by its id "
                       "or its name",
                       what);
    if (!f->is_live)
        return tell_end(f, what, err);
    if (session_folder_is_held(home, f->id))
        return check_recorder(f, home, what, err);
    /* Unless it has just ended. */
    AUTO(library_found) now = { 0 };
    if (library_find(&now, f->id, NULL) == 0 && !now.is_live)
        return tell_end(&now, what, err);
    return err_set(
        err, ERR_MISSING,
        "the recorder of session '%s' has vanished; 'ahr recover %s' makes the "
        "recording whole",
        what, what);
}

static int
set_paths(struct library_live *l, const char *home, struct err *err)
{
    AUTO(buf) live = { .ceiling = PATH_MAX };
    AUTO(buf) inside = { .ceiling = PATH_MAX };
    buf_printf(&live, "%s/live/%s", home, l->found.id);
    buf_printf(&inside, "%s/session.ahr", buf_str(&live));
    if (live.failed || inside.failed)
        return err_code(err, -ENAMETOOLONG, "cannot reach session '%s'", l->found.id);
    int r = session_sockets_find(buf_str(&live), &l->ctl_path, err);
    if (r < 0)
        return r;
    buf_puts(&l->ctl_path, "/" SESSION_CTL_SOCK);
    if (!strcmp(buf_str(&l->found.tape_path), buf_str(&inside)))
        buf_printf(&l->done_tape_path, "%s/sessions/%s/session.ahr", home, l->found.id);
    else
        buf_append(&l->done_tape_path, l->found.tape_path.p, l->found.tape_path.n);
    r = l->ctl_path.failed ? l->ctl_path.failed : l->done_tape_path.failed;
    return r < 0 ? err_code(err, r, "cannot reach session '%s'", l->found.id) : 0;
}

int
library_reach(struct library_live *ret, const char *what, struct err *err)
{
    AUTO(buf) home = { .ceiling = PATH_MAX };
    struct library_live l = { 0 };
    int r = session_home(&home, err);
    if (r < 0)
        return r;
    bool is_any = !what || !strcmp(what, "last");
    r = find(&l.found, buf_str(&home), is_any ? NULL : what, err);
    if (!r)
        r = check(&l.found, buf_str(&home), is_any ? l.found.id : what, err);
    if (!r)
        r = set_paths(&l, buf_str(&home), err);
    if (r < 0)
        library_live_release(&l);
    else
        *ret = l;
    return r;
}
