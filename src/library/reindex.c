/* SPDX-License-Identifier: MIT */
/*
 * reindex.c -- all sessions anew, into a library of its own, which then takes the old
 * one's place.
 *
 * The others go on meanwhile, with the old one. What each session's files were like is
 * noted before they are read. When nobody can open the old one any more, those that were
 * changed since are taken out again, and those that somebody holds, who may have taken
 * them out of the old one to change them. What is not in the new library then is indexed
 * as ever, by us or, if we are killed, by the next who looks.
 */
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "library/ids_priv.h"
#include "library/index_priv.h"
#include "session/hold.h"
#include "session/lines.h"

/* What a session's files were like. */
struct stamp {
    dev_t dev;
    ino_t folder, tape, meta, turns;
    struct timespec tape_time, meta_time;
};

struct reindex {
    const char *home;  /* borrowed */
    struct buf ids;    /* in sessions/, as they were listed */
    struct buf stamps; /* of each */
};

static void
reindex_release(struct reindex *re)
{
    buf_release(&re->ids);
    buf_release(&re->stamps);
}

static bool
look(const char *home, const char *id, const char *name, struct stat *ret)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    return buf_printf(&path, "%s/sessions/%s%s", home, id, name) == 0 &&
           lstat(buf_str(&path), ret) == 0;
}

static struct stamp
stamp_of(const char *home, const char *id)
{
    struct stamp stamp = { 0 };
    struct stat st;
    if (look(home, id, "", &st)) {
        stamp.dev = st.st_dev;
        stamp.folder = st.st_ino;
    }
    if (look(home, id, "/session.ahr", &st)) {
        stamp.tape = st.st_ino;
        stamp.tape_time = st.st_mtim;
    }
    if (look(home, id, "/session.meta.json", &st)) {
        stamp.meta = st.st_ino;
        stamp.meta_time = st.st_mtim;
    }
    if (look(home, id, "/session." SESSION_TURNS, &st))
        stamp.turns = st.st_ino;
    return stamp;
}

static bool
is_same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool
is_same(const struct stamp *a, const struct stamp *b)
{
    return a->dev == b->dev && a->folder == b->folder && a->tape == b->tape &&
           a->meta == b->meta && a->turns == b->turns &&
           is_same_time(a->tape_time, b->tape_time) &&
           is_same_time(a->meta_time, b->meta_time);
}

static int
note_stamps(struct reindex *re, struct err *err)
{
    re->stamps.ceiling = SIZE_MAX;
    for (size_t i = 0; i < ids_count(&re->ids); i++) {
        struct stamp stamp = stamp_of(re->home, ids_at(&re->ids, i));
        int r = buf_append(&re->stamps, &stamp, sizeof(stamp));
        if (r < 0)
            return err_code(err, r, "cannot list the sessions in '%s'", re->home);
    }
    return 0;
}

/* -- what has changed meanwhile -- */

static bool
is_stale(const struct reindex *re, size_t i)
{
    const struct stamp *was = (const struct stamp *)(const void *)re->stamps.p + i;
    int hold = session_hold(re->home, ids_at(&re->ids, i), 0, NULL);
    if (hold < 0)
        return true;
    struct stamp now = stamp_of(re->home, ids_at(&re->ids, i));
    close(hold);
    return !is_same(was, &now);
}

static int
drop_stale(struct reindex *re, struct store *s, struct err *err)
{
    int r = 0;
    for (size_t i = 0; !r && i < ids_count(&re->ids); i++)
        if (is_stale(re, i))
            r = index_drop(s, ids_at(&re->ids, i), err);
    return r;
}

int
library_reindex(const char *home, struct redact *redact, library_each_fn each, void *ctx,
                struct err *err)
{
    AUTO(reindex) re = { .home = home };
    AUTO(buf) path = { .ceiling = PATH_MAX };
    struct store *s;
    int r = library_db_path(home, &path);
    if (!r)
        r = ids_collect_stored(&re.ids, home);
    if (r < 0)
        return err_code(err, r, "cannot list the sessions in '%s'", home);
    if (access(home, F_OK) < 0 && errno == ENOENT)
        return 0; /* there was no session ever */
    ids_sort(&re.ids);
    r = store_new_beside(&s, buf_str(&path), err);
    if (r < 0)
        return r;
    r = note_stamps(&re, err);
    if (!r)
        r = index_list(s, home, &re.ids, LIBRARY_WAIT_LOOK_MS, redact, each, ctx, err);
    if (!r)
        r = store_claim(s, buf_str(&path), LIBRARY_WAIT_INDEX_MS, err);
    if (!r)
        r = drop_stale(&re, s, err);
    if (r < 0) {
        store_close(s);
        return r;
    }
    r = store_swap(s, buf_str(&path), 0, err);
    if (!r)
        r = store_open(&s, buf_str(&path), STORE_WRITE, LIBRARY_WAIT_INDEX_MS, err);
    if (r < 0)
        return r;
    r = library_index_pending(s, home, LIBRARY_WAIT_LOOK_MS, redact, NULL, NULL, err);
    store_close(s);
    return r;
}
