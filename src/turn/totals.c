/* SPDX-License-Identifier: MIT */
/* totals.c -- what a session has used, of its events. */
#include "turn/totals.h"

#include <string.h>

#include "base/num.h"
#include "base/parts.h"

enum {
    RECENT_MAX = 64,
    ID_MAX = 128, /* bytes of an id; what is longer may be cut, and is none */
    SLOTS_MIN = 64,
    LOOK_MAX = 256, /* slots; only ids that were made for it are further away */
};

struct message {
    uint64_t hash; /* of its id; 0: it has none */
    struct turn_usage usage;
    uint32_t span; /* the last that has told of it, + 1; 0: none, as it is a DONE */
    uint32_t is_final;
};

static uint64_t
plus(uint64_t a, uint64_t b)
{
    return num_plus_u64(a, b, NUM_EXACT_MAX);
}

/* What is told, but no more than can be summed. */
static uint64_t
count_of(struct turn_usage told, size_t field)
{
    uint64_t n = *turn_usage_field(&told, field);
    return n == TURN_UNKNOWN || n < NUM_EXACT_MAX ? n : NUM_EXACT_MAX;
}

uint64_t
turn_hash(struct view bytes)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325); /* FNV-1a, then mixed */
    for (size_t i = 0; i < bytes.n; i++)
        h = (h ^ bytes.p[i]) * UINT64_C(0x100000001b3);
    h = (h ^ h >> 33) * UINT64_C(0xff51afd7ed558ccd);
    h = (h ^ h >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    h ^= h >> 33;
    return h ? h : 1;
}

uint64_t
turn_id_hash(struct view id)
{
    return id.n < TURN_ID_MIN ? 0 : turn_hash(id);
}

/* -- messages -- */

static struct message *
messages_of(const struct buf *b)
{
    return (struct message *)(void *)b->p;
}

static size_t
count(const struct buf *messages)
{
    return messages->n / sizeof(struct message);
}

/* The slot of that message, or the free one where it goes; NULL: there is none. */
static uint32_t *
slot_of(const struct turn_totals *t, uint64_t hash)
{
    uint32_t *slots = (uint32_t *)(void *)t->slots.p;
    size_t n = t->slots.n / sizeof(*slots);
    for (size_t i = 0; i < n && i < LOOK_MAX; i++) {
        uint32_t *slot = &slots[(hash + i) & (n - 1)];
        if (!*slot || messages_of(&t->messages)[*slot - 1].hash == hash)
            return slot;
    }
    return NULL;
}

static struct message *
find(const struct turn_totals *t, uint64_t hash)
{
    const uint32_t *slot = hash ? slot_of(t, hash) : NULL;
    if (slot && *slot)
        return messages_of(&t->messages) + *slot - 1;
    for (size_t i = 0; hash && i < count(&t->recent); i++)
        if (messages_of(&t->recent)[i].hash == hash)
            return messages_of(&t->recent) + i;
    return NULL;
}

/* For one message more; at most half of the slots are taken. */
static int
make_slots(struct turn_totals *t)
{
    size_t want = SLOTS_MIN;
    while (want < 4 * (count(&t->messages) + 1))
        want *= 2;
    buf_clear(&t->slots);
    uint8_t *slots = buf_grow(&t->slots, want * sizeof(uint32_t));
    if (!slots)
        return t->slots.failed;
    memset(slots, 0, want * sizeof(uint32_t));
    for (size_t i = 0; i < count(&t->messages); i++) {
        uint32_t *slot = slot_of(t, messages_of(&t->messages)[i].hash);
        if (slot)
            *slot = (uint32_t)i + 1;
    }
    return 0;
}

/* 0: it has none. */
static uint64_t
name_of(struct view id)
{
    return id.n && id.n <= ID_MAX ? turn_hash(id) : 0;
}

/* Among the latest, of which the oldest gives way. */
static int
add_recent(struct turn_totals *t, const struct message *m)
{
    struct message *all = messages_of(&t->recent);
    if (count(&t->recent) == RECENT_MAX) {
        memmove(all, all + 1, (RECENT_MAX - 1) * sizeof(*all));
        t->recent.n -= sizeof(*all);
    }
    return buf_append(&t->recent, m, sizeof(*m));
}

