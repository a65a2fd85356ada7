/* SPDX-License-Identifier: MIT */
/*
 * protect.c -- which sessions are not to be deleted.
 *
 * From each active session up, by all that it descends from; who was there before is not
 * visited again, so that a circle of parents ends, and each edge is walked once.
 */
#include "library/protect.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct judging {
    const struct library_kin *list;
    size_t count;
    const struct library_kin **by_id; /* sorted */
    size_t *heir;                     /* by place; SIZE_MAX: nobody's ancestor yet */
    size_t *stack;                    /* of places that are still to be gone up from */
    size_t depth;
};

static int
compare(const void *a, const void *b)
{
    const struct library_kin *const *x = a, *const *y = b;
    return strcmp((*x)->id, (*y)->id);
}

/* Its place, or SIZE_MAX. */
static size_t
find(const struct judging *j, const char *id)
{
    const struct library_kin key = { .id = id }, *at = &key;
    if (!id)
        return SIZE_MAX;
    const struct library_kin **found = bsearch(&at, j->by_id, j->count, sizeof(*j->by_id),
                                               compare);
    return found ? (size_t)(*found - j->list) : SIZE_MAX;
}

static void
reach(struct judging *j, size_t at, size_t heir)
{
    if (at == SIZE_MAX || j->heir[at] != SIZE_MAX)
        return;
    j->heir[at] = heir;
    j->stack[j->depth++] = at;
}

static void
go_up(struct judging *j, size_t from)
{
    reach(j, from, from);
    while (j->depth) {
        size_t at = j->stack[--j->depth];
        reach(j, find(j, j->list[at].parent), from);
        reach(j, find(j, j->list[at].resumed_from), from);
    }
}

bool
library_is_manager(const char *role)
{
    return role && !strcasecmp(role, LIBRARY_MANAGER);
}

static struct library_verdict
verdict(const struct judging *j, size_t at)
{
    const struct library_kin *s = &j->list[at];
    if (s->is_active)
        return (struct library_verdict){ LIBRARY_GUARD_ACTIVE, at };
    if (library_is_manager(s->role))
        return (struct library_verdict){ LIBRARY_GUARD_MANAGER, at };
    if (j->heir[at] != SIZE_MAX)
        return (struct library_verdict){ LIBRARY_GUARD_ANCESTOR, j->heir[at] };
    return (struct library_verdict){ LIBRARY_GUARD_NONE, at };
}

int
library_protect(const struct library_kin *list, size_t count, struct library_verdict *ret)
{
    struct judging j = { .list = list, .count = count };
    j.by_id = calloc(count + 1, sizeof(*j.by_id));
    j.heir = calloc(count + 1, sizeof(*j.heir));
    j.stack = calloc(count + 1, sizeof(*j.stack));
    bool is_ready = j.by_id && j.heir && j.stack;
    for (size_t i = 0; is_ready && i < count; i++) {
        j.by_id[i] = &list[i];
        j.heir[i] = SIZE_MAX;
    }
    if (is_ready) {
        qsort(j.by_id, count, sizeof(*j.by_id), compare);
        for (size_t i = 0; i < count; i++)
            if (list[i].is_active)
                go_up(&j, i);
        for (size_t i = 0; i < count; i++)
            ret[i] = verdict(&j, i);
    }
    free(j.by_id);
    free(j.heir);
    free(j.stack);
    return is_ready ? 0 : -ENOMEM;
}
