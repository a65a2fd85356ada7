/* SPDX-License-Identifier: MIT */
#include "play/stamps.h"

#include <stdbool.h>

enum { FIRST_MIN_NS = 1000 };

/* All bytes that came from ts_ns on, and less than min_ns later, as one. */
struct stamp {
    uint64_t end, ts_ns;
};

static struct stamp *
stamps(const struct play_stamps *s)
{
    return (struct stamp *)(void *)s->entries.p;
}

static size_t
count(const struct play_stamps *s)
{
    return s->entries.n / sizeof(struct stamp);
}

void
play_stamps_release(struct play_stamps *s)
{
    buf_release(&s->entries);
    *s = (struct play_stamps){ 0 };
}

static bool
is_same_time(const struct play_stamps *s, const struct stamp *a, uint64_t ts_ns)
{
    return ts_ns <= a->ts_ns || ts_ns - a->ts_ns < s->min_ns;
}

/* Neighbours that are too near become one. */
static void
join(struct play_stamps *s)
{
    struct stamp *all = stamps(s);
    size_t kept = 0, n = count(s);
    for (size_t i = 1; i < n; i++)
        if (is_same_time(s, &all[kept], all[i].ts_ns))
            all[kept].end = all[i].end;
        else
            all[++kept] = all[i];
    s->entries.n = (kept + 1) * sizeof(*all);
}

static void
make_room(struct play_stamps *s)
{
    while (count(s) > PLAY_STAMPS_MAX / 2 && s->min_ns < UINT64_MAX / 2) {
        s->min_ns = s->min_ns ? s->min_ns * 2 : FIRST_MIN_NS;
        join(s);
    }
}

void
play_stamps_add(struct play_stamps *s, uint64_t end_byte, uint64_t ts_ns)
{
    struct stamp stamp = { end_byte, ts_ns };
    struct stamp *last = count(s) ? stamps(s) + count(s) - 1 : NULL;
    if (end_byte <= (last ? last->end : 0))
        return;
    if (last && is_same_time(s, last, ts_ns)) {
        last->end = end_byte;
        return;
    }
    if (count(s) >= PLAY_STAMPS_MAX)
        make_room(s);
    s->entries.failed = 0;
    buf_append(&s->entries, &stamp, sizeof(stamp));
}

uint64_t
play_stamps_time(const struct play_stamps *s, uint64_t end_byte)
{
    size_t low = 0, high = count(s);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (stamps(s)[middle].end < end_byte)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count(s) && end_byte ? stamps(s)[low].ts_ns : 0;
}

uint64_t
play_stamps_byte(const struct play_stamps *s, uint64_t ts_ns)
{
    size_t low = 0, high = count(s);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (stamps(s)[middle].ts_ns <= ts_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? stamps(s)[low - 1].end : 0;
}
