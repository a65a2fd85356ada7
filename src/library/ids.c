/* SPDX-License-Identifier: MIT */
#include "library/ids_priv.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "library/change.h"

static int
collect(struct buf *ids, const char *home, const char *kind, const char *prefix,
        bool *ret_has_left)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    size_t n = strlen(prefix);
    if (buf_printf(&path, "%s/%s", home, kind) < 0)
        return -ENAMETOOLONG;
    DIR *d = opendir(buf_str(&path));
    if (!d)
        return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
    int r = 0;
    for (struct dirent *e; !r && (errno = 0, e = readdir(d));) {
        *ret_has_left |= e->d_name[0] == '.' && strlen(e->d_name) > SESSION_ID_LEN;
        if (!strncmp(e->d_name, prefix, n) && session_id_is(e->d_name))
            r = buf_append(ids, e->d_name, IDS_STEP);
    }
    if (!r && errno)
        r = -errno;
    closedir(d);
    return r;
}

int
ids_collect(struct buf *ids, const char *home, const char *kind, const char *prefix)
{
    bool ignored = false;
    return collect(ids, home, kind, prefix, &ignored);
}

int
ids_collect_stored(struct buf *ids, const char *home)
{
    size_t had = ids->n;
    bool has_left = false;
    int r = collect(ids, home, "sessions", "", &has_left);
    if (r < 0 || !has_left)
        return r;
    library_sweep(home);
    ids->n = had;
    return ids_collect(ids, home, "sessions", "");
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

uint64_t
ids_day_ns(const char *id)
{
    struct tm tm = { .tm_isdst = -1 };
    if (sscanf(id, "%4d-%2d-%2d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday) != 3)
        return 0;
    tm.tm_year -= 1900;
    tm.tm_mon--;
    time_t t = mktime(&tm);
    return t > 0 ? (uint64_t)t * 1000000000 : 0;
}

/* -- ids looked up -- */

_Static_assert(IDS_STEP % sizeof(uint64_t) == 0, "an id with its NUL is whole words");

static size_t
hash(const char *id)
{
    uint64_t h = 0, word;
    for (size_t i = 0; i < IDS_STEP; i += sizeof(word)) {
        memcpy(&word, id + i, sizeof(word));
        h = (h ^ word) * 0x9e3779b97f4a7c15;
        h ^= h >> 32;
    }
    return (size_t)h;
}

void
ids_set_release(struct ids_set *s)
{
    free(s->slots);
    free(s->is_marked);
}

/* The slot of id, or the free one where it would be. Half of them are free. */
static size_t
find_slot(const struct ids_set *s, const char *id)
{
    size_t slot = hash(id) & s->mask;
    while (s->slots[slot] &&
           memcmp(ids_at(s->ids, s->slots[slot] - 1), id, IDS_STEP) != 0)
        slot = (slot + 1) & s->mask;
    return slot;
}

int
ids_set_init(struct ids_set *s, const struct buf *ids)
{
    size_t count = ids_count(ids), size = 16;
    while (size < count * 2)
        size *= 2;
    *s = (struct ids_set){
        .ids = ids,
        .slots = calloc(size, sizeof(*s->slots)),
        .mask = size - 1,
        .is_marked = calloc(count + 1, sizeof(*s->is_marked)),
    };
    if (!s->slots || !s->is_marked) {
        ids_set_release(s);
        *s = (struct ids_set){ 0 };
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++)
        s->slots[find_slot(s, ids_at(ids, i))] = (uint32_t)i + 1;
    return 0;
}

size_t
ids_set_find(const struct ids_set *s, const char *id)
{
    uint32_t at = s->slots ? s->slots[find_slot(s, id)] : 0;
    return at ? at - 1 : SIZE_MAX;
}

size_t
ids_set_mark(struct ids_set *s, const struct buf *other)
{
    size_t missing = 0;
    for (size_t i = 0; i < ids_count(other); i++) {
        size_t at = ids_set_find(s, ids_at(other, i));
        if (at == SIZE_MAX)
            missing++;
        else
            s->is_marked[at] = true;
    }
    return missing;
}
