/* SPDX-License-Identifier: MIT */
/*
 * usage_sum.h -- what was used, summed up: a row for each group, and one for all.
 *
 * Prices are of models, and vendors' numbers of agents: rows come for each of both
 * (store.h) and are brought together here.
 */
#ifndef CLI_USAGE_SUM_H
#define CLI_USAGE_SUM_H

#include <stdbool.h>

#include "store/store.h"
#include "turn/prices.h"

struct cli_usage_sum {
    struct turn_usage tokens;   /* TURN_UNKNOWN each: never told */
    uint64_t calls, open_calls; /* open: of these, that are a lower bound */
    uint64_t cost_pd;           /* picodollars, of what has a price … */
    bool is_unpriced;           /* … and there is more */
};

/* What one agent has used of a row. */
struct cli_usage_part {
    size_t agent; /* in text; 0: not known */
    struct turn_usage tokens;
};

struct cli_usage_row {
    size_t what, name; /* in text; 0: there is none */
    uint64_t day, started_at_ns;
    struct cli_usage_sum sum;
    size_t part, parts;
};

/* Zeroed but for the prices, and with no tokens known in total, it is ready for use. */
struct cli_usage {
    const struct turn_prices *prices; /* borrowed */
    struct buf text;                  /* the first byte of it is none's */
    struct buf rows, parts;
    struct cli_usage_row total;
    struct buf total_parts;
};

void cli_usage_release(struct cli_usage *u);
/* A store_usage_fn. */
int cli_usage_add(void *ctx, const struct store_usage *row);
/* The most used first; as they came otherwise. */
void cli_usage_sort(struct cli_usage *u);
size_t cli_usage_count(const struct cli_usage *u);
const struct cli_usage_row *cli_usage_at(const struct cli_usage *u, size_t i);
/* A text of it; NULL: none. */
const char *cli_usage_text(const struct cli_usage *u, size_t at);
/* Those of a row, or of the total. */
const struct cli_usage_part *cli_usage_parts(const struct cli_usage *u,
                                             const struct cli_usage_row *row);
/* All tokens, in and out. */
uint64_t cli_usage_all(struct turn_usage tokens);

#endif
