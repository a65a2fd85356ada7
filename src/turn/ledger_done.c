/* SPDX-License-Identifier: MIT */
/*
 * ledger_done.c -- the end of an answer: what it was in all, beside what its messages
 * were.
 */
#include <string.h>

#include "base/json_in.h"
#include "base/num.h"
#include "turn/fields.h"
#include "turn/ledger_priv.h"

enum { MODELS_MAX = 64, TOTALS_MAX = 1 << 16 };

/* -- less than its messages -- */

static uint64_t
take(struct ledger_row *row, size_t field, uint64_t n)
{
    uint64_t *from = turn_usage_field(&row->usage, field);
    uint64_t taken = n < *from ? n : *from;
    *from -= taken;
    row->is_done |= taken > 0;
    return taken;
}

/* What came last gives first. Returns how much there was. */
static uint64_t
take_away(struct turn_ledger *l, struct ledger_row *first, size_t field, uint64_t n)
{
    uint64_t left = n - take(first, field, n);
    for (size_t i = 0; left && i < ledger_span(l); i++)
        left -= take(ledger_before(l, i), field, left);
    return n - left;
}

/* -- more than its messages -- */

/* What it is of: the same messages give the same, in whatever order. 0: they have no
 * names. */
static uint64_t
hash_of_span(const struct turn_ledger *l)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < ledger_span(l); i++) {
        const struct ledger_row *row = ledger_before(l, i);
        sum += row->message && row->calls ? ledger_mix(row->message + 1) : 0;
    }
    return sum;
}

static int
add_extra(struct turn_ledger *l, const struct ledger_row *like, size_t model,
          struct turn_usage more)
{
    struct ledger_row *list = (void *)l->extra.p;
    size_t count = l->extra.n / sizeof(*list);
    struct ledger_row row = *like;
    row.model = (uint32_t)model;
    row.usage = more;
    if (count < TURN_LEDGER_ROWS_MAX)
        return buf_append(&l->extra, &row, sizeof(row));
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++)
        *turn_usage_field(&list[count - 1].usage, i) += *turn_usage_field(&more, i);
    return 0;
}

/* What each model has used, by the agent; then what of it is more than its messages. */
struct by_model {
    size_t model;
    struct turn_usage all, more;
};

static bool
next_model(struct json_in *in, bool *is_first, struct buf *name, struct turn_usage *ret)
{
    struct view raw[TURN_USAGE_FIELDS] = { { 0 } };
    const struct turn_field wanted[] = { { "input_tokens", &raw[0] },
                                         { "output_tokens", &raw[1] },
                                         { "cache_creation_input_tokens", &raw[2] },
                                         { "cache_read_input_tokens", &raw[3] } };
    if (!json_in_each(in, '}', is_first) || !json_in_key(in, name))
        return false;
    (void)json_in_peek(in);
    const uint8_t *start = in->p;
    if (!json_in_skip(in))
        return false;
    (void)turn_known_fields((struct view){ start, (size_t)(in->p - start) }, wanted,
                            TURN_USAGE_FIELDS);
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++)
        *turn_usage_field(ret, i) = turn_tokens(raw[i], 0);
    return true;
}

/* A variant of it ("[1m]") is not told by its messages. */
static struct view
itself(struct view name)
{
    const uint8_t *bracket = name.n ? memchr(name.p, '[', name.n) : NULL;
    return (struct view){ name.p, bracket ? (size_t)(bracket - name.p) : name.n };
}

static void
add_to_model(struct by_model *list, size_t *count, size_t model, struct turn_usage more)
{
    size_t i = 0;
    while (i < *count && list[i].model != model)
        i++;
    if (i == *count)
        list[(*count)++] = (struct by_model){ .model = model };
    for (size_t f = 0; f < TURN_USAGE_FIELDS; f++)
        *turn_usage_field(&list[i].all,
                          f) = num_plus_u64(*turn_usage_field(&list[i].all, f),
                                            *turn_usage_field(&more, f), NUM_EXACT_MAX);
}

static int
read_models(struct turn_ledger *l, struct view json, struct by_model *ret, size_t *count)
{
    struct json_in in = { .p = json.p, .end = json.p + json.n };
    AUTO(buf) name = { 0 };
    struct turn_usage all = { 0 };
    bool is_first = true;
    int r = 0;
    *count = 0;
    if (!json.n || !json_in_take(&in, '{'))
        return 0;
    while (!r && *count < MODELS_MAX && next_model(&in, &is_first, &name, &all)) {
        size_t model = l->model;
        r = ledger_model(l, itself((struct view){ name.p, name.n }), &model);
        add_to_model(ret, count, model, all);
    }
    return r;
}

