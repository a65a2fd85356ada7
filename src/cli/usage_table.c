/* SPDX-License-Identifier: MIT */
/*
 * usage_table.c -- what was used, as a table; on a terminal with a bar for each row.
 *
 * Numbers are written out where they and a bar have room, else as "1.23M". What may be
 * more than that has ≥ before it, what is not known is `-`.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/session.h"
#include "cli/table.h"
#include "cli/usage_print.h"
#include "cli/when.h"

enum {
    COLUMNS = 8,
    BAR = COLUMNS - 1,
    BAR_MIN = 6, /* columns */
    BAR_MAX = 40,
    FAIR = 23, /* columns of the first, before the bar is taken from it */
    BAR_COLOUR = 36,
    BOLD = 1,
    GAP = 2,
};

struct printing {
    const struct cli_usage *u;
    enum store_usage_by by;
    struct cli_column columns[COLUMNS];
    struct cli_table table;
    struct buf cell;
    bool is_short, is_by_cost;
    unsigned bar; /* columns; 0: none */
    uint64_t most;
};

/* -- numbers -- */

/* Three digits of it: "1.23M". */
static void
put_short(struct buf *out, uint64_t n)
{
    static const char units[] = "kMGTPE";
    uint64_t unit = 1000;
    size_t i = 0;
    if (n < 10000) {
        buf_put_grouped(out, n);
        return;
    }
    for (; n / unit >= 1000 && units[i + 1]; i++)
        unit *= 1000;
    uint64_t whole = n / unit, hundredths = n % unit / (unit / 100);
    if (whole >= 100)
        buf_printf(out, "%" PRIu64 "%c", whole, units[i]);
    else if (whole >= 10)
        buf_printf(out, "%" PRIu64 ".%" PRIu64 "%c", whole, hundredths / 10, units[i]);
    else
        buf_printf(out, "%" PRIu64 ".%02" PRIu64 "%c", whole, hundredths, units[i]);
}

static void
put_cell(struct printing *p, unsigned style)
{
    cli_table_put(&p->table, buf_str(&p->cell), style);
}

static void
put_number(struct printing *p, uint64_t n, bool is_least, unsigned style)
{
    buf_clear(&p->cell);
    if (n == TURN_UNKNOWN)
        buf_puts(&p->cell, "-");
    else
        buf_puts(&p->cell, is_least ? "≥" : "");
    if (n != TURN_UNKNOWN && p->is_short)
        put_short(&p->cell, n);
    else if (n != TURN_UNKNOWN)
        buf_put_grouped(&p->cell, n);
    put_cell(p, style);
}

/* In cents, rounded. */
static void
put_cost(struct printing *p, const struct cli_usage_sum *s, unsigned style)
{
    uint64_t cents = s->cost_pd / (TURN_DOLLAR / 100) +
                     (s->cost_pd % (TURN_DOLLAR / 100) >= TURN_DOLLAR / 200);
    bool is_least = s->is_unpriced || s->open_calls;
    buf_clear(&p->cell);
    if (s->is_unpriced && !s->cost_pd) {
        buf_puts(&p->cell, "-");
    } else if (s->cost_pd && !cents) {
        buf_puts(&p->cell, is_least ? "≥$0.00" : "<$0.01");
    } else {
        buf_puts(&p->cell, is_least ? "≥$" : "$");
        buf_put_grouped(&p->cell, cents / 100);
        buf_printf(&p->cell, ".%02" PRIu64, cents % 100);
    }
    put_cell(p, style);
}

/* -- rows -- */

static void
put_what(struct printing *p, const struct cli_usage_row *row)
{
    const char *what = cli_usage_text(p->u, row->what);
    const char *name = cli_usage_text(p->u, row->name);
    char day[CLI_WHEN_DAY_SIZE];
    buf_clear(&p->cell);
    if (row == &p->u->total) {
        buf_puts(&p->cell, "total");
    } else if (p->by == STORE_BY_DAY && row->day) {
        buf_puts(&p->cell, cli_when_day(row->day, day));
    } else if (p->by == STORE_BY_SESSION && what && !name) {
        buf_append(&p->cell, what,
                   strlen(what) < CLI_SHORT_ID ? strlen(what) : (size_t)CLI_SHORT_ID);
    } else {
        buf_puts(&p->cell, name ? name : what ? what : "(not told)");
    }
    put_cell(p, row == &p->u->total ? BOLD : 0);
}

static uint64_t
weight(const struct printing *p, const struct cli_usage_row *row)
{
    return p->is_by_cost ? row->sum.cost_pd : cli_usage_all(row->sum.tokens);
}

