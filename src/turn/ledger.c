/* SPDX-License-Identifier: MIT */
/* ledger.c -- what a session has used, by message, model and day. */
#include "turn/ledger.h"

#include <string.h>

enum {
    MODELS_MAX = 64, /* a session's others count as its model */
    MODEL_MAX = 128, /* bytes of a name that are looked at */
    LOOK_MAX = 4096, /* rows in which the beginning of a message is looked for */
    SLOTS_MIN = 64,
};

static const uint64_t DAY_NS = UINT64_C(86400000000000);

struct model {
    size_t n;
    uint8_t name[MODEL_MAX];
};

struct row {
    uint64_t message;
    uint32_t model, day;
    uint32_t span; /* the last one that has touched it */
    uint8_t told;  /* fields, a bit each */
    bool is_done;
    struct turn_usage usage;
    uint64_t calls, open;
};

void
turn_ledger_release(struct turn_ledger *l)
{
    turn_totals_release(&l->totals);
    buf_release(&l->models);
    buf_release(&l->rows);
    buf_release(&l->slots);
    buf_release(&l->span);
    *l = (struct turn_ledger){ 0 };
}

/* -- models -- */

static struct model *
models_of(const struct turn_ledger *l)
{
    return (struct model *)(void *)l->models.p;
}

/* The first one has no name. */
static int
model_of(struct turn_ledger *l, struct view name, size_t *ret)
{
    size_t count = l->models.n / sizeof(struct model),
           n = name.n < MODEL_MAX ? name.n : MODEL_MAX;
    for (size_t i = 0; i < count; i++)
        if (models_of(l)[i].n == n && (!n || !memcmp(models_of(l)[i].name, name.p, n))) {
            *ret = i;
            return 0;
        }
    if (count == MODELS_MAX)
        return 0;
    struct model m = { .n = n };
    if (n)
        memcpy(m.name, name.p, n);
    int r = buf_append(&l->models, &m, sizeof(m));
    if (!r)
        *ret = count;
    return r;
}

/* -- rows, found by message, model and day -- */

static struct row *
rows_of(const struct turn_ledger *l)
{
    return (struct row *)(void *)l->rows.p;
}

static size_t
row_count(const struct turn_ledger *l)
{
    return l->rows.n / sizeof(struct row);
}

static uint64_t
mix(uint64_t h)
{
    h = (h ^ h >> 33) * UINT64_C(0xff51afd7ed558ccd);
    h = (h ^ h >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return h ^ h >> 33;
}

/* 0: it has no id that is unique. */
static uint64_t
message_of(struct view id)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    if (id.n < TURN_LEDGER_ID_MIN)
        return 0;
    for (size_t i = 0; i < id.n; i++)
        h = (h ^ id.p[i]) * UINT64_C(0x100000001b3);
    h = mix(h);
    return h ? h : 1;
}

/* The slot of such a row, or the free one where it goes. */
static uint32_t *
slot_of(const struct turn_ledger *l, const struct row *like)
{
    uint32_t *slots = (uint32_t *)(void *)l->slots.p;
    size_t mask = l->slots.n / sizeof(*slots) - 1;
    size_t i = mix(like->message ^ (uint64_t)like->day << 32 ^ like->model) & mask;
    for (; slots[i]; i = (i + 1) & mask) {
        const struct row *row = rows_of(l) + slots[i] - 1;
        if (row->message == like->message && row->day == like->day &&
            row->model == like->model)
            break;
    }
    return &slots[i];
}

/* At most half of the slots are taken. */
static int
make_slots(struct turn_ledger *l)
{
    size_t count = row_count(l), want = SLOTS_MIN;
    while (want < 4 * (count + 1))
        want *= 2;
    buf_clear(&l->slots);
    int r = buf_reserve(&l->slots, want * sizeof(uint32_t));
    if (r < 0)
        return r;
    memset(buf_grow(&l->slots, want * sizeof(uint32_t)), 0, want * sizeof(uint32_t));
    for (size_t i = 0; i < count; i++)
        *slot_of(l, rows_of(l) + i) = (uint32_t)i + 1;
    return 0;
}

/* Ready for one more row. */
static int
reserve_row(struct turn_ledger *l)
{
    int r = 0;
    if (l->slots.n < 2 * (row_count(l) + 1) * sizeof(uint32_t))
        r = make_slots(l);
    if (!r)
        r = buf_reserve(&l->rows, sizeof(struct row));
    return r ? r : buf_reserve(&l->span, sizeof(uint32_t));
}

/* Such a row, which now belongs to the span. */
static int
row_of(struct turn_ledger *l, const struct row *like, struct row **ret)
{
    int r = reserve_row(l);
    if (r < 0)
        return r;
    uint32_t *slot = slot_of(l, like);
    uint32_t at = *slot ? *slot - 1 : (uint32_t)row_count(l);
    if (!*slot && at == TURN_LEDGER_ROWS_MAX) {
        at--;
    } else if (!*slot) {
        *slot = at + 1;
        buf_append(&l->rows, like, sizeof(*like));
    }
    *ret = rows_of(l) + at;
    if ((*ret)->span != l->number + 1) {
        (*ret)->span = l->number + 1;
        return buf_append(&l->span, &at, sizeof(at));
    }
    return 0;
}

/* The i-th of the span, from its end. */
static struct row *
row_before(const struct turn_ledger *l, size_t i)
{
    const uint32_t *span = (const uint32_t *)(const void *)l->span.p;
    return rows_of(l) + span[l->span.n / sizeof(*span) - 1 - i];
}

/* -- what an event has changed -- */