/* For good. 0: there is no place for it; < 0: out of memory. */
static int
add_unique(struct turn_totals *t, const struct message *m)
{
    int r = 0;
    if (count(&t->messages) == TURN_MESSAGES_MAX)
        return 0;
    if (t->slots.n < 2 * (count(&t->messages) + 1) * sizeof(uint32_t))
        r = make_slots(t);
    uint32_t *slot = slot_of(t, m->hash);
    if (r < 0 || !slot)
        return r;
    r = buf_append(&t->messages, m, sizeof(*m));
    if (r < 0)
        return r;
    *slot = (uint32_t)count(&t->messages);
    return 1;
}

/* The message of that id, which may be a new one. */
static int
message_of(struct turn_totals *t, struct view id, struct message **ret)
{
    const struct message fresh = { .hash = name_of(id) };
    *ret = find(t, fresh.hash);
    if (*ret)
        return 0;
    int r = fresh.hash && id.n >= TURN_ID_MIN ? add_unique(t, &fresh) : 0;
    struct buf *into = r > 0 ? &t->messages : &t->recent;
    if (!r)
        r = add_recent(t, &fresh);
    if (r < 0)
        return r;
    *ret = messages_of(into) + count(into) - 1;
    t->calls++;
    t->open++;
    return 0;
}

/* -- sums -- */

bool
turn_totals_is_truth(const struct turn_event *e)
{
    struct turn_usage u = e->usage;
    bool has_any = false;
    for (size_t i = 0; e->type == TURN_DONE && i < TURN_USAGE_FIELDS; i++)
        has_any |= *turn_usage_field(&u, i) != TURN_UNKNOWN && *turn_usage_field(&u, i);
    return has_any;
}

/* The span tells of it. One of an earlier span is not among the open ones of this. */
static void
touch(struct turn_totals *t, struct message *m, bool is_unique)
{
    if (m->span == t->span + 1)
        return;
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++)
        *turn_usage_field(&t->again, i) = plus(*turn_usage_field(&t->again, i),
                                               *turn_usage_field(&m->usage, i));
    t->names += is_unique ? m->hash : 0;
    m->is_final |= m->span > 0;
    m->span = t->span + 1;
}

static int
add_message(struct turn_totals *t, const struct turn_event *e)
{
    struct turn_usage told = e->usage;
    if (!turn_usage_is_told(told))
        return 0;
    struct message *m;
    int r = message_of(t, e->id, &m);
    if (r < 0)
        return r;
    t->is_known = true;
    touch(t, m, e->id.n >= TURN_ID_MIN);
    if (e->is_final && !m->is_final && t->open)
        t->open--;
    m->is_final |= e->is_final;
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++) {
        uint64_t now = count_of(told, i), *before = turn_usage_field(&m->usage, i);
        if (now == TURN_UNKNOWN || now <= *before)
            continue;
        *turn_usage_field(&t->since, i) = plus(*turn_usage_field(&t->since, i),
                                               now - *before);
        *before = now;
    }
    return 0;
}

/* Leaves of what a DONE tells what was not told before. It is remembered like a message,
 * by what those of its span are called. */
static int
take_off_again(struct turn_totals *t, struct turn_usage *told)
{
    const struct view names = { (const uint8_t *)&t->names, sizeof(t->names) };
    struct message fresh = { .hash = t->names ? turn_hash(names) : 0 };
    struct message *same = find(t, fresh.hash);
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++) {
        uint64_t all = count_of(*told, i), least = *turn_usage_field(&t->since, i);
        uint64_t *before = turn_usage_field(same ? &same->usage : &fresh.usage, i);
        uint64_t again = same ? *before : *turn_usage_field(&t->again, i);
        uint64_t above = all > least ? all - least : 0;
        if (all == TURN_UNKNOWN)
            continue;
        *turn_usage_field(told, i) = all - (again < above ? again : above);
        *before = *before > all ? *before : all;
    }
    return same || !fresh.hash ? 0 : add_unique(t, &fresh);
}

