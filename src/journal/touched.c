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
    OPEN_MAX = 64 << 10, /* bytes of calls that are open; the older ones give way */
    FILES_MAX = OPEN_MAX / 2,
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
    if (!journal_path_whole(path, *n->cwd ? n->cwd : "/", &whole) ||
        n->files->n + whole.n > FILES_MAX)
        return;
    bool is_below = !*n->cwd && path.p[0] != '/'; /* of a folder that is not known */
    (void)parts_put(n->files, (struct view){ whole.p + is_below, whole.n - is_below });
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

/* The older half, or all that is damaged. */
static void
drop_older(struct journal_touched *t)
{
    struct view rest = { t->open.p, t->open.n }, id, files;
    bool is_one = true;
    while (is_one && rest.n > t->open.n / 2)
        is_one = parts_take(&rest, &id) && parts_take(&rest, &files);
    drop(t, 0, is_one ? t->open.n - rest.n : t->open.n);
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
    while (t->open.n && t->open.n + files.n + e->id.n > OPEN_MAX)
        drop_older(t);
    parts_put(&t->open, e->id);
    parts_put(&t->open, (struct view){ files.p, files.n });
    return t->open.failed;
}

/* -- results -- */

/* As journal_path_listed() has it, but for links, of which nobody is asked. */
static struct view
listed(struct view path, struct view root)
{
    bool is_below = root.n > 1 && path.n > root.n + 1 &&
                    !memcmp(path.p, root.p, root.n) && path.p[root.n] == '/';
    bool is_root = root.n == 1 && path.n > 1 && path.p[0] == '/';
    size_t n = is_below ? root.n + 1 : is_root;
    return (struct view){ path.p + n, path.n - n };
}

static int
tell(const struct turn_event *e, struct view files, const char *cwd,
     journal_touched_fn fn, void *ctx)
{
    const char *said = journal_result_action(e->text);
    AUTO(buf) root = { 0 };
    struct view path, cwd_view = { (const uint8_t *)cwd, strlen(cwd) };
    uint64_t which;
    int r = 0;
    if (cwd_view.n && !journal_path_whole(cwd_view, "/", &root))
        buf_clear(&root);
    while (r >= 0 && parts_take(&files, &path) && parts_take_u64(&files, &which)) {
        const char *action = which && which < ACTIONS ? actions[which] : said;
        r = fn(ctx, listed(path, (struct view){ root.p, root.n }),
               action ? action : "modified");
    }
    return r < 0 ? r : 0;
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
