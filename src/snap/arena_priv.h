/* SPDX-License-Identifier: MIT */
/* arena_priv.h -- memory for what dies together. One thread each. */
#ifndef SNAP_ARENA_PRIV_H
#define SNAP_ARENA_PRIV_H

#include <stddef.h>

struct snap_chunk;

struct snap_arena {
    struct snap_chunk *chunk;
};

/* Aligned for anything; its values are any. NULL without memory. */
void *snap_arena_get(struct snap_arena *a, size_t n);
/* n bytes, aligned for nothing. */
char *snap_arena_text(struct snap_arena *a, size_t n);
/* What b has becomes a's; b is empty. */
void snap_arena_join(struct snap_arena *a, struct snap_arena *b);
void snap_arena_release(struct snap_arena *a);

#endif
