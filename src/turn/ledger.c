/* SPDX-License-Identifier: MIT */
/* ledger.c -- what a session has used, by message, model and day. */
#include "turn/ledger.h"

#include <string.h>

#include "turn/ledger_priv.h"

enum {
    LOOK_MAX = 4096,  /* rows in which the beginning of a message is looked for */
    CALLS_MAX = 1024, /* the latest, of which any may be a sub-agent's */
};

static const uint64_t DAY_NS = UINT64_C(86400000000000);

void
turn_ledger_release(struct turn_ledger *l)
{
    turn_totals_release(&l->totals);
    struct buf *const bufs[] = { &l->models, &l->rows,  &l->slots,      &l->span,
                                 &l->since,  &l->extra, &l->sum_totals, &l->calls };
    for (size_t i = 0; i < sizeof(bufs) / sizeof(bufs[0]); i++)
        buf_release(bufs[i]);
    *l = (struct turn_ledger){ 0 };
}

/* -- who has called a sub-agent -- */

struct call {
    uint64_t id, caller;
};

/* 0: it is not known. */
static uint64_t
caller_of(const struct turn_ledger *l, struct view call)
{
    const struct call *calls = (const void *)l->calls.p;
    uint64_t id = turn_id_hash(call);
    size_t count = l->calls.n / sizeof(*calls);
    for (size_t i = 0; id && i < count; i++)
        if (calls[i].id == id)
            return calls[i].caller;
    return 0;
}

/* A call of a sub-agent's is of the message that called this one. */
static int
note_call(struct turn_ledger *l, const struct turn_event *e)
{
    const struct call call = { turn_id_hash(e->id), e->parent.n
                                                        ? caller_of(l, e->parent)
                                                        : turn_id_hash(e->message) };
    if (!call.id || !call.caller)
        return 0;
    if (l->calls.n < CALLS_MAX * sizeof(call))
        return buf_append(&l->calls, &call, sizeof(call));
    memcpy(l->calls.p + l->next_call * sizeof(call), &call, sizeof(call));
    l->next_call = (l->next_call + 1) % CALLS_MAX;
    return 0;
}

/* -- what an event has changed -- */

uint8_t
ledger_told(const struct turn_event *e)
{
    struct turn_usage u = e->usage;
    uint8_t told = 0;
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++)
        if (*turn_usage_field(&u, i) != TURN_UNKNOWN)
            told = (uint8_t)(told | 1U << i);
    return told;
}

struct turn_usage
ledger_sum(const struct turn_totals *t)
{
    return t->is_known ? turn_totals_usage(t) : (struct turn_usage){ 0 };
}

struct turn_usage *
ledger_since(struct turn_ledger *l, size_t model)
{
    const struct turn_usage none = { 0 };
    while (l->since.n / sizeof(none) <= model)
        if (buf_append(&l->since, &none, sizeof(none)) < 0)
            return NULL;
    return (struct turn_usage *)(void *)l->since.p + model;
}

/* What a message adds: its values never fall. */
static int
give(struct turn_ledger *l, struct ledger_row *row, struct turn_usage before)
{
    struct turn_usage after = ledger_sum(&l->totals);
    struct turn_usage *since = ledger_since(l, row->model);
    for (size_t i = 0; since && i < TURN_USAGE_FIELDS; i++) {
        uint64_t more = *turn_usage_field(&after, i) - *turn_usage_field(&before, i);
        *turn_usage_field(&row->usage, i) += more;
        *turn_usage_field(since, i) += more;
    }
    return since ? 0 : l->since.failed;
}

/* The final count of a message was told, maybe on another day than it began. */
static void
close_one(struct turn_ledger *l, struct ledger_row *row)
{
    for (size_t i = 0; !row->open && i < ledger_span(l) && i < LOOK_MAX; i++)
        if (ledger_before(l, i)->message == row->message && ledger_before(l, i)->open)
            row = ledger_before(l, i);
    row->open -= row->open > 0;
}

