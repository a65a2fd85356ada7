/* SPDX-License-Identifier: MIT */
#include "snap/paths_priv.h"

#include <limits.h>

static size_t
count(const struct snap_paths *s)
{
    return s->list.n / sizeof(const char *);
}

static int
compare(const void *a, const void *b)
{
    const char *const *pa = a, *const *pb = b;
    return strcmp(*pa, *pb);
}

void
snap_paths_release(struct snap_paths *s)
{
    buf_release(&s->list);
}

int
snap_paths_add(struct snap_paths *s, const char *path)
{
    return buf_append(&s->list, &path, sizeof(path));
}

void
snap_paths_sort(struct snap_paths *s)
{
    if (s->list.n)
        qsort(s->list.p, count(s), sizeof(const char *), compare);
}

bool
snap_paths_cover(const struct snap_paths *s, const char *path)
{
    char above[PATH_MAX];
    const char *key = above;
    size_t n = strlen(path);
    if (!s->list.n || n >= sizeof(above))
        return false;
    memcpy(above, path, n + 1);
    for (char *end = above + n; end; end = strrchr(above, '/')) {
        *end = 0;
        if (bsearch(&key, s->list.p, count(s), sizeof(key), compare))
            return true;
    }
    return false;
}
