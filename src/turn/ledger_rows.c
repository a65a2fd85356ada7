/* SPDX-License-Identifier: MIT */
/* ledger_rows.c -- rows of a ledger, found by message, model and day. */
#include <string.h>

#include "turn/ledger_priv.h"

enum {
    MODELS_MAX = 64, /* a session's others count as its model */
    SLOTS_MIN = 64,
    LOOK_MAX = 256, /* slots; only rows that were made for it are further away */
};

/* -- models -- */

struct ledger_model *
ledger_models(const struct turn_ledger *l)
{
    return (struct ledger_model *)(void *)l->models.p;
}

/* The first one has no name. */
int
ledger_model(struct turn_ledger *l, struct view name, size_t *ret)
{
    size_t count = l->models.n / sizeof(struct ledger_model),
           n = name.n < LEDGER_MODEL_MAX ? name.n : LEDGER_MODEL_MAX;
    for (size_t i = 0; i < count; i++)
        if (ledger_models(l)[i].n == n &&
            (!n || !memcmp(ledger_models(l)[i].name, name.p, n))) {
            *ret = i;
            return 0;
        }
    if (count == MODELS_MAX)
        return 0;
    struct ledger_model m = { .n = n };
    if (n)
        memcpy(m.name, name.p, n);
    int r = buf_append(&l->models, &m, sizeof(m));
    if (!r)
        *ret = count;
    return r;
}

/* -- rows, found by message, model and day -- */

struct ledger_row *
ledger_rows(const struct turn_ledger *l)
{
    return (struct ledger_row *)(void *)l->rows.p;
}

size_t
ledger_count(const struct turn_ledger *l)
{
    return l->rows.n / sizeof(struct ledger_row);
}

uint64_t
ledger_mix(uint64_t h)
{
    h = (h ^ h >> 33) * UINT64_C(0xff51afd7ed558ccd);
    h = (h ^ h >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return h ^ h >> 33;
}

static bool
is_alike(const struct ledger_row *a, const struct ledger_row *b)
{
    return a->message == b->message && a->day == b->day && a->model == b->model;
}

/* The slot of such a row, or the free one where it goes; NULL: there is none. */
static uint32_t *
slot_of(const struct turn_ledger *l, const struct ledger_row *like)
{
    uint32_t *slots = (uint32_t *)(void *)l->slots.p;
    size_t n = l->slots.n / sizeof(*slots);
    uint64_t at = ledger_mix(like->message ^ (uint64_t)like->day << 32 ^ like->model);
    for (size_t i = 0; i < n && i < LOOK_MAX; i++) {
        uint32_t *slot = &slots[(at + i) & (n - 1)];
        if (!*slot || is_alike(ledger_rows(l) + *slot - 1, like))
            return slot;
    }
    return NULL;
}

/* At most half of the slots are taken. */
static int
make_slots(struct turn_ledger *l)
{
    size_t count = ledger_count(l), want = SLOTS_MIN;
    while (want < 4 * (count + 1))
        want *= 2;
    buf_clear(&l->slots);
    int r = buf_reserve(&l->slots, want * sizeof(uint32_t));
    if (r < 0)
        return r;
    memset(buf_grow(&l->slots, want * sizeof(uint32_t)), 0, want * sizeof(uint32_t));
    for (size_t i = 0; i < count; i++) {
        uint32_t *slot = slot_of(l, ledger_rows(l) + i);
        if (slot)
            *slot = (uint32_t)i + 1;
    }
    return 0;
}

/* Ready for one more row. */
static int
reserve_row(struct turn_ledger *l)
{
    int r = 0;
    if (l->slots.n < 2 * (ledger_count(l) + 1) * sizeof(uint32_t))
        r = make_slots(l);
    if (!r)
        r = buf_reserve(&l->rows, sizeof(struct ledger_row));
    return r ? r : buf_reserve(&l->span, sizeof(uint32_t));
}

/* Where it is, or where it goes; without a place of its own it is among those without a
 * name, or else in the last one. */
static uint32_t
place(struct turn_ledger *l, struct ledger_row like)
{
    uint32_t *slot = slot_of(l, &like), count = (uint32_t)ledger_count(l);
    if (!slot) {
        like.message = 0;
        slot = slot_of(l, &like);
    }
    if (slot && *slot)
        return *slot - 1;
    if (!slot || count == TURN_LEDGER_ROWS_MAX)
        return count - 1;
    *slot = count + 1;
    buf_append(&l->rows, &like, sizeof(like));
    return count;
}

/* Such a row, which now belongs to the span. */
int
ledger_row(struct turn_ledger *l, const struct ledger_row *like, struct ledger_row **ret)
{
    int r = reserve_row(l);
    if (r < 0)
        return r;
    uint32_t at = place(l, *like);
    *ret = ledger_rows(l) + at;
    if ((*ret)->span != l->number + 1) {
        (*ret)->span = l->number + 1;
        return buf_append(&l->span, &at, sizeof(at));
    }
    return 0;
}

struct ledger_row *
ledger_before(const struct turn_ledger *l, size_t i)
{
    const uint32_t *span = (const uint32_t *)(const void *)l->span.p;
    return ledger_rows(l) + span[l->span.n / sizeof(*span) - 1 - i];
}

size_t
ledger_span(const struct turn_ledger *l)
{
    return l->span.n / sizeof(uint32_t);
}
