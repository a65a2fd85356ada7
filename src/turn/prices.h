/* SPDX-License-Identifier: MIT */
/*
 * prices.h -- what tokens cost, by a list of prices.
 *
 * Pure. A line of the list is the beginning of a model's name, and four prices in US
 * dollars for a million tokens: input, output, cache write, cache read; `-` for one that
 * there is not. `#` begins a remark.
 *
 *     claude-opus-4-5   5  25  6.25  0.50
 *
 * The longest beginning that fits is taken, and of equal ones the last. It fits where the
 * name ends behind it or goes on with one of - @ [ :, but not within a version ("opus-4"
 * of "opus-4-5"), whoever provides the model ("anthropic/claude-…",
 * "us.anthropic.claude-…"), in the list or in the name. Costs are
 * whole picodollars (10^-12): a dollar for a million tokens is a million of them for one,
 * so that prices have six places, and nothing is rounded.
 */
#ifndef TURN_PRICES_H
#define TURN_PRICES_H

#include "turn/event.h"

enum {
    TURN_PRICES_MAX = 4096,
    TURN_PRICE_NAME_MAX = 127, /* bytes */
};

/* In picodollars. */
#define TURN_DOLLAR UINT64_C(1000000000000)

/* Zeroed it is ready for use. */
struct turn_prices {
    struct buf list;
};

/* The one that comes with ahr. */
extern const char turn_prices_builtin[];
extern const size_t turn_prices_builtin_size;

/* Over those before. A bad line is told as NAME:LINE, with ERR_USAGE, and nothing of text
 * is added. */
int turn_prices_add(struct turn_prices *p, struct view text, const char *name,
                    struct err *err);
/* In picodollars; TURN_UNKNOWN: one of its prices is not known. What is beyond all
 * numbers is the largest. Tokens that are not known cost nothing. */
uint64_t turn_prices_cost(const struct turn_prices *p, struct view model,
                          struct turn_usage usage);
void turn_prices_release(struct turn_prices *p);

#endif
