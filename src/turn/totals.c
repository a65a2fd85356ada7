/* SPDX-License-Identifier: MIT */
/* totals.c -- what a session has used, of its events. */
#include "turn/totals.h"

#include <string.h>

#include "base/num.h"
#include "base/parts.h"

/* Agents within agents take turns, so that the lines of a message need not follow each
 * other; but they are close. */
enum { RECENT_MAX = 64, ID_MAX = 128 };

struct message {
    size_t id_size;
    uint8_t id[ID_MAX];
    bool is_final;
    struct turn_usage usage;
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

static bool
is_told(struct turn_usage u)
{
    bool told = false;
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++)
        told = told || *turn_usage_field(&u, i) != TURN_UNKNOWN;
    return told;
}

/* Never 0. */
static uint64_t
hash_of(struct view id)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325); /* FNV-1a, then mixed */
    for (size_t i = 0; i < id.n; i++)
        h = (h ^ id.p[i]) * UINT64_C(0x100000001b3);
    h = (h ^ h >> 33) * UINT64_C(0xff51afd7ed558ccd);
    h = (h ^ h >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    h ^= h >> 33;
    return h ? h : 1;
}

uint64_t
turn_id_hash(struct view id)
{
    return id.n < TURN_ID_MIN ? 0 : hash_of(id);
}

/* The message of that id among the latest, else a new one. NULL: out of memory. */
static struct message *
message_of(struct turn_totals *t, struct view id)
{
    struct message *m = (struct message *)(void *)t->recent.p;
    size_t count = t->recent.n / sizeof(*m);
    bool is_named = id.n > 0 && id.n <= ID_MAX;
    for (size_t i = 0; is_named && i < count; i++)
        if (m[i].id_size == id.n && !memcmp(m[i].id, id.p, id.n))
            return &m[i];
    if (count == RECENT_MAX) {
        memmove(m, m + 1, (RECENT_MAX - 1) * sizeof(*m));
        t->recent.n -= sizeof(*m);
        count--;
    }
    if (!buf_grow(&t->recent, sizeof(*m)))
        return NULL;
    m = (struct message *)(void *)t->recent.p + count;
    *m = (struct message){ .id_size = is_named ? id.n : 0 };
    if (is_named)
        memcpy(m->id, id.p, id.n);
    t->calls++;
    t->open++;
    return m;
}

struct turn_usage
turn_totals_of(const struct turn_totals *t, struct view id)
{
    const struct message *m = (const struct message *)(const void *)t->recent.p;
    for (size_t i = 0; id.n && i < t->recent.n / sizeof(*m); i++)
        if (m[i].id_size == id.n && !memcmp(m[i].id, id.p, id.n))
            return m[i].usage;
    return (struct turn_usage){ 0 };
}

bool
turn_totals_is_truth(const struct turn_event *e)
{
    struct turn_usage u = e->usage;
    bool has_any = false;
    for (size_t i = 0; e->type == TURN_DONE && i < TURN_USAGE_FIELDS; i++)
        has_any |= *turn_usage_field(&u, i) != TURN_UNKNOWN && *turn_usage_field(&u, i);
    return has_any;
}

static int
add_message(struct turn_totals *t, const struct turn_event *e)
{
    struct turn_usage told = e->usage;
    if (!is_told(told))
        return 0;
    struct message *m = message_of(t, e->id);
    if (!m)
        return t->recent.failed;
    t->is_known = true;
    t->open -= e->is_final && !m->is_final;
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

static void
close_all(struct turn_totals *t, const struct turn_event *e)
{
    bool is_truth = turn_totals_is_truth(e);
    struct turn_usage told = is_truth ? e->usage : TURN_NO_USAGE;
    t->is_known = t->is_known || is_told(e->usage);
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++) {
        uint64_t of_done = count_of(told, i), summed = *turn_usage_field(&t->since, i);
        uint64_t *done = turn_usage_field(&t->done, i);
        *done = plus(*done, of_done == TURN_UNKNOWN ? summed : of_done);
    }
    t->since = (struct turn_usage){ 0 };
    t->broken += is_truth ? 0 : t->open;
    t->open = 0;
    buf_clear(&t->recent);
}

int
turn_totals_add(struct turn_totals *t, const struct turn_event *e)
{
    if (e->type == TURN_USAGE)
        return add_message(t, e);
    if (e->type == TURN_DONE || e->type == TURN_EXIT)
        close_all(t, e);
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
    struct turn_usage done = t->done, since = t->since;
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++) {
        parts_put_u64(out, *turn_usage_field(&done, i));
        parts_put_u64(out, *turn_usage_field(&since, i));
    }
    parts_put_u64(out, t->calls);
    parts_put_u64(out, t->open);
    parts_put_u64(out, t->broken);
    parts_put_u64(out, t->is_known);
    parts_put(out, (struct view){ t->recent.p, t->recent.n });
    return out->failed;
}

int
turn_totals_load(struct turn_totals *t, struct view *rest)
{
    uint64_t is_known = 0;
    struct view recent = { 0 };
    bool is_fine = true;
    for (size_t i = 0; is_fine && i < TURN_USAGE_FIELDS; i++)
        is_fine = parts_take_u64(rest, turn_usage_field(&t->done, i)) &&
                  parts_take_u64(rest, turn_usage_field(&t->since, i));
    is_fine = is_fine && parts_take_u64(rest, &t->calls) &&
              parts_take_u64(rest, &t->open) && parts_take_u64(rest, &t->broken) &&
              parts_take_u64(rest, &is_known) && parts_take(rest, &recent);
    if (!is_fine || recent.n % sizeof(struct message) ||
        recent.n > RECENT_MAX * sizeof(struct message))
        return ERR_DAMAGED;
    t->is_known = is_known;
    for (size_t i = 0; i < recent.n; i += sizeof(struct message)) {
        struct message m;
        memcpy(&m, recent.p + i, sizeof(m));
        if (m.id_size > ID_MAX)
            return ERR_DAMAGED;
    }
    return buf_append(&t->recent, recent.p, recent.n);
}

void
turn_totals_release(struct turn_totals *t)
{
    buf_release(&t->recent);
    *t = (struct turn_totals){ 0 };
}
