/* SPDX-License-Identifier: MIT */
#include "cli/branch_point.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include "session/folder.h"
#include "session/lines.h"

/* -- a mark of the session -- */

struct mark {
    const char *what; /* a person calls it so */
    bool is_found;
    uint64_t id, anchor_byte;
};

/* A session_moment_fn. An id is meant before a label, and the last of several. */
static int
compare_mark(void *ctx, const struct session_moment *m)
{
    struct mark *mark = ctx;
    char id[24];
    snprintf(id, sizeof(id), "%" PRIu64, m->id);
    bool is_it = !strcmp(id, mark->what);
    bool is_label = m->text.n && m->text.n == strlen(mark->what) &&
                    !memcmp(m->text.p, mark->what, m->text.n);
    if (is_it || is_label) {
        mark->is_found = true;
        mark->id = m->id;
        mark->anchor_byte = m->anchor_byte;
    }
    return 0;
}

static void
find_mark(struct mark *ret, struct library_found *session)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    struct session_unread ignored;
    if (session_sibling_path(buf_str(&session->tape_path), SESSION_SNAPSHOTS, &path) < 0)
        return;
    (void)session_moments_read(buf_str(&path), SESSION_SNAPSHOT, compare_mark, ret,
                               &ignored);
}

/* -- what is nearest to it -- */

struct nearest {
    uint64_t anchor_byte;   /* to this */
    uint64_t id, far_bytes; /* UINT64_MAX: none yet */
};

/* A snap_list_fn. They come by their time: of two as near it is the newer one. */
static int
compare_anchor(void *ctx, const struct snap_facts *f, const char *repo_path)
{
    struct nearest *n = ctx;
    (void)repo_path;
    if (f->anchor_byte == SNAP_NONE)
        return 0;
    uint64_t far_bytes = f->anchor_byte > n->anchor_byte
                             ? f->anchor_byte - n->anchor_byte
                             : n->anchor_byte - f->anchor_byte;
    if (far_bytes <= n->far_bytes) {
        n->far_bytes = far_bytes;
        n->id = f->id;
    }
    return 0;
}

static int
explain_mark(const char *home, const char *session, const struct mark *mark,
             struct err *err)
{
    struct nearest n = { .anchor_byte = mark->anchor_byte, .far_bytes = UINT64_MAX };
    struct snap_filter own = { .session = session };
    struct err ignored;
    (void)snap_list(home, &own, compare_anchor, &n, &ignored);
    if (n.far_bytes == UINT64_MAX)
        return err_set(
            err, ERR_MISSING,
            "'%.80s' is a mark without files; 'ahr fs list --session %s' shows "
            "the snapshots that have them",
            mark->what, session);
    return err_set(err, ERR_MISSING,
                   "'%.80s' is a mark without files; the snapshot nearest to it that has "
                   "them is %" PRIu64 ": 'ahr branch %s --at %" PRIu64 "'",
                   mark->what, n.id, session, n.id);
}

int
cli_branch_point(struct snap_found *ret, const char *home, struct library_found *session,
                 const char *what, struct err *err)
{
    if (!snap_has(home, session->id))
        return err_set(err, ERR_MISSING,
                       "session %s has no snapshots of files, and so nothing to go on "
                       "from: 'ahr record --auto-snapshot' takes them as it records, "
                       "'ahr fs snapshot' one at a time",
                       session->id);
    int r = snap_find_of(ret, home, session->id, what ? what : "last", err);
    struct mark mark = { .what = what };
    if (r == ERR_MISSING && what)
        find_mark(&mark, session);
    return mark.is_found ? explain_mark(home, session->id, &mark, err) : r;
}
