/* SPDX-License-Identifier: MIT */
#include "snap/arena_priv.h"

#include <stdint.h>
#include <stdlib.h>

struct snap_chunk {
    struct snap_chunk *next;
    size_t low, high; /* between them is free: things from below, text from above */
    _Alignas(16) uint8_t p[];
};

enum { CHUNK = (256 << 10) - 64, ALIGN = 16 };

static struct snap_chunk *
room(struct snap_arena *a, size_t n)
{
    struct snap_chunk *c = a->chunk;
    if (c && c->high - c->low >= n)
        return c;
    if (n > SIZE_MAX / 2)
        return NULL;
    size_t size = n > CHUNK ? n : CHUNK;
    struct snap_chunk *fresh = malloc(sizeof(*fresh) + size);
    if (!fresh)
        return NULL;
    *fresh = (struct snap_chunk){ .next = c, .high = size };
    a->chunk = fresh;
    return fresh;
}

void *
snap_arena_get(struct snap_arena *a, size_t n)
{
    if (n > SIZE_MAX / 4)
        return NULL;
    n = (n + ALIGN - 1) / ALIGN * ALIGN;
    struct snap_chunk *c = room(a, n);
    if (!c)
        return NULL;
    void *p = c->p + c->low;
    c->low += n;
    return p;
}

char *
snap_arena_text(struct snap_arena *a, size_t n)
{
    struct snap_chunk *c = room(a, n);
    if (!c)
        return NULL;
    c->high -= n;
    return (char *)c->p + c->high;
}

void
snap_arena_join(struct snap_arena *a, struct snap_arena *b)
{
    struct snap_chunk **end = &b->chunk;
    while (*end)
        end = &(*end)->next;
    *end = a->chunk;
    a->chunk = b->chunk;
    b->chunk = NULL;
}

void
snap_arena_release(struct snap_arena *a)
{
    while (a->chunk) {
        struct snap_chunk *next = a->chunk->next;
        free(a->chunk);
        a->chunk = next;
    }
}