/* Each has what of it is beyond its messages; false: it does not come out even. */
static bool
share_out(struct turn_ledger *l, struct by_model *by, size_t count, size_t field,
          uint64_t more)
{
    for (size_t i = 0; i < count; i++) {
        struct turn_usage *since = ledger_since(l, by[i].model);
        uint64_t all = *turn_usage_field(&by[i].all, field);
        uint64_t known = since ? *turn_usage_field(since, field) : 0;
        if (all < known || all - known > more)
            return false;
        *turn_usage_field(&by[i].more, field) = all - known;
        more -= all - known;
    }
    return !more;
}

/* To the models as the agent tells, else to the one that spoke last. */
static int
give_more(struct turn_ledger *l, const struct turn_event *e,
          const struct ledger_row *like, struct turn_usage more)
{
    struct by_model by[MODELS_MAX];
    struct turn_usage rest = { 0 }, none = { 0 };
    size_t count;
    int r = read_models(l, e->json, by, &count);
    for (size_t f = 0; !r && f < TURN_USAGE_FIELDS; f++) {
        if (share_out(l, by, count, f, *turn_usage_field(&more, f)))
            continue;
        for (size_t i = 0; i < count; i++)
            *turn_usage_field(&by[i].more, f) = 0;
        *turn_usage_field(&rest, f) = *turn_usage_field(&more, f);
    }
    for (size_t i = 0; !r && i < count; i++)
        if (memcmp(&by[i].more, &none, sizeof(none)) != 0)
            r = add_extra(l, like, by[i].model, by[i].more);
    if (!r && memcmp(&rest, &none, sizeof(none)) != 0)
        r = add_extra(l, like, like->model, rest);
    return r;
}

static int
add_truth(struct turn_ledger *l, const struct turn_event *e, uint32_t day)
{
    struct turn_usage had = ledger_sum(&l->totals), more = { 0 };
    size_t last = l->main ? l->main : l->last;
    struct ledger_row like = { .message = hash_of_span(l),
                               .model = last ? ledger_rows(l)[last - 1].model
                                             : (uint32_t)l->model,
                               .day = day,
                               .span = l->number + 1,
                               .told = ledger_told(e),
                               .is_done = true,
                               .is_extra = true };
    int r = turn_totals_add(&l->totals, e);
    if (r)
        return r;
    struct turn_usage all = ledger_sum(&l->totals);
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++) {
        uint64_t was = *turn_usage_field(&had, i), is = *turn_usage_field(&all, i);
        if (is > was)
            *turn_usage_field(&more, i) = is - was;
        else if (is < was && last)
            (void)take_away(l, ledger_rows(l) + last - 1, i, was - is);
    }
    for (size_t i = 0; i < ledger_span(l); i++) {
        struct ledger_row *row = ledger_before(l, i);
        row->is_done |= row->open > 0;
        row->open = 0;
    }
    return give_more(l, e, &like, more);
}

/* -- sessions of the agent's that go on -- */

static bool
has_names(const struct turn_ledger *l)
{
    for (size_t i = 0; i < ledger_span(l); i++)
        if (ledger_before(l, i)->message)
            return true;
    return false;
}

/* What nothing but the total knows is the total's. Messages that have names are told
 * apart by these. */
static int
add_total(struct turn_ledger *l, const struct turn_event *e, uint32_t day)
{
    struct ledger_total t = { .thread = turn_id_hash(e->id),
                              .model = (uint32_t)l->model,
                              .day = day,
                              .is_history = !turn_totals_is_truth(e),
                              .all = e->total };
    struct turn_usage used = e->usage;
    if (!t.thread || !turn_usage_is_told(e->total) ||
        l->sum_totals.n / sizeof(t) == TOTALS_MAX || (!t.is_history && has_names(l)))
        return 0;
    int r = buf_reserve(&l->sum_totals, sizeof(t));
    if (r < 0)
        return r;
    struct ledger_row *row = l->last ? &ledger_rows(l)[l->last - 1] : NULL;
    for (size_t i = 0; row && !t.is_history && i < TURN_USAGE_FIELDS; i++)
        if (*turn_usage_field(&used, i) != TURN_UNKNOWN)
            *turn_usage_field(&t.used, i) = take_away(l, row, i,
                                                      *turn_usage_field(&used, i));
    for (size_t i = 0; !t.is_history && i < ledger_span(l); i++) {
        struct ledger_row *of = ledger_before(l, i);
        of->has_moved = true;
        t.calls += of->calls;
        of->calls = 0;
    }
    return buf_append(&l->sum_totals, &t, sizeof(t));
}

int
ledger_end_span(struct turn_ledger *l, const struct turn_event *e, uint32_t day)
{
    int r = turn_totals_is_truth(e) ? add_truth(l, e, day)
                                    : turn_totals_add(&l->totals, e);
    if (!r && e->type == TURN_DONE)
        r = add_total(l, e, day);
    buf_clear(&l->span);
    buf_clear(&l->since);
    l->last = l->main = 0;
    l->number++;
    return r;
}