static uint8_t
told_by(const struct turn_event *e)
{
    struct turn_usage u = e->usage;
    uint8_t told = 0;
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++)
        if (*turn_usage_field(&u, i) != TURN_UNKNOWN)
            told = (uint8_t)(told | 1U << i);
    return told;
}

static uint64_t
take(struct row *row, size_t field, uint64_t n)
{
    uint64_t *from = turn_usage_field(&row->usage, field);
    uint64_t taken = n < *from ? n : *from;
    *from -= taken;
    row->is_done |= taken > 0;
    return taken;
}

/* The row's own first, then what came last. */
static void
take_away(struct turn_ledger *l, struct row *row, size_t field, uint64_t n)
{
    n -= take(row, field, n);
    for (size_t i = 0; n && i < l->span.n / sizeof(uint32_t); i++)
        n -= take(row_before(l, i), field, n);
}

/* From 0 for what was not known. */
static struct turn_usage
sum_of(const struct turn_totals *t)
{
    return t->is_known ? turn_totals_usage(t) : (struct turn_usage){ 0 };
}

static void
give(struct turn_ledger *l, struct row *row, struct turn_usage before)
{
    struct turn_usage after = sum_of(&l->totals);
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++) {
        uint64_t was = *turn_usage_field(&before, i), is = *turn_usage_field(&after, i);
        if (is >= was)
            *turn_usage_field(&row->usage, i) += is - was;
        else
            take_away(l, row, i, was - is);
    }
}

/* The final count of a message was told, maybe on another day than it began. */
static void
close_one(struct turn_ledger *l, struct row *row)
{
    for (size_t i = 0; !row->open && i < l->span.n / sizeof(uint32_t) && i < LOOK_MAX;
         i++)
        if (row_before(l, i)->message == row->message && row_before(l, i)->open)
            row = row_before(l, i);
    row->open -= row->open > 0;
}

static int
add_message(struct turn_ledger *l, const struct turn_event *e, uint32_t day)
{
    const struct turn_totals before = l->totals;
    struct turn_usage had = sum_of(&before);
    size_t model = l->model;
    struct row *row = NULL;
    int r = e->model.n ? model_of(l, e->model, &model) : 0;
    struct row like = { .message = message_of(e->id),
                        .model = (uint32_t)model,
                        .day = day };
    if (!r)
        r = row_of(l, &like, &row);
    if (!r)
        r = turn_totals_add(&l->totals, e);
    if (r)
        return r;
    give(l, row, had);
    row->told |= told_by(e);
    row->calls += l->totals.calls - before.calls;
    if (l->totals.open > before.open)
        row->open++;
    else if (l->totals.open < before.open)
        close_one(l, row);
    l->last = (size_t)(row - rows_of(l)) + 1;
    l->main = e->parent.n ? l->main : l->last;
    return 0;
}

/* What it adds is of the message that has come last. */
static int
add_truth(struct turn_ledger *l, const struct turn_event *e, uint32_t day)
{
    struct turn_usage had = sum_of(&l->totals);
    size_t last = l->main ? l->main : l->last;
    struct row like = { .model = (uint32_t)l->model, .day = day }, *row;
    if (last) {
        like.message = rows_of(l)[last - 1].message;
        like.model = rows_of(l)[last - 1].model;
    }
    int r = row_of(l, &like, &row);
    if (!r)
        r = turn_totals_add(&l->totals, e);
    if (r)
        return r;
    struct turn_usage all = sum_of(&l->totals);
    give(l, row, had);
    row->told |= told_by(e);
    row->is_done |= memcmp(&all, &had, sizeof(all)) != 0;
    for (size_t i = 0; i < l->span.n / sizeof(uint32_t); i++) {
        row_before(l, i)->is_done |= row_before(l, i)->open > 0;
        row_before(l, i)->open = 0;
    }
    return 0;
}

static int
end_span(struct turn_ledger *l, const struct turn_event *e, uint32_t day)
{
    int r = turn_totals_is_truth(e) ? add_truth(l, e, day)
                                    : turn_totals_add(&l->totals, e);
    buf_clear(&l->span);
    l->last = l->main = 0;
    l->number++;
    return r;
}

int
turn_ledger_add(struct turn_ledger *l, const struct turn_event *e, uint64_t ts_ns)
{
    uint32_t day = (uint32_t)(ts_ns / DAY_NS);
    int r = l->models.n ? 0 : model_of(l, (struct view){ 0 }, &l->model);
    if (r < 0)
        return r;
    if (e->type == TURN_SESSION && e->model.n)
        return model_of(l, e->model, &l->model);
    if (e->type == TURN_DONE || e->type == TURN_EXIT)
        return end_span(l, e, day);
    return e->type == TURN_USAGE && told_by(e) ? add_message(l, e, day) : 0;
}

/* -- all of it -- */

int
turn_ledger_each(const struct turn_ledger *l, turn_ledger_fn fn, void *ctx)
{
    int r = 0;
    for (size_t i = 0; r >= 0 && i < row_count(l); i++) {
        const struct row *row = rows_of(l) + i;
        const struct model *model = models_of(l) + row->model;
        struct turn_ledger_row told = {
            .message = row->message,
            .trust = row->open      ? TURN_TRUST_LEAST
                     : row->is_done ? TURN_TRUST_DONE
                                    : TURN_TRUST_FINAL,
            .model = { model->name, model->n },
            .day = row->day,
            .usage = row->usage,
            .calls = row->calls,
            .open = row->open,
        };
        for (size_t f = 0; f < TURN_USAGE_FIELDS; f++)
            if (!(row->told >> f & 1) && !*turn_usage_field(&told.usage, f))
                *turn_usage_field(&told.usage, f) = TURN_UNKNOWN;
        r = fn(ctx, &told);
    }
    return r < 0 ? r : 0;
}
