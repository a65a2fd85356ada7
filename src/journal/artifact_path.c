/* SPDX-License-Identifier: MIT */
/* artifact_path.c -- where a file lies, and how it is listed. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "journal/artifact_path_priv.h"

/* Without ".", "..", and double slashes; absolute. What lies behind links is not asked:
 * the agent named it so. */
static void
tidy(char *path)
{
    char *out = path;
    const char *at = path;
    while (*at) {
        at += strspn(at, "/");
        size_t n = strcspn(at, "/");
        if (n == 2 && !memcmp(at, "..", 2)) {
            while (out > path && *--out != '/')
                ;
        } else if (n && !(n == 1 && *at == '.')) {
            *out++ = '/';
            memmove(out, at, n);
            out += n;
        }
        at += n;
    }
    if (out == path)
        *out++ = '/';
    *out = 0;
}

bool
journal_path_whole(struct view path, const char *base, struct buf *ret)
{
    char whole[2 * PATH_MAX];
    if (!path.n || path.n >= PATH_MAX || strlen(base) >= PATH_MAX - 1 ||
        memchr(path.p, 0, path.n))
        return false;
    bool is_whole = path.p[0] == '/';
    int n = snprintf(whole, sizeof(whole), "%s/%.*s", is_whole ? "" : base, (int)path.n,
                     (const char *)path.p);
    if (n < 0 || n >= (int)sizeof(whole))
        return false;
    tidy(whole);
    return strlen(whole) < PATH_MAX && buf_puts(ret, whole) == 0;
}

/* What is behind root and its slash; NULL: it lies elsewhere. */
static const char *
below(const char *path, const char *root)
{
    size_t n = strlen(root);
    if (n == 1) /* "/" */
        return path[1] ? path + 1 : NULL;
    return !strncmp(path, root, n) && path[n] == '/' ? path + n + 1 : NULL;
}

void
journal_path_listed(const char *whole, const char *root, struct buf *ret)
{
    char folder[PATH_MAX], real[PATH_MAX];
    AUTO(buf) again = { 0 };
    const char *rest = below(whole, root);
    const char *name = strrchr(whole, '/') + 1;
    if (!rest && snprintf(folder, sizeof(folder), "%.*s", (int)(name - whole), whole) &&
        realpath(folder, real)) { /* the project by another way */
        buf_printf(&again, "%s/%s", real, name);
        rest = below(buf_str(&again), root);
    }
    buf_puts(ret, rest ? rest : whole);
}
