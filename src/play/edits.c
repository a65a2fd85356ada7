/* SPDX-License-Identifier: MIT */
/* edits.c -- from what is kept to what has become of each item. */
#include "play/edits.h"

#include <errno.h>

struct making {
    const struct play_align *in;
    const struct play_kinds *kinds;
    const uint8_t *kept_a, *kept_b;
    uint32_t *other_a, *other_b; /* of one that has moved or changed: which; else none */
    struct play_edits *ret;
    struct buf places, numbers; /* of a gap: what has not moved, and its kinds */
    struct play_kept_items paired;
};

void
play_edits_release(struct play_edits *e)
{
    buf_release(&e->list);
}

static void
making_release(struct making *m)
{
    buf_release(&m->places);
    buf_release(&m->numbers);
    play_kept_items_release(&m->paired);
}

static uint32_t *
grow_numbers(struct buf *b, size_t n)
{
    b->ceiling = SIZE_MAX;
    return (uint32_t *)(void *)buf_grow(b, n * sizeof(uint32_t));
}

/* -- moves -- */

/* Of each number the new items wait in their order; one that is gone takes the first. */
static int
find_moves(struct making *m)
{
    const struct play_align *in = m->in;
    AUTO(buf) room = { 0 };
    uint32_t *first = grow_numbers(&room, in->numbers + in->nb);
    if (!first)
        return room.failed;
    uint32_t *next = first + in->numbers;
    memset(first, 0xff, in->numbers * sizeof(*first));
    for (size_t i = in->nb; i-- > 0;) {
        if (m->kept_b[i])
            continue;
        next[i] = first[in->b[i]];
        first[in->b[i]] = (uint32_t)i;
    }
    for (size_t i = 0; i < in->na; i++) {
        uint32_t to = m->kept_a[i] ? PLAY_NO_ITEM : first[in->a[i]];
        if (to == PLAY_NO_ITEM)
            continue;
        first[in->a[i]] = next[to];
        m->other_a[i] = to;
        m->other_b[to] = (uint32_t)i;
    }
    return 0;
}

/* -- changes -- */

static size_t
put_unmoved(struct making *m, const uint32_t *others, const uint32_t *kinds, size_t from,
            size_t to)
{
    size_t before = m->places.n;
    for (size_t i = from; i < to; i++) {
        uint32_t place = (uint32_t)i;
        if (others[i] != PLAY_NO_ITEM)
            continue;
        buf_append(&m->places, &place, sizeof(place));
        buf_append(&m->numbers, &kinds[i], sizeof(kinds[i]));
    }
    return (m->places.n - before) / sizeof(uint32_t);
}

/* Between two items that are kept: those of the same kind, in the same order. */
static int
find_changes(struct making *m, size_t a, size_t end_a, size_t b, size_t end_b)
{
    if (a == end_a || b == end_b)
        return 0;
    buf_clear(&m->places);
    buf_clear(&m->numbers);
    m->places.ceiling = m->numbers.ceiling = SIZE_MAX;
    size_t na = put_unmoved(m, m->other_a, m->kinds->a, a, end_a);
    size_t nb = put_unmoved(m, m->other_b, m->kinds->b, b, end_b);
    if (m->places.failed || m->numbers.failed)
        return -ENOMEM;
    if (!na || !nb)
        return 0;
    const uint32_t *numbers = (const uint32_t *)(const void *)m->numbers.p;
    const struct play_align in = { numbers, numbers + na, na, nb, m->kinds->numbers };
    int r = play_align(&in, &m->paired);
    if (r < 0)
        return r;
    m->ret->steps += m->paired.steps;
    const uint32_t *places = (const uint32_t *)(const void *)m->places.p;
    for (size_t i = 0, j = 0; i < na; i++) {
        if (!m->paired.a.p[i])
            continue;
        while (!m->paired.b.p[j])
            j++;
        m->other_a[places[i]] = places[na + j];
        m->other_b[places[na + j++]] = places[i];
    }
    return 0;
}

/* -- the list -- */

