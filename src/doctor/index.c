/* SPDX-License-Identifier: MIT */
/*
 * index.c -- library.db: is it there, ours, of this ahr, whole, and does it know all?
 *
 * It is looked at without locks and without a trace. So what looks damaged counts only if
 * nobody has written meanwhile.
 */
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "doctor/doctor_priv.h"
#include "library/index.h"
#include "session/folder.h"
#include "session/id.h"

enum { LOOKS_MAX = 5 };

struct look {
    const struct doctor *d;
    const char *path;
    unsigned stored, unindexed;
};

/* -- which it knows -- */

static int
compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void
count_unindexed(struct look *l, struct buf *ids)
{
    AUTO(buf) names = { 0 };
    size_t n = ids->n / (SESSION_ID_LEN + 1);
    l->stored = l->unindexed = 0;
    if (n)
        qsort(ids->p, n, SESSION_ID_LEN + 1, compare);
    (void)doctor_names(l->d->home, "sessions", &names);
    for (size_t at = 0; at < names.n; at += strlen((char *)names.p + at) + 1) {
        const char *id = (char *)names.p + at;
        if (!session_id_is(id) || !session_folder_exists(l->d->home, "sessions", id) ||
            session_folder_is_encrypted(l->d->home, id))
            continue; /* one that is locked away is in no index */
        l->stored++;
        l->unindexed += !n || !bsearch(id, ids->p, n, SESSION_ID_LEN + 1, compare);
    }
}

static int
look_once(struct look *l, struct err *err)
{
    AUTO(buf) ids = { 0 };
    struct store *s;
    int r = store_open(&s, l->path, STORE_PEEK, 0, err);
    if (!r) {
        r = store_ids(s, &ids, err);
        if (!r && l->d->is_deep)
            r = store_check(s, err);
        store_close(s);
    }
    count_unindexed(l, &ids);
    return r;
}

/* -- is it still what it was? -- */

struct state {
    struct stat db, wal;
};

static struct state
state_of(const char *path)
{
    AUTO(buf) wal = { .ceiling = PATH_MAX };
    struct state s = { 0 };
    (void)stat(path, &s.db);
    if (buf_printf(&wal, "%s-wal", path) == 0)
        (void)stat(buf_str(&wal), &s.wal);
    return s;
}

static bool
is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* 1: somebody wrote each time. */
static int
look(struct look *l, struct err *err)
{
    for (int i = 0; i < LOOKS_MAX; i++) {
        struct state before = state_of(l->path);
        int r = look_once(l, err);
        struct state after = state_of(l->path);
        if (r != ERR_DAMAGED || (is_same_file(&before.db, &after.db) &&
                                 is_same_file(&before.wal, &after.wal)))
            return r;
    }
    return 1;
}

/* -- telling -- */

static void
tell(const struct look *l, struct doctor_report *out, int r, const struct err *err)
{
    struct stat st;
    if (r == 1) {
        doctor_find(out, DOCTOR_NOTE, "'%s' is being written, and was not looked at",
                    l->path);
    } else if (r == ERR_MISSING) {
        bool is_old = stat(l->path, &st) == 0 && st.st_size;
        if (!is_old && !l->stored)
            return;
        struct doctor_finding *f = doctor_find(out, DOCTOR_NOTE, "%s", err->text);
        doctor_mend(f, "ahr index --all");
    } else if (r < 0) {
        struct doctor_finding *f = doctor_find(out, DOCTOR_ATTENTION, "%s", err->text);
        if (r == ERR_DAMAGED || r == ERR_NEWER)
            doctor_mend(f, "ahr reindex");
    } else if (l->unindexed) {
        struct doctor_finding *f = doctor_find(
            out, DOCTOR_NOTE, "%u of %u stored sessions are not in it yet", l->unindexed,
            l->stored);
        doctor_mend(f, "ahr index --all");
    }
}

void
doctor_index(const struct doctor *d, struct doctor_report *out)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    struct err err = { 0 };
    if (library_db_path(d->home, &path) < 0)
        return;
    struct look l = { .d = d, .path = buf_str(&path) };
    int r = look(&l, &err);
    tell(&l, out, r, &err);
    if (r == ERR_MISSING)
        doctor_sum(out, "none of use yet");
    else
        doctor_sum(out, "%s%s", l.path, d->is_deep && !r ? ", read to the end" : "");
}