/* To an eighth of a column. */
static void
put_bar(struct printing *p, const struct cli_usage_row *row)
{
    static const char *const parts[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
    buf_clear(&p->cell);
    if (p->bar && p->most && row != &p->u->total) {
        double part = (double)weight(p, row) / (double)p->most;
        unsigned eighths = (unsigned)(part * p->bar * 8 + 0.5);
        eighths += !eighths && weight(p, row);
        for (unsigned i = 0; i < eighths / 8; i++)
            buf_puts(&p->cell, "█");
        buf_puts(&p->cell, parts[eighths % 8]);
    }
    put_cell(p, BAR_COLOUR);
}

static void
put_row(struct printing *p, const struct cli_usage_row *row)
{
    const struct cli_usage_sum *s = &row->sum;
    unsigned style = row == &p->u->total ? BOLD : 0;
    put_what(p, row);
    put_number(p, s->tokens.input_tokens, false, style);
    put_number(p, s->tokens.output_tokens, s->open_calls > 0, style);
    put_number(p, s->tokens.cache_creation_tokens, false, style);
    put_number(p, s->tokens.cache_read_tokens, false, style);
    put_number(p, s->calls, false, style);
    put_cost(p, s, style);
    put_bar(p, row);
}

static void
put_rows(struct printing *p)
{
    for (size_t i = 0; i < cli_usage_count(p->u); i++)
        put_row(p, cli_usage_at(p->u, i));
    put_row(p, &p->u->total);
}

/* -- what there is room for -- */

/* The columns that all but the bar take, as it is; ret_over: what a long name has more
 * than is fair, which is not in it. */
static unsigned
measure(struct printing *p, unsigned *ret_over)
{
    unsigned sum = 0;
    put_rows(p);
    for (size_t i = 0; i < BAR; i++) {
        unsigned title = (unsigned)strlen(p->columns[i].title);
        sum += (p->table.width[i] > title ? p->table.width[i] : title) + GAP;
    }
    *ret_over = p->table.width[0] > FAIR ? p->table.width[0] - FAIR : 0;
    buf_clear(&p->table.text);
    buf_clear(&p->table.cells);
    memset(p->table.width, 0, sizeof(p->table.width));
    return sum - *ret_over;
}

/* Of what is left a long name and the bar have half each at least. */
static void
fit(struct printing *p)
{
    unsigned over, took = measure(p, &over);
    if (took + BAR_MIN > p->table.cols) {
        p->is_short = true;
        took = measure(p, &over);
    }
    unsigned left = took < p->table.cols ? p->table.cols - took : 0;
    unsigned bar = left - (over < left / 2 ? over : left / 2);
    bar = bar < BAR_MIN && left >= BAR_MIN ? BAR_MIN : bar;
    p->bar = bar < BAR_MIN ? 0 : bar > BAR_MAX ? BAR_MAX : bar;
}

/* Bars are of the costs where all are known. */
static void
scale(struct printing *p)
{
    p->is_by_cost = !p->u->total.sum.is_unpriced && p->u->total.sum.cost_pd;
    for (size_t i = 0; i < cli_usage_count(p->u); i++) {
        uint64_t n = weight(p, cli_usage_at(p->u, i));
        p->most = n > p->most ? n : p->most;
    }
    p->columns[BAR].title = p->is_by_cost ? "BY COST" : "BY TOKENS";
}

int
cli_usage_table(const struct cli_usage *u, enum store_usage_by by, struct err *err)
{
    static const struct {
        const char *title;
        unsigned least; /* columns; what is narrower says nothing */
    } first[] = { { "DAY", 10 },
                  { "MODEL", 17 },
                  { "SESSION", CLI_SHORT_ID },
                  { "AGENT", 8 },
                  { "PROJECT", 17 } };
    struct printing p = {
        .u = u,
        .by = by,
        .columns = { { first[by].title, false, first[by].least, 0 },
                     { "INPUT", true, 0, 4 },
                     { "OUTPUT", true, 0, 0 },
                     { "CACHE WRITE", true, 0, 2 },
                     { "CACHE READ", true, 0, 3 },
                     { "CALLS", true, 0, 1 },
                     { "COST", true, 0, 0 },
                     { "", false, 0, 0 } },
    };
    scale(&p);
    p.table.columns = p.columns;
    p.table.count = COLUMNS;
    p.table.spare = 1U << BAR;
    cli_table_look(&p.table, STDOUT_FILENO);
    if (p.table.cols)
        fit(&p);
    put_rows(&p);
    int r = p.cell.failed ? err_code(err, p.cell.failed, "cannot print what was used")
                          : cli_table_flush(&p.table, true, err);
    cli_table_release(&p.table);
    buf_release(&p.cell);
    return r;
}
