/* SPDX-License-Identifier: MIT */
/* artifact_patch.c -- the files of a patch as codex's apply_patch takes it. */
#include "journal/artifact_priv.h"

static bool
begins(struct view line, const char *text, struct view *ret_rest)
{
    size_t n = strlen(text);
    if (line.n < n || memcmp(line.p, text, n) != 0)
        return false;
    *ret_rest = (struct view){ line.p + n, line.n - n };
    while (ret_rest->n && strchr(" \t\r", ret_rest->p[ret_rest->n - 1]) &&
           ret_rest->p[ret_rest->n - 1])
        ret_rest->n--;
    return true;
}

static void
see_line(struct view line, struct view *updated, journal_tool_fn fn, void *ctx)
{
    struct view path;
    if (begins(line, "*** Add File: ", &path)) {
        fn(ctx, path, "created");
    } else if (begins(line, "*** Delete File: ", &path)) {
        fn(ctx, path, "deleted");
    } else if (begins(line, "*** Update File: ", &path)) {
        if (updated->n)
            fn(ctx, *updated, "modified");
        *updated = path;
        return;
    } else if (begins(line, "*** Move to: ", &path)) {
        if (updated->n)
            fn(ctx, *updated, "deleted");
        fn(ctx, path, "created");
        *updated = (struct view){ 0 };
        return;
    } else {
        return;
    }
    if (updated->n)
        fn(ctx, *updated, "modified");
    *updated = (struct view){ 0 };
}

void
journal_patch_paths(struct view patch, journal_tool_fn fn, void *ctx)
{
    struct view updated = { 0 }; /* it may be moved: that comes behind it */
    while (patch.n) {
        const uint8_t *end = memchr(patch.p, '\n', patch.n);
        size_t n = end ? (size_t)(end - patch.p) : patch.n;
        see_line((struct view){ patch.p, n }, &updated, fn, ctx);
        n += end != NULL;
        patch = (struct view){ patch.p + n, patch.n - n };
    }
    if (updated.n)
        fn(ctx, updated, "modified");
}
