/* SPDX-License-Identifier: MIT */
#include "snap/choose_priv.h"

#include <errno.h>

#include "snap/paths_priv.h"
#include "snap/skip.h"

enum fate { LEFT, ABOVE, ASKED };

struct choice {
    struct buf texts; /* the paths in one form, NUL behind each */
    struct snap_paths paths;
    bool is_all;
};

static void
choice_release(struct choice *c)
{
    buf_release(&c->texts);
    snap_paths_release(&c->paths);
}

/* -- what is asked for -- */

static int
refuse(const char *path, struct err *err)
{
    return err_set(err, ERR_USAGE,
                   "'%.300s' is no path in a snapshot: they begin at its root, as 'ahr "
                   "fs diff' tells them, and have no '..'",
                   path);
}

/* Appends it in one form: "./a//b/" is "a/b". */
static int
add_path(struct choice *c, const char *path, struct err *err)
{
    size_t before = c->texts.n, n;
    if (!*path || *path == '/')
        return refuse(path, err);
    for (const char *at = path; *at; at += n) {
        at += strspn(at, "/");
        n = strcspn(at, "/");
        if (n == 2 && at[0] == '.' && at[1] == '.')
            return refuse(path, err);
        if (!n || (n == 1 && at[0] == '.'))
            continue;
        if (c->texts.n > before)
            buf_append(&c->texts, "/", 1);
        buf_append(&c->texts, at, n);
    }
    c->is_all |= c->texts.n == before;
    buf_append(&c->texts, "", 1);
    return 0;
}

static int
make_choice(struct choice *c, const char *const *paths, size_t count, struct err *err)
{
    int r = 0;
    for (size_t i = 0; !r && i < count; i++)
        r = add_path(c, paths[i], err);
    if (r < 0)
        return r;
    for (size_t at = 0; at < c->texts.n;) {
        const char *path = (const char *)c->texts.p + at;
        (void)snap_paths_add(&c->paths, path);
        at += strlen(path) + 1;
    }
    snap_paths_sort(&c->paths);
    r = c->texts.failed ? c->texts.failed : c->paths.list.failed;
    return r < 0 ? err_code(err, r, "cannot look for the paths") : 0;
}

/* -- what there is of it -- */

static bool
has(const struct snap_tree *t, const char *path)
{
    size_t at = snap_tree_place(t, path);
    return at < t->count && !strcmp(t->entry[at].path, path);
}

/* It may have been there, and was not taken. */
static int
tell_missing(const struct snap_tree *t, const char *path, struct err *err)
{
    struct view rest = { t->skipped.p, t->skipped.n };
    struct snap_skip s;
    while (snap_skip_next(&rest, &s)) {
        size_t n = strlen(s.path);
        if (n && !strncmp(s.path, path, n) && (!path[n] || path[n] == '/'))
            return err_set(err, ERR_MISSING,
                           "'%.300s' is not in the snapshot: it was left out when that "
                           "was taken (%s)",
                           path, snap_skip_text(&s));
    }
    return err_set(err, ERR_MISSING, "'%.300s' is not in the snapshot", path);
}

static int
check(const struct snap_tree *t, const struct choice *c, struct err *err)
{
    int r = 0;
    for (size_t at = 0; !r && at < c->texts.n;) {
        const char *path = (const char *)c->texts.p + at;
        if (*path && !has(t, path))
            r = tell_missing(t, path, err);
        at += strlen(path) + 1;
    }
    return r;
}

/* -- and nothing else -- */

/* The folders on the way to a path, which is cut at each. */
static void
mark_above(const struct snap_tree *t, char *path, uint8_t *fate)
{
    for (char *slash = path; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = 0;
        size_t at = snap_tree_place(t, path);
        if (at < t->count && !strcmp(t->entry[at].path, path) &&
            t->entry[at].kind == SNAP_DIR && fate[at] == LEFT)
            fate[at] = ABOVE;
    }
}

static void
cut_entries(struct snap_tree *t, struct choice *c, uint8_t *fate)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->count; i++)
        fate[i] = snap_paths_cover(&c->paths, t->entry[i].path) ? ASKED : LEFT;
    for (size_t at = 0; at < c->texts.n;) {
        char *path = (char *)c->texts.p + at;
        mark_above(t, path, fate);
        at += strlen(path) + 1;
    }
    for (size_t i = 0; i < t->count; i++) {
        if (fate[i] == LEFT)
            continue;
        t->entry[kept] = t->entry[i];
        t->entry[kept++].is_above = fate[i] == ABOVE;
    }
    t->count = kept;
    t->is_part = true;
}

static void
cut_skipped(struct snap_tree *t, const struct choice *c)
{
    struct view rest = { t->skipped.p, t->skipped.n };
    struct snap_skip s;
    size_t kept = 0;
    while (snap_skip_next(&rest, &s)) {
        size_t n = (size_t)(rest.p - (const uint8_t *)s.word);
        if (!snap_paths_cover(&c->paths, s.path))
            continue;
        memmove(t->skipped.p + kept, s.word, n);
        kept += n;
    }
    t->skipped.n = kept;
}

int
snap_choose(struct snap_tree *t, const char *const *paths, size_t count, struct err *err)
{
    AUTO(choice) c = { 0 };
    int r = make_choice(&c, paths, count, err);
    if (!r)
        r = check(t, &c, err);
    if (r < 0 || c.is_all)
        return r;
    uint8_t *fate = calloc(t->count + 1, 1);
    if (!fate)
        return err_code(err, -ENOMEM, "cannot look for the paths");
    cut_entries(t, &c, fate);
    cut_skipped(t, &c);
    free(fate);
    return 0;
}