static void
put(struct making *m, enum play_edit_kind kind, uint32_t a, uint32_t b)
{
    const struct play_edit edit = { kind, a, b };
    buf_append(&m->ret->list, &edit, sizeof(edit));
    m->ret->counts[kind]++;
}

/* Has it moved, not changed? Then the one that it is is the same. */
static bool
has_moved(const struct making *m, size_t a, uint32_t b)
{
    return m->in->a[a] == m->in->b[b];
}

/* What is gone, what is new, and, where the two meet, what has changed. */
static void
put_gap(struct making *m, size_t a, size_t end_a, size_t b, size_t end_b)
{
    while (a < end_a || b < end_b) {
        for (; a < end_a; a++) {
            uint32_t other = m->other_a[a];
            if (other == PLAY_NO_ITEM)
                put(m, PLAY_DELETED, (uint32_t)a, PLAY_NO_ITEM);
            else if (has_moved(m, a, other))
                put(m, PLAY_MOVED_AWAY, (uint32_t)a, other);
            else
                break;
        }
        for (; b < end_b; b++) {
            uint32_t other = m->other_b[b];
            if (other == PLAY_NO_ITEM)
                put(m, PLAY_INSERTED, PLAY_NO_ITEM, (uint32_t)b);
            else if (has_moved(m, other, (uint32_t)b))
                put(m, PLAY_MOVED_HERE, other, (uint32_t)b);
            else
                break;
        }
        if (a < end_a && b < end_b)
            put(m, PLAY_CHANGED, (uint32_t)a++, (uint32_t)b++);
    }
}

static int
make_list(struct making *m)
{
    size_t a = 0, b = 0;
    while (a < m->in->na || b < m->in->nb) {
        size_t end_a = a, end_b = b;
        while (end_a < m->in->na && !m->kept_a[end_a])
            end_a++;
        while (end_b < m->in->nb && !m->kept_b[end_b])
            end_b++;
        int r = find_changes(m, a, end_a, b, end_b);
        if (r < 0)
            return r;
        put_gap(m, a, end_a, b, end_b);
        a = end_a, b = end_b;
        if (a < m->in->na)
            put(m, PLAY_SAME, (uint32_t)a++, (uint32_t)b++);
    }
    return m->ret->list.failed;
}

int
play_edits_make(const struct play_align *in, const struct play_kinds *kinds,
                struct play_edits *ret)
{
    struct play_kept_items kept = { 0 };
    AUTO(buf) others = { 0 };
    struct making m = { .in = in, .kinds = kinds, .ret = ret };
    play_edits_release(ret);
    *ret = (struct play_edits){ .list.ceiling = SIZE_MAX };
    int r = play_align(in, &kept);
    m.other_a = r < 0 ? NULL : grow_numbers(&others, in->na + in->nb);
    if (!r && !m.other_a)
        r = -ENOMEM;
    if (!r) {
        memset(m.other_a, 0xff, others.n);
        m.other_b = m.other_a + in->na;
        m.kept_a = kept.a.p;
        m.kept_b = kept.b.p;
        ret->same = kept.same;
        ret->is_bounded = kept.is_bounded;
        ret->steps = kept.steps;
        r = find_moves(&m);
    }
    if (!r)
        r = make_list(&m);
    making_release(&m);
    play_kept_items_release(&kept);
    return r;
}

/* -- hunks -- */

static size_t
next_different(const struct play_edits *e, size_t i)
{
    size_t count = play_edits_count(e);
    while (i < count && play_edit_at(e, i)->kind == PLAY_SAME)
        i++;
    return i;
}

bool
play_edits_hunk(const struct play_edits *e, size_t context, size_t from,
                size_t *ret_start, size_t *ret_end)
{
    size_t count = play_edits_count(e), first = next_different(e, from), last = first;
    if (first == count)
        return false;
    for (size_t next = first; next < count; next = next_different(e, last + 1)) {
        if (next > last + 1 + 2 * context)
            break;
        last = next;
    }
    *ret_start = first - from > context ? first - context : from;
    *ret_end = count - last - 1 > context ? last + 1 + context : count;
    return true;
}
