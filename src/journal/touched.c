/* SPDX-License-Identifier: MIT */
/*
 * touched.c -- an open call is kept as its id, and the files as one part: for each its
 * path and the number of what happens to it.
 */
#include "journal/touched.h"

#include <string.h>

#include "base/parts.h"
#include "journal/artifact_path_priv.h"
#include "journal/artifact_priv.h"

enum {
    OPEN_MAX = 1 << 20, /* bytes of calls that are open; the oldest give way */
    ID_MAX = 1 << 10,
};

static const char *const actions[] = { NULL, "created", "modified", "deleted" };

enum { ACTIONS = sizeof(actions) / sizeof(actions[0]) };

void
journal_touched_release(struct journal_touched *t)
{
    buf_release(&t->open);
}

/* -- calls -- */

struct noting {
    const char *cwd;
    struct buf *files;
};

/* A journal_tool_fn. */
static void
note_file(void *ctx, struct view path, const char *action)
{
    struct noting *n = ctx;
    AUTO(buf) whole = { 0 };
    uint64_t which = 0;
    for (uint64_t i = 1; action && i < ACTIONS; i++)
        which = strcmp(action, actions[i]) ? which : i;
    if (n->files->n > OPEN_MAX / 4 ||
        !journal_path_whole(path, *n->cwd ? n->cwd : "/", &whole))
        return;
    (void)parts_put(n->files, (struct view){ whole.p, whole.n });
    (void)parts_put_u64(n->files, which);
}

static void
drop(struct journal_touched *t, size_t at, size_t n)
{
    t->open.n -= n;
    memmove(t->open.p + at, t->open.p + at + n, t->open.n - at);
}

/* The call of that id: its bytes are from *ret_at on, so many. 0: none. */
static size_t
find(const struct journal_touched *t, struct view id, size_t *ret_at,
     struct view *ret_files)
{
    struct view rest = { t->open.p, t->open.n }, name;
    while (rest.n) {
        size_t at = t->open.n - rest.n;
        if (!parts_take(&rest, &name) || !parts_take(&rest, ret_files))
            return 0;
        *ret_at = at;
        if (name.n == id.n && !memcmp(name.p, id.p, id.n))
            return t->open.n - rest.n - at;
    }
    return 0;
}

static int
see_call(struct journal_touched *t, const struct turn_event *e, const char *cwd)
{
    AUTO(buf) files = { 0 };
    struct noting noting = { cwd, &files };
    struct view old;
    size_t at, n;
    if (!e->id.n || e->id.n > ID_MAX)
        return 0;
    journal_tool_paths(e->name, e->json, note_file, &noting);
    if (files.failed || !files.n)
        return files.failed;
    n = find(t, e->id, &at, &old); /* told again: with all of its arguments */
    if (n)
        drop(t, at, n);
    while (t->open.n + files.n + ID_MAX > OPEN_MAX) {
        struct view rest = { t->open.p, t->open.n }, part;
        bool is_one = parts_take(&rest, &part) && parts_take(&rest, &part);
        drop(t, 0, is_one ? t->open.n - rest.n : t->open.n);
    }
    int r = parts_put(&t->open, e->id);
    return r < 0 ? r : parts_put(&t->open, (struct view){ files.p, files.n });
}

/* -- results -- */

static int
tell(const struct turn_event *e, struct view files, const char *cwd,
     journal_touched_fn fn, void *ctx)
{
    const char *said = journal_result_action(e->text);
    struct view path;
    uint64_t which;
    int r = 0;
    while (!r && parts_take(&files, &path) && parts_take_u64(&files, &which)) {
        AUTO(buf) whole = { 0 };
        AUTO(buf) listed = { 0 };
        r = buf_append(&whole, path.p, path.n);
        journal_path_listed(buf_str(&whole), *cwd ? cwd : "/", &listed);
        const char *action = which && which < ACTIONS ? actions[which] : said;
        if (!r)
            r = listed.failed;
        if (!r)
            r = fn(ctx, (struct view){ listed.p, listed.n },
                   action ? action : "modified");
        r = r < 0 ? r : 0;
    }
    return r;
}

int
journal_touched_see(struct journal_touched *t, const struct turn_event *e,
                    const char *cwd, journal_touched_fn fn, void *ctx)
{
    struct view files;
    size_t at;
    if (e->is_partial)
        return 0;
    if (e->type == TURN_TOOL_CALL)
        return see_call(t, e, cwd);
    if (e->type != TURN_TOOL_RESULT)
        return 0;
    size_t n = find(t, e->id, &at, &files);
    if (!n)
        return 0;
    bool has_failed = e->is_error || e->exit_code > 0;
    int r = has_failed ? 0 : tell(e, files, cwd, fn, ctx);
    drop(t, at, n);
    return r;
}