static int
close_all(struct turn_totals *t, const struct turn_event *e)
{
    bool is_truth = turn_totals_is_truth(e);
    struct turn_usage told = is_truth ? e->usage : TURN_NO_USAGE;
    int r = is_truth ? take_off_again(t, &told) : 0;
    if (r < 0)
        return r;
    t->is_known = t->is_known || turn_usage_is_told(e->usage);
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++) {
        uint64_t of_done = count_of(told, i), summed = *turn_usage_field(&t->since, i);
        uint64_t *done = turn_usage_field(&t->done, i);
        *done = plus(*done, of_done == TURN_UNKNOWN ? summed : of_done);
    }
    t->since = t->again = (struct turn_usage){ 0 };
    t->names = 0;
    t->broken += is_truth ? 0 : t->open;
    t->open = 0;
    t->span++;
    buf_clear(&t->recent);
    return 0;
}

int
turn_totals_add(struct turn_totals *t, const struct turn_event *e)
{
    if (e->type == TURN_USAGE)
        return add_message(t, e);
    if (e->type == TURN_DONE || e->type == TURN_EXIT)
        return close_all(t, e);
    return 0;
}

struct turn_usage
turn_totals_usage(const struct turn_totals *t)
{
    struct turn_usage sum = t->done, since = t->since;
    if (!t->is_known)
        return TURN_NO_USAGE;
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++)
        *turn_usage_field(&sum, i) = plus(*turn_usage_field(&sum, i),
                                          *turn_usage_field(&since, i));
    return sum;
}

bool
turn_totals_is_least(const struct turn_totals *t)
{
    return t->open + t->broken > 0;
}

/* -- kept -- */

int
turn_totals_save(const struct turn_totals *t, struct buf *out)
{
    struct turn_usage done = t->done, since = t->since, again = t->again;
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++) {
        parts_put_u64(out, *turn_usage_field(&done, i));
        parts_put_u64(out, *turn_usage_field(&since, i));
        parts_put_u64(out, *turn_usage_field(&again, i));
    }
    parts_put_u64(out, t->calls);
    parts_put_u64(out, t->open);
    parts_put_u64(out, t->broken);
    parts_put_u64(out, t->is_known);
    parts_put_u64(out, t->span);
    parts_put_u64(out, t->names);
    parts_put(out, (struct view){ t->messages.p, t->messages.n });
    parts_put(out, (struct view){ t->recent.p, t->recent.n });
    return out->failed;
}

static int
load_messages(struct view *rest, size_t max, struct buf *ret)
{
    struct view part;
    if (!parts_take(rest, &part) || part.n % sizeof(struct message) ||
        part.n / sizeof(struct message) > max)
        return ERR_DAMAGED;
    return buf_append(ret, part.p, part.n);
}

int
turn_totals_load(struct turn_totals *t, struct view *rest)
{
    uint64_t is_known = 0, span = 0;
    bool is_fine = true;
    for (size_t i = 0; is_fine && i < TURN_USAGE_FIELDS; i++)
        is_fine = parts_take_u64(rest, turn_usage_field(&t->done, i)) &&
                  parts_take_u64(rest, turn_usage_field(&t->since, i)) &&
                  parts_take_u64(rest, turn_usage_field(&t->again, i));
    is_fine = is_fine && parts_take_u64(rest, &t->calls) &&
              parts_take_u64(rest, &t->open) && parts_take_u64(rest, &t->broken) &&
              parts_take_u64(rest, &is_known) && parts_take_u64(rest, &span) &&
              parts_take_u64(rest, &t->names);
    if (!is_fine || span > UINT32_MAX)
        return ERR_DAMAGED;
    t->is_known = is_known;
    t->span = (uint32_t)span;
    int r = load_messages(rest, TURN_MESSAGES_MAX, &t->messages);
    if (!r)
        r = load_messages(rest, RECENT_MAX, &t->recent);
    return r || !t->messages.n ? r : make_slots(t);
}

void
turn_totals_release(struct turn_totals *t)
{
    buf_release(&t->messages);
    buf_release(&t->slots);
    buf_release(&t->recent);
    *t = (struct turn_totals){ 0 };
}
