/* SPDX-License-Identifier: MIT */
#include "library/ids_priv.h"

#include <dirent.h>
#include <limits.h>

int
ids_collect(struct buf *ids, const char *home, const char *kind, const char *prefix)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    size_t n = strlen(prefix);
    if (buf_printf(&path, "%s/%s", home, kind) < 0)
        return 0;
    DIR *d = opendir(buf_str(&path));
    int r = 0;
    for (struct dirent *e; d && !r && (e = readdir(d));)
        if (!strncmp(e->d_name, prefix, n) && session_id_is(e->d_name))
            r = buf_append(ids, e->d_name, IDS_STEP);
    if (d)
        closedir(d);
    return r;
}

static int
compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

size_t
ids_count(const struct buf *ids)
{
    return ids->n / IDS_STEP;
}

const char *
ids_at(const struct buf *ids, size_t i)
{
    return (const char *)ids->p + i * IDS_STEP;
}

void
ids_sort(struct buf *ids)
{
    size_t count = ids_count(ids), kept = 0;
    if (!count)
        return;
    qsort(ids->p, count, IDS_STEP, compare);
    for (size_t i = 0; i < count; i++)
        if (!i || strcmp(ids_at(ids, i), ids_at(ids, kept - 1)) != 0)
            memmove(ids->p + kept++ * IDS_STEP, ids_at(ids, i), IDS_STEP);
    ids->n = kept * IDS_STEP;
}
