/* SPDX-License-Identifier: MIT */
/* ledger_priv.h -- rows of a ledger, and what its files do for each other. */
#ifndef TURN_LEDGER_PRIV_H
#define TURN_LEDGER_PRIV_H

#include "turn/ledger.h"

enum { LEDGER_MODEL_MAX = 128 }; /* bytes of a name that are looked at */

struct ledger_model {
    size_t n;
    uint8_t name[LEDGER_MODEL_MAX];
};

struct ledger_row {
    uint64_t message, caller;
    uint32_t model, day;
    uint32_t span; /* the last one that has touched it, + 1 */
    uint8_t told;  /* fields, a bit each */
    bool is_done, is_extra;
    bool has_moved; /* something of it is in a total */
    struct turn_usage usage;
    uint64_t calls, open;
};

struct ledger_total {
    uint64_t thread;
    uint32_t model, day;
    bool is_history;
    struct turn_usage all, used;
    uint64_t calls;
};

/* -- ledger_rows.c -- */
struct ledger_model *ledger_models(const struct turn_ledger *l);
/* Which of them has that name; the first one has none. More than it can hold: *ret stays.
 */
int ledger_model(struct turn_ledger *l, struct view name, size_t *ret);
struct ledger_row *ledger_rows(const struct turn_ledger *l);
size_t ledger_count(const struct turn_ledger *l);
uint64_t ledger_mix(uint64_t h);
/* Such a row, which now belongs to the span. */
int ledger_row(struct turn_ledger *l, const struct ledger_row *like,
               struct ledger_row **ret);
/* The i-th row of the span, from its end, of so many. */
struct ledger_row *ledger_before(const struct turn_ledger *l, size_t i);
size_t ledger_span(const struct turn_ledger *l);

/* -- ledger.c -- */
/* The sum so far; from 0 for what was not known. */
struct turn_usage ledger_sum(const struct turn_totals *t);
/* Which fields it tells, a bit each. */
uint8_t ledger_told(const struct turn_event *e);
/* What was used in the span by that model, behind what was so far; NULL: no memory. */
struct turn_usage *ledger_since(struct turn_ledger *l, size_t model);

/* -- ledger_done.c -- */
/* DONE, or EXIT. */
int ledger_end_span(struct turn_ledger *l, const struct turn_event *e, uint32_t day);

#endif
