/* SPDX-License-Identifier: MIT */
/*
 * cassette_near.c -- which recorded request is most like one that is asked now.
 *
 * All are looked at by their outlines; only those that seem to be the nearest are read,
 * and compared byte by byte.
 */
#include "wire/cassette_priv.h"

enum { CLOSEST = 8 };

struct candidate {
    size_t call;
    unsigned nearness;
};

/* The nearest first; of those that are as near the first one recorded. */
static size_t
keep(struct candidate *best, size_t count, struct candidate one)
{
    size_t at = count;
    while (at && best[at - 1].nearness < one.nearness)
        at--;
    if (at == CLOSEST)
        return count;
    count += count < CLOSEST;
    memmove(best + at + 1, best + at, (count - 1 - at) * sizeof(*best));
    best[at] = one;
    return count;
}

static size_t
find_closest(const struct cassette *c, const struct calls_outline *asked,
             struct candidate *ret)
{
    size_t n, count = 0;
    const struct take *all = cassette_takes(c, &n);
    for (size_t i = 0; i < n; i++)
        if (all[i].has_reply)
            count = keep(ret, count,
                         (struct candidate){ all[i].call, calls_outline_nearness(
                                                              &all[i].outline, asked) });
    return count;
}

static int
measure(struct cassette *c, struct view asked, struct candidate *one)
{
    AUTO(buf) normal = { .ceiling = CALLS_ALL_MAX };
    struct calls_whole w;
    int r = calls_get(c->calls, one->call, &w, NULL);
    if (r < 0)
        return r;
    const struct calls_asked recorded = { w.facts->method, w.facts->url, w.request };
    r = calls_match_normal(&recorded, &normal);
    if (!r)
        one->nearness = calls_match_nearness((struct view){ normal.p, normal.n }, asked);
    return r;
}

size_t
cassette_nearest(struct cassette *c, struct view normal)
{
    struct candidate all[CLOSEST], best = { .call = SIZE_MAX };
    struct calls_outline asked;
    if (calls_outline_make(normal, &asked) < 0)
        return SIZE_MAX;
    size_t count = find_closest(c, &asked, all);
    calls_outline_release(&asked);
    for (size_t i = 0; i < count; i++)
        if (!measure(c, normal, &all[i]) &&
            (best.call == SIZE_MAX || all[i].nearness > best.nearness))
            best = all[i];
    return best.call;
}
