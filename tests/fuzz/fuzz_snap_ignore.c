/* SPDX-License-Identifier: MIT */
/* Input: a path, a newline, a .gitignore. A path that is quoted byte by byte is ignored;
 * a file cut in two at a line says what it said whole, and one in a folder says it of the
 * paths in that folder. */
#include <string.h>

#include "fuzz/fuzz.h"
#include "snap/ignore_priv.h"

enum { PATH_MAX_BYTES = 300 };

static bool
is_ignored(struct view text, const char *dir, const char *path, bool is_dir)
{
    struct snap_ignore *s = snap_ignore_new(text, dir, NULL);
    CHECK(s);
    bool r = snap_ignore_has(s, path, is_dir);
    snap_ignore_free(s);
    return r;
}

static void
check_cut(struct view text, const char *path, bool is_dir, bool expected)
{
    const uint8_t *cut = text.n > 3 ? memchr(text.p + 3, '\n', text.n - 3) : NULL;
    if (!cut)
        return;
    size_t n = (size_t)(cut + 1 - text.p);
    struct view behind = { text.p + n, text.n - n };
    if (behind.n && behind.p[0] == 0xef) /* may become a mark of UTF-8 */
        return;
    struct snap_ignore *above = snap_ignore_new((struct view){ text.p, n }, "", NULL);
    struct snap_ignore *s = snap_ignore_new(behind, "", above);
    CHECK(above && s);
    CHECK(snap_ignore_has(s, path, is_dir) == expected);
    snap_ignore_free(s);
    snap_ignore_free(above);
}

static void
check_quoted(const char *path)
{
    AUTO(buf) text = { 0 };
    buf_puts(&text, "x\n/");
    for (const char *p = path; *p; p++)
        buf_append(&text, (const char[]){ '\\', *p }, 2);
    /* A slash at the end is no part of a path, and a blank is quoted. */
    CHECK(is_ignored((struct view){ text.p, text.n }, "", path, false));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
    size_t n = end ? (size_t)(end - data) : 0;
    if (!n || n > PATH_MAX_BYTES || memchr(data, 0, n) || data[0] == '/' ||
        data[n - 1] == '/')
        return 0;
    AUTO(buf) path = { 0 };
    AUTO(buf) below = { 0 };
    buf_append(&path, data, n);
    buf_printf(&below, "d/e/%s", buf_str(&path));
    struct view text = { end + 1, size - n - 1 };
    for (int is_dir = 0; is_dir < 2; is_dir++) {
        bool r = is_ignored(text, "", buf_str(&path), is_dir);
        CHECK(is_ignored(text, "d/e", buf_str(&below), is_dir) == r);
        check_cut(text, buf_str(&path), is_dir, r);
    }
    if (path.p[n - 1] != '\r') /* that may belong to the line's end */
        check_quoted(buf_str(&path));
    return 0;
}
