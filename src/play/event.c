/* SPDX-License-Identifier: MIT */
#include "play/event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tape/record.h"

struct play_event
play_event_of(const struct tape_record *record)
{
    return (struct play_event){
        .kind = PLAY_SNAPSHOT,
        .id = record->snapshot_id,
        .ts_ns = record->ts_ns,
        .anchor_byte = record->byte_off,
        .text = record->bytes,
        .snapshot_id = PLAY_NONE,
    };
}

struct entry {
    struct play_event event; /* its text is not set */
    size_t text_at, text_len;
    size_t order; /* in which it was added */
};

static struct entry *
entry_at(const struct play_events *e, size_t i)
{
    return (struct entry *)(void *)e->entries.p + i;
}

void
play_events_release(struct play_events *e)
{
    buf_release(&e->entries);
    buf_release(&e->texts);
    *e = (struct play_events){ 0 };
}

int
play_events_add(struct play_events *e, const struct play_event *event)
{
    e->entries.ceiling = PLAY_EVENTS_MAX * sizeof(struct entry);
    e->texts.ceiling = PLAY_EVENTS_TEXT_MAX;
    struct entry entry = { .event = *event,
                           .text_at = e->texts.n,
                           .text_len = event->text.n,
                           .order = e->count };
    entry.event.text = (struct view){ 0 };
    int r = buf_append(&e->texts, event->text.p, event->text.n);
    if (r < 0)
        return r;
    r = buf_append(&e->entries, &entry, sizeof(entry));
    if (r < 0) {
        e->texts.n = entry.text_at;
        return r;
    }
    e->count++;
    return 0;
}

struct play_event
play_events_at(const struct play_events *e, size_t i)
{
    const struct entry *entry = entry_at(e, i);
    struct play_event event = entry->event;
    if (entry->text_len)
        event.text = (struct view){ e->texts.p + entry->text_at, entry->text_len };
    return event;
}

static int
compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int
by_anchor(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int c = compare(x->event.anchor_byte, y->event.anchor_byte);
    return c ? c : compare(x->order, y->order);
}

void
play_events_sort(struct play_events *e)
{
    if (e->count)
        qsort(e->entries.p, e->count, sizeof(struct entry), by_anchor);
}

/* One without a time is behind all others. */
static int
by_time(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int c = compare(x->event.ts_ns - 1, y->event.ts_ns - 1);
    return c ? c : compare(x->order, y->order);
}

void
play_events_sort_by_time(struct play_events *e)
{
    if (e->count)
        qsort(e->entries.p, e->count, sizeof(struct entry), by_time);
}

static uint64_t
distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

bool
play_events_nearest(const struct play_events *e, uint64_t byte_off,
                    struct play_event *ret)
{
    const struct play_event *best = NULL;
    size_t at = 0;
    for (size_t i = 0; i < e->count; i++) {
        const struct play_event *event = &entry_at(e, i)->event;
        if (event->kind != PLAY_SNAPSHOT)
            continue;
        uint64_t d = distance(event->anchor_byte, byte_off);
        uint64_t best_d = best ? distance(best->anchor_byte, byte_off) : 0;
        if (best && (d > best_d || (d == best_d && event->ts_ns < best->ts_ns)))
            continue;
        best = event;
        at = i;
    }
    if (best)
        *ret = play_events_at(e, at);
    return best;
}

/* -- what is known already -- */

static int
compare_snapshots(const struct play_event *x, const struct play_event *y)
{
    int c = compare(x->id, y->id);
    c = c ? c : compare(x->anchor_byte, y->anchor_byte);
    return c ? c : compare(x->ts_ns, y->ts_ns);
}

static int
by_key(const void *a, const void *b)
{
    return compare_snapshots(&((const struct entry *)a)->event,
                             &((const struct entry *)b)->event);
}

/* The snapshots of the list, by their keys, `order` being their place in it; *ret is the
 * caller's to free. */
static int
known_snapshots(const struct play_events *e, struct entry **ret, size_t *ret_count)
{
    struct entry *known = calloc(e->count ? e->count : 1, sizeof(*known));
    if (!known)
        return -ENOMEM;
    size_t n = 0;
    for (size_t i = 0; i < e->count; i++)
        if (entry_at(e, i)->event.kind == PLAY_SNAPSHOT) {
            known[n] = *entry_at(e, i);
            known[n++].order = i;
        }
    qsort(known, n, sizeof(*known), by_key);
    *ret = known;
    *ret_count = n;
    return 0;
}

/* The known one that this is: the first that was not recorded before it; NULL: none. */
static const struct entry *
find_snapshot(const struct entry *known, size_t n, const struct play_event *event)
{
    size_t from = 0, to = n;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (compare_snapshots(&known[middle].event, event) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    bool is_it = from < n && known[from].event.id == event->id &&
                 known[from].event.anchor_byte == event->anchor_byte;
    return is_it ? &known[from] : NULL;
}

int
play_events_join(struct play_events *e, const struct play_events *more,
                 uint64_t *left_out)
{
    struct entry *known = NULL;
    size_t n = 0;
    int r = known_snapshots(e, &known, &n);
    for (size_t i = 0; i < more->count && !r; i++) {
        struct play_event event = play_events_at(more, i);
        const struct entry *same = event.kind == PLAY_SNAPSHOT
                                       ? find_snapshot(known, n, &event)
                                       : NULL;
        if (same) {
            entry_at(e, same->order)->event.ts_ns = event.ts_ns;
            continue;
        }
        r = play_events_add(e, &event);
        *left_out += r == ERR_LIMIT;
        r = r == ERR_LIMIT ? 0 : r;
    }
    free(known);
    return r;
}
