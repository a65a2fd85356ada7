/* SPDX-License-Identifier: MIT */
/* usage_sum.c -- what was used, summed up. */
#include "cli/usage_sum.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"

void
cli_usage_release(struct cli_usage *u)
{
    buf_release(&u->text);
    buf_release(&u->rows);
    buf_release(&u->parts);
    buf_release(&u->total_parts);
}

size_t
cli_usage_count(const struct cli_usage *u)
{
    return u->rows.n / sizeof(struct cli_usage_row);
}

const struct cli_usage_row *
cli_usage_at(const struct cli_usage *u, size_t i)
{
    return (const struct cli_usage_row *)(const void *)u->rows.p + i;
}

const char *
cli_usage_text(const struct cli_usage *u, size_t at)
{
    return at ? (const char *)u->text.p + at : NULL;
}

const struct cli_usage_part *
cli_usage_parts(const struct cli_usage *u, const struct cli_usage_row *row)
{
    const struct buf *parts = row == &u->total ? &u->total_parts : &u->parts;
    return (const struct cli_usage_part *)(const void *)parts->p + row->part;
}

/* What is not known adds nothing. */
static void
add_number(uint64_t *to, uint64_t n)
{
    if (n != TURN_UNKNOWN)
        *to = *to == TURN_UNKNOWN ? n : num_plus_u64(*to, n, TURN_UNKNOWN - 1);
}

static void
add_tokens(struct turn_usage *to, struct turn_usage u)
{
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++)
        add_number(turn_usage_field(to, i), *turn_usage_field(&u, i));
}

uint64_t
cli_usage_all(struct turn_usage tokens)
{
    uint64_t all = 0;
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++)
        add_number(&all, *turn_usage_field(&tokens, i));
    return all;
}

/* -- rows -- */

static int
keep(struct cli_usage *u, const char *text, size_t *ret)
{
    *ret = 0;
    if (!text)
        return 0;
    if (!u->text.n)
        buf_append(&u->text, "", 1);
    *ret = u->text.n;
    return buf_append(&u->text, text, strlen(text) + 1);
}

static bool
is_same(const struct cli_usage *u, const struct cli_usage_row *row,
        const struct store_usage *of)
{
    const char *what = cli_usage_text(u, row->what);
    return row->day == of->day &&
           (what && of->group ? !strcmp(what, of->group) : !what && !of->group);
}

/* The last one, or a new one. NULL: out of memory. */
static struct cli_usage_row *
row_of(struct cli_usage *u, const struct store_usage *of)
{
    size_t count = cli_usage_count(u);
    struct cli_usage_row *rows = (struct cli_usage_row *)(void *)u->rows.p;
    if (count && is_same(u, &rows[count - 1], of))
        return &rows[count - 1];
    struct cli_usage_row row = {
        .day = of->day,
        .started_at_ns = of->started_at_ns,
        .sum = { .tokens = TURN_NO_USAGE, .calls = TURN_UNKNOWN },
        .part = u->parts.n / sizeof(struct cli_usage_part),
    };
    if (keep(u, of->group, &row.what) < 0 || keep(u, of->name, &row.name) < 0 ||
        buf_append(&u->rows, &row, sizeof(row)) < 0)
        return NULL;
    return (struct cli_usage_row *)(void *)u->rows.p + count;
}

static int
add_part(struct cli_usage *u, struct buf *parts, struct cli_usage_row *row,
         const char *agent, struct turn_usage tokens)
{
    struct cli_usage_part *of = (struct cli_usage_part *)(void *)parts->p;
    size_t end = row->part + row->parts;
    for (size_t i = row->part; i < end; i++) {
        const char *its = cli_usage_text(u, of[i].agent);
        if (its && agent ? !strcmp(its, agent) : !its && !agent) {
            add_tokens(&of[i].tokens, tokens);
            return 0;
        }
    }
    struct cli_usage_part part = { .tokens = tokens };
    int r = keep(u, agent, &part.agent);
    row->parts++;
    return r < 0 ? r : buf_append(parts, &part, sizeof(part));
}

static void
add_sum(struct cli_usage_sum *to, const struct store_usage *row, struct turn_usage tokens,
        uint64_t cost)
{
    add_tokens(&to->tokens, tokens);
    add_number(&to->calls, row->calls);
    add_number(&to->open_calls, row->open_calls);
    add_number(&to->cost_pd, cost);
    to->is_unpriced |= cost == TURN_UNKNOWN;
}

int
cli_usage_add(void *ctx, const struct store_usage *from)
{
    struct cli_usage *u = ctx;
    const char *model = from->model ? from->model : "";
    const struct view name = { (const uint8_t *)model, strlen(model) };
    const struct turn_usage tokens = { from->input_tokens, from->output_tokens,
                                       from->cache_creation_tokens,
                                       from->cache_read_tokens };
    uint64_t cost = turn_prices_cost(u->prices, name, tokens);
    struct cli_usage_row *row = row_of(u, from);
    if (!row)
        return u->rows.failed ? u->rows.failed : u->text.failed;
    add_sum(&row->sum, from, tokens, cost);
    add_sum(&u->total.sum, from, tokens, cost);
    int r = add_part(u, &u->parts, row, from->agent, tokens);
    if (!r)
        r = add_part(u, &u->total_parts, &u->total, from->agent, tokens);
    return r < 0 ? r : 1;
}

/* -- their order -- */

static int
compare(const void *a, const void *b)
{
    const struct cli_usage_row *x = a, *y = b;
    uint64_t n = cli_usage_all(x->sum.tokens), m = cli_usage_all(y->sum.tokens);
    if (n != m)
        return n > m ? -1 : 1;
    return x->part < y->part ? -1 : x->part > y->part; /* as they came */
}

void
cli_usage_sort(struct cli_usage *u)
{
    if (u->rows.n)
        qsort(u->rows.p, cli_usage_count(u), sizeof(struct cli_usage_row), compare);
}
