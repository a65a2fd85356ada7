/* SPDX-License-Identifier: MIT */
/*
 * history_sources.c -- the files of one history: whose line is next, and which are held.
 *
 * Those that have a line wait in a heap, the earliest first; of equal ones the first in
 * the list. A line that was taken leaves its source at the top, where it is looked at
 * anew.
 */
#include <errno.h>
#include <stdlib.h>

#include "library/history_source_priv.h"

enum { HELD_BYTES = 16 << 20 }; /* beside those of the source at hand */

void
history_sources_release(struct history_sources *s)
{
    for (size_t i = 0; i < s->count; i++) {
        history_source_close(&s->list[i]);
        buf_release(&s->list[i].file.path);
        buf_release(&s->list[i].known_as);
        buf_release(&s->list[i].call);
    }
    free(s->list);
    free(s->waiting);
    *s = (struct history_sources){ 0 };
}

struct history_source *
history_sources_add(struct history_sources *s, const char *path)
{
    struct history_source *more = reallocarray(s->list, s->count + 1, sizeof(*more));
    if (!more)
        return NULL;
    s->list = more;
    struct history_source *one = &more[s->count];
    *one = (struct history_source){ .fd = -1 };
    if (buf_puts(&one->file.path, path) < 0)
        return NULL;
    s->count++;
    return one;
}

bool
history_sources_are_many(const struct history_sources *s)
{
    return s->count > HISTORY_HELD;
}

/* -- held -- */

/* Room for one more: those that have waited longest are parked. */
static void
hold_less(struct history_sources *all, size_t but)
{
    for (;;) {
        size_t bytes = 0, oldest = all->held_count, kept = 0;
        for (size_t i = 0; i < all->held_count; i++) {
            const struct history_source *s = &all->list[all->held[i]];
            if (all->held[i] == but || s->fd < 0)
                continue;
            all->held[kept] = all->held[i];
            bytes += s->held.cap;
            if (oldest == all->held_count || s->used < all->list[all->held[oldest]].used)
                oldest = kept;
            kept++;
        }
        all->held_count = kept;
        if (!kept || (kept < HISTORY_HELD && bytes <= HELD_BYTES))
            return;
        history_source_park(&all->list[all->held[oldest]]);
    }
}

static void
make_room_for(struct history_sources *all, size_t i)
{
    if (all->count == 1 || all->list[i].zstd)
        return;
    hold_less(all, i);
    all->held[all->held_count++] = i;
}

/* -- whose turn it is -- */

static bool
is_before(const struct history_sources *all, size_t a, size_t b)
{
    uint64_t x = all->list[a].stamp_ns, y = all->list[b].stamp_ns;
    return x != y ? x < y : a < b;
}

/* What stands at that place may be later than what stands below it. */
static void
sink(struct history_sources *all, size_t at)
{
    size_t *heap = all->waiting, n = all->waiting_count, i = n ? heap[at] : 0;
    for (size_t below; (below = 2 * at + 1) < n; at = below) {
        below += below + 1 < n && is_before(all, heap[below + 1], heap[below]);
        if (is_before(all, i, heap[below]))
            break;
        heap[at] = heap[below];
    }
    if (n)
        heap[at] = i;
}

static void
look_for_line(struct history_sources *all, size_t i, int *ret_error)
{
    struct history_source *s = &all->list[i];
    bool was_held = s->fd >= 0;
    make_room_for(all, i);
    s->has_rivals = all->count > 1;
    s->is_one_of_many = history_sources_are_many(all);
    history_source_find_line(s);
    if (s->is_one_of_many && (!was_held || (s->is_over && !s->has_line)))
        history_source_park(s);
    if (s->error == -ENOMEM)
        *ret_error = s->error;
}

static void
begin(struct history_sources *all, int *ret_error)
{
    all->is_begun = true;
    all->waiting = calloc(all->count + 1, sizeof(*all->waiting));
    if (!all->waiting) {
        *ret_error = -ENOMEM;
        return;
    }
    for (size_t i = 0; i < all->count; i++) {
        if (!all->list[i].is_open)
            continue;
        look_for_line(all, i, ret_error);
        if (all->list[i].has_line)
            all->waiting[all->waiting_count++] = i;
    }
    for (size_t at = all->waiting_count / 2; at-- > 0;)
        sink(all, at);
}

struct history_source *
history_sources_next(struct history_sources *all, int *ret_error)
{
    if (!all->is_begun)
        begin(all, ret_error);
    while (all->waiting_count) {
        size_t first = all->waiting[0];
        struct history_source *s = &all->list[first];
        if (s->has_line) {
            make_room_for(all, first);
            if (history_source_unpark(s)) {
                s->used = ++all->turns;
                return s;
            }
        }
        look_for_line(all, first, ret_error);
        if (!s->has_line)
            all->waiting[0] = all->waiting[--all->waiting_count];
        sink(all, 0);
    }
    return NULL;
}
