/* SPDX-License-Identifier: MIT */
/* Whatever git lists and `extra` holds: the list is in order, what is not refused is
 * there once and leads to a place below the root, and a folder is empty when nothing is
 * in it. Any of them can be chosen, and is then there with what is below it, the folders
 * above, and nothing else. The input: two bytes of length, so much of what git lists,
 * then `extra`. */
#include "fuzz/fuzz.h"
#include "snap/choose_priv.h"
#include "snap/tree_priv.h"

static void
check_path(const char *path)
{
    CHECK(*path);
    for (const char *p = path; p; p = strchr(p, '/')) {
        p += *p == '/' && p != path;
        size_t n = strcspn(p, "/");
        CHECK(n && strncmp(p, "..", n > 2 ? n : 2) != 0 &&
              strncmp(p, ".", n > 1 ? n : 1) != 0);
        CHECK(n != 4 || strncasecmp(p, ".git", 4) != 0);
    }
}

static bool
has_below(const struct snap_tree *t, const char *dir)
{
    size_t n = strlen(dir);
    for (size_t i = 0; i < t->count; i++)
        if (!strncmp(t->entry[i].path, dir, n) && t->entry[i].path[n] == '/')
            return true;
    return false;
}

static void
check(const struct snap_tree *t)
{
    CHECK(t->root_mode <= 0777);
    for (size_t i = 0; i < t->count; i++) {
        const struct snap_tree_entry *e = &t->entry[i];
        int order = i ? strcmp(e[-1].path, e->path) : -1;
        CHECK(order < 0 || (order == 0 && e->why));
        CHECK(e->mode <= 0777 && (e->kind != SNAP_LINK || !e->mode));
        CHECK(e->id && (*e->id == 0 || e->kind != SNAP_DIR));
        size_t at = snap_tree_place(t, e->path);
        CHECK(at <= i && !strcmp(t->entry[at].path, e->path));
        if (!e->why)
            check_path(e->path);
        if (e->kind == SNAP_DIR && !e->why && t->count < 200)
            CHECK(e->is_empty != has_below(t, e->path));
    }
}

static bool
is_at_or_below(const char *path, const char *dir)
{
    size_t n = strlen(dir);
    return !strncmp(path, dir, n) && (!path[n] || path[n] == '/');
}

static void
check_choice(struct snap_tree *t, const char *path)
{
    struct err err;
    size_t count = t->count, expected = 0, got = 0;
    for (size_t i = 0; i < t->count; i++)
        expected += is_at_or_below(t->entry[i].path, path);
    CHECK(snap_choose(t, &path, 1, &err) == 0);
    CHECK(t->is_part && t->count <= count);
    for (size_t i = 0; i < t->count; i++) {
        const struct snap_tree_entry *e = &t->entry[i];
        bool is_above = !is_at_or_below(e->path, path);
        got += !is_above;
        CHECK(e->is_above == is_above);
        CHECK(!is_above || (e->kind == SNAP_DIR && is_at_or_below(path, e->path)));
    }
    CHECK(got == expected);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(snap_tree) t = { 0 };
    const char *extra_id = NULL, *skipped_id = NULL;
    struct view in = { data ? data : (const uint8_t *)"", size };
    size_t n = fuzz_byte(&in);
    n |= (size_t)fuzz_byte(&in) << 8;
    n = n < in.n ? n : in.n;
    buf_append(&t.listed, in.p, n);
    buf_append(&t.extra, in.p + n, in.n - n);
    int r = snap_tree_parse(&t, &extra_id, &skipped_id);
    CHECK(r == 0 || r == ERR_DAMAGED);
    if (!r)
        r = snap_tree_finish(&t);
    CHECK(r == 0 || r == ERR_DAMAGED || r == ERR_NEWER);
    if (!r)
        check(&t);
    if (!r && t.count && !t.entry[t.count / 2].why)
        check_choice(&t, t.entry[t.count / 2].path);
    return 0;
}
