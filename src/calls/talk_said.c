/* SPDX-License-Identifier: MIT */
/* talk_said.c -- hashes of what was said, as many of the latest as there is room for. */
#include <errno.h>
#include <stdlib.h>

#include "calls/talk_priv.h"

enum { SET_MAX = 1 << 17 };

static uint64_t *
slot_of(const struct talk_set *s, uint64_t hash)
{
    size_t i = (size_t)hash & (s->room - 1);
    while (s->slots[i] && s->slots[i] != hash)
        i = (i + 1) & (s->room - 1);
    return &s->slots[i];
}

static bool
has(const struct talk_set *s, uint64_t hash)
{
    return s->room && *slot_of(s, hash) == hash;
}

static int
grow(struct talk_set *s)
{
    struct talk_set more = { .n = s->n, .room = s->room ? 2 * s->room : 256 };
    more.slots = calloc(more.room, sizeof(*more.slots));
    if (!more.slots)
        return -ENOMEM;
    for (size_t i = 0; i < s->room; i++)
        if (s->slots[i])
            *slot_of(&more, s->slots[i]) = s->slots[i];
    free(s->slots);
    *s = more;
    return 0;
}

bool
talk_said_has(const struct talk_said *s, uint64_t hash)
{
    return has(&s->now, hash) || has(&s->before, hash);
}

int
talk_said_add(struct talk_said *s, uint64_t hash)
{
    if (has(&s->now, hash))
        return 0;
    if (s->now.n == SET_MAX) {
        free(s->before.slots);
        s->before = s->now;
        s->now = (struct talk_set){ 0 };
    }
    int r = 2 * s->now.n >= s->now.room ? grow(&s->now) : 0;
    if (r < 0)
        return r;
    *slot_of(&s->now, hash) = hash;
    s->now.n++;
    return 0;
}

void
talk_said_release(struct talk_said *s)
{
    free(s->now.slots);
    free(s->before.slots);
    *s = (struct talk_said){ 0 };
}