static int
add_message(struct turn_ledger *l, const struct turn_event *e, uint32_t day)
{
    const struct turn_totals before = l->totals;
    struct turn_usage had = ledger_sum(&before);
    size_t model = l->model;
    struct ledger_row *row = NULL;
    int r = e->model.n ? ledger_model(l, e->model, &model) : 0;
    struct ledger_row like = { .message = turn_id_hash(e->id),
                               .caller = e->parent.n ? caller_of(l, e->parent) : 0,
                               .model = (uint32_t)model,
                               .day = day };
    if (!r)
        r = ledger_row(l, &like, &row);
    if (!r)
        r = turn_totals_add(&l->totals, e);
    if (!r)
        r = give(l, row, had);
    if (r)
        return r;
    row->told |= ledger_told(e);
    row->calls += l->totals.calls - before.calls;
    if (l->totals.open > before.open)
        row->open++;
    else if (l->totals.open < before.open)
        close_one(l, row);
    l->last = (size_t)(row - ledger_rows(l)) + 1;
    l->main = e->parent.n ? l->main : l->last;
    return 0;
}

int
turn_ledger_add(struct turn_ledger *l, const struct turn_event *e, uint64_t ts_ns)
{
    uint32_t day = (uint32_t)(ts_ns / DAY_NS);
    int r = l->models.n ? 0 : ledger_model(l, (struct view){ 0 }, &l->model);
    if (r < 0)
        return r;
    if (e->type == TURN_SESSION && e->model.n)
        return ledger_model(l, e->model, &l->model);
    if (e->type == TURN_DONE || e->type == TURN_EXIT)
        return ledger_end_span(l, e, day);
    if (e->type == TURN_TOOL_CALL)
        return note_call(l, e);
    return e->type == TURN_USAGE && ledger_told(e) ? add_message(l, e, day) : 0;
}

/* -- all of it -- */

static struct view
name_of(const struct turn_ledger *l, uint32_t model)
{
    const struct ledger_model *m = ledger_models(l) + model;
    return (struct view){ m->name, m->n };
}

static bool
is_empty(const struct ledger_row *row)
{
    const struct turn_usage none = { 0 };
    return row->has_moved && !row->calls && !memcmp(&row->usage, &none, sizeof(none));
}

static int
tell(const struct turn_ledger *l, const struct ledger_row *row, turn_ledger_fn fn,
     void *ctx)
{
    struct turn_ledger_row told = {
        .message = row->message,
        .caller = row->caller,
        .span = row->span,
        .is_extra = row->is_extra,
        .trust = row->open      ? TURN_TRUST_LEAST
                 : row->is_done ? TURN_TRUST_DONE
                                : TURN_TRUST_FINAL,
        .model = name_of(l, row->model),
        .day = row->day,
        .usage = row->usage,
        .calls = row->calls,
        .open = row->open,
    };
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++)
        if (!(row->told >> i & 1) && !*turn_usage_field(&told.usage, i))
            *turn_usage_field(&told.usage, i) = TURN_UNKNOWN;
    return is_empty(row) ? 0 : fn(ctx, &told);
}

int
turn_ledger_each(const struct turn_ledger *l, turn_ledger_fn fn, void *ctx)
{
    const struct ledger_row *extra = (const void *)l->extra.p;
    size_t count = ledger_count(l), extras = l->extra.n / sizeof(*extra);
    int r = 0;
    for (size_t i = 0; r >= 0 && i < count; i++)
        r = tell(l, ledger_rows(l) + i, fn, ctx);
    for (size_t i = 0; r >= 0 && i < extras; i++)
        r = tell(l, extra + i, fn, ctx);
    return r < 0 ? r : 0;
}

int
turn_ledger_each_total(const struct turn_ledger *l, turn_ledger_total_fn fn, void *ctx)
{
    const struct ledger_total *t = (const void *)l->sum_totals.p;
    int r = 0;
    for (size_t i = 0; r >= 0 && i < l->sum_totals.n / sizeof(*t); i++) {
        const struct turn_ledger_total told = { .thread = t[i].thread,
                                                .is_history = t[i].is_history,
                                                .model = name_of(l, t[i].model),
                                                .day = t[i].day,
                                                .all = t[i].all,
                                                .used = t[i].used,
                                                .calls = t[i].calls };
        r = fn(ctx, &told);
    }
    return r < 0 ? r : 0;
}
