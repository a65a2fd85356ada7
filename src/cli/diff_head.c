/* SPDX-License-Identifier: MIT */
/* diff_head.c -- both sessions beside each other: names, totals, where they part. */
#include <inttypes.h>
#include <unistd.h>

#include "cli/diff.h"
#include "cli/report.h"
#include "cli/session.h"
#include "cli/table.h"

static const struct cli_column columns[] = {
    { "", false, 0, 0 },
    { "A", false, 8, 0 },
    { "B", false, 8, 0 },
};

/* Two cells that are being filled. */
struct row {
    struct cli_table *table;
    struct buf cell[2];
};

/* A row with nothing to say is none. */
static void
put_row(struct row *r, const char *label)
{
    if (r->cell[0].n || r->cell[1].n) {
        cli_table_put(r->table, label, 2);
        for (size_t i = 0; i < 2; i++)
            cli_table_put(r->table, r->cell[i].n ? buf_str(&r->cell[i]) : "-", 0);
    }
    buf_clear(&r->cell[0]);
    buf_clear(&r->cell[1]);
}

/* UINT64_MAX: not known. */
static void
put_counts(struct row *r, const char *label, uint64_t a, uint64_t b)
{
    if (a != UINT64_MAX)
        cli_count(&r->cell[0], a, NULL);
    if (b != UINT64_MAX)
        cli_count(&r->cell[1], b, NULL);
    put_row(r, label);
}

static void
put_cost(struct row *r, const struct cli_diff *d)
{
    for (size_t i = 0; i < 2; i++) {
        const struct play_side *s = &d->sides[i].turns;
        if (s->has_cost)
            buf_printf(&r->cell[i], "$%" PRIu64 ".%06" PRIu64, s->cost_microusd / 1000000,
                       s->cost_microusd % 1000000);
    }
    put_row(r, "cost");
}

static void
put_totals(struct row *r, const struct cli_diff *d)
{
    const struct play_side *a = &d->sides[0].turns, *b = &d->sides[1].turns;
    bool has_a = d->sides[0].has_turns, has_b = d->sides[1].has_turns;
    struct session_usage ua = cli_diff_usage(&d->sides[0]);
    struct session_usage ub = cli_diff_usage(&d->sides[1]);
    if (d->what == CLI_DIFF_TERMINAL)
        put_counts(r, "lines", play_side_count(&d->sides[0].lines),
                   play_side_count(&d->sides[1].lines));
    put_counts(r, "turns", has_a ? play_side_count(a) : UINT64_MAX,
               has_b ? play_side_count(b) : UINT64_MAX);
    put_counts(r, "tool calls", has_a ? a->tool_calls : UINT64_MAX,
               has_b ? b->tool_calls : UINT64_MAX);
    put_counts(r, "failed", has_a ? a->failed_calls : UINT64_MAX,
               has_b ? b->failed_calls : UINT64_MAX);
    put_counts(r, "input tokens", ua.input_tokens, ub.input_tokens);
    put_counts(r, "cache written", ua.cache_creation_tokens, ub.cache_creation_tokens);
    put_counts(r, "cache read", ua.cache_read_tokens, ub.cache_read_tokens);
    put_counts(r, "output tokens", ua.output_tokens, ub.output_tokens);
    put_counts(r, "model calls", ua.calls, ub.calls);
    put_cost(r, d);
    for (size_t i = 0; i < 2; i++) {
        uint64_t ns = cli_diff_duration_ns(&d->sides[i]);
        if (ns != UINT64_MAX)
            cli_duration(&r->cell[i], ns);
    }
    put_row(r, "duration");
}

/* How far both are the same, and what comes then. */
static void
put_parting(struct row *r, const struct cli_diff *d)
{
    const char *thing = cli_diff_thing(d);
    for (size_t i = 0; i < 2; i++)
        cli_count(&r->cell[i], d->edits.same, thing);
    put_row(r, "same at first");
    if (play_edits_are_none(&d->edits))
        return;
    for (size_t i = 0; i < 2; i++)
        if (d->edits.same < play_side_count(cli_diff_compared(d, i)))
            buf_printf(&r->cell[i], "%s %zu", thing, d->edits.same + 1);
        else
            buf_puts(&r->cell[i], "the end");
    put_row(r, "part at");
}

static int
put_table(struct cli_diff *d, struct err *err)
{
    struct cli_table table = { .columns = columns, .count = 3 };
    struct row row = { .table = &table };
    cli_table_look(&table, STDOUT_FILENO);
    for (size_t i = 0; i < 2; i++) {
        struct cli_diff_side *s = &d->sides[i];
        if (s->id.n)
            buf_printf(&row.cell[i], "%.*s", d->cols ? CLI_SHORT_ID : SESSION_ID_LEN,
                       buf_str(&s->id));
        else
            buf_append(&row.cell[i], s->label.p, s->label.n);
    }
    put_row(&row, "session");
    for (size_t i = 0; i < 2; i++)
        buf_append(&row.cell[i], d->sides[i].name.p, d->sides[i].name.n);
    put_row(&row, "name");
    put_totals(&row, d);
    put_parting(&row, d);
    int r = cli_table_flush(&table, true, err);
    cli_table_release(&table);
    buf_release(&row.cell[0]);
    buf_release(&row.cell[1]);
    return r;
}

static void
put_counts_of_edits(struct cli_diff *d)
{
    static const struct {
        enum play_edit_kind kind;
        const char *word;
    } all[] = {
        { PLAY_INSERTED, "inserted" },
        { PLAY_DELETED, "deleted" },
        { PLAY_CHANGED, "changed" },
        { PLAY_MOVED_HERE, "moved" },
    };
    unsigned used = 0;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (d->edits.counts[all[i].kind])
            cli_diff_listed(d, d->edits.counts[all[i].kind], all[i].word, &used);
    if (!used)
        buf_printf(&d->text, "the %ss are the same", cli_diff_thing(d));
}

int
cli_diff_head(struct cli_diff *d, struct err *err)
{
    int r = put_table(d, err);
    if (r < 0)
        return r;
    buf_puts(&d->text, "\n");
    if (d->what == CLI_DIFF_TURNS || d->what == CLI_DIFF_TERMINAL) {
        put_counts_of_edits(d);
        buf_puts(&d->text, "\n");
    }
    return cli_diff_flush(d, false);
}
