/* SPDX-License-Identifier: MIT */
/* wire_table.c -- the calls of a session as a table. */
#include <inttypes.h>
#include <time.h>
#include <unistd.h>

#include "cli/report.h"
#include "cli/table.h"
#include "cli/wire_print.h"

enum { RED = 31, COLUMNS = 9 };

static const struct cli_column columns[COLUMNS] = {
    { "CALL", true, 0, 0 },  { "TIME", false, 0, 5 }, { "MODEL", false, 12, 0 },
    { "IN", true, 0, 3 },    { "OUT", true, 0, 4 },   { "CACHED", true, 0, 2 },
    { "FIRST", true, 0, 6 }, { "TOK/S", true, 0, 1 }, { "STATUS", false, 6, 0 },
};

/* -- numbers -- */

uint64_t
cli_wire_cache_share(const struct turn_usage *u)
{
    uint64_t in = u->input_tokens, made = u->cache_creation_tokens,
             read = u->cache_read_tokens;
    if (in == TURN_UNKNOWN || read == TURN_UNKNOWN)
        return UINT64_MAX;
    uint64_t all = in + read + (made == TURN_UNKNOWN ? 0 : made);
    return all ? read * 1000 / all : UINT64_MAX;
}

uint64_t
cli_wire_speed(const struct calls_facts *f)
{
    uint64_t out = f->usage.output_tokens;
    if (!f->is_stream) /* when its tokens were made nobody knows */
        return UINT64_MAX;
    if (out == TURN_UNKNOWN || !out || f->first_token_ns == CALLS_NONE ||
        f->duration_ns == CALLS_NONE || f->duration_ns <= f->first_token_ns ||
        out > UINT64_MAX / 10000000000)
        return UINT64_MAX;
    return out * 10000000000 / (f->duration_ns - f->first_token_ns);
}

/* -- cells -- */

struct printing {
    struct cli_table table;
    struct buf cell;
};

static void
put_cell(struct printing *p, unsigned style)
{
    cli_table_put(&p->table, p->cell.n ? buf_str(&p->cell) : NULL, style);
    buf_clear(&p->cell);
}

static void
put_number(struct printing *p, uint64_t n)
{
    if (n != UINT64_MAX)
        buf_put_grouped(&p->cell, n);
    put_cell(p, 0);
}

static void
put_time(struct printing *p, uint64_t ns)
{
    char text[16] = "";
    struct tm tm;
    time_t seconds = (time_t)(ns / 1000000000);
    if (localtime_r(&seconds, &tm))
        strftime(text, sizeof(text), "%H:%M:%S", &tm);
    buf_puts(&p->cell, text);
    put_cell(p, 0);
}

/* What has no model is known by what was asked. */
static void
put_model(struct printing *p, const struct calls_facts *f)
{
    if (f->model.n)
        buf_append(&p->cell, f->model.p, f->model.n);
    else
        buf_printf(&p->cell, "%.*s %.*s", (int)f->method.n, (const char *)f->method.p,
                   (int)(f->url.n < 200 ? f->url.n : 200), (const char *)f->url.p);
    put_cell(p, 0);
}

/* "200", "429, retry of 3", "aborted", "200, cut". */
static void
put_status(struct printing *p, const struct calls_facts *f)
{
    bool is_ok = f->has_end && f->end == CALLS_OK;
    if (f->status)
        buf_printf(&p->cell, "%u", f->status);
    if (!is_ok)
        buf_printf(&p->cell, "%s%s", p->cell.n ? ", " : "",
                   f->has_end ? calls_status_name(f->end) : "going on");
    if (f->retry_of)
        buf_printf(&p->cell, ", retry of %" PRIu64, f->retry_of);
    if (f->error.n)
        buf_printf(&p->cell, ": %.*s", (int)(f->error.n < 200 ? f->error.n : 200),
                   (const char *)f->error.p);
    bool is_bad = f->status >= 400 || (f->has_end && f->end == CALLS_ERROR);
    put_cell(p, is_bad ? RED : 0);
}

static void
put_row(struct printing *p, const struct calls_facts *f)
{
    uint64_t share = cli_wire_cache_share(&f->usage), speed = cli_wire_speed(f);
    put_number(p, f->number);
    put_time(p, f->ts_ns);
    put_model(p, f);
    put_number(p, f->usage.input_tokens == TURN_UNKNOWN ? UINT64_MAX
                                                        : f->usage.input_tokens);
    put_number(p, f->usage.output_tokens);
    if (share != UINT64_MAX)
        buf_printf(&p->cell, "%" PRIu64 "%%", (share + 5) / 10);
    put_cell(p, 0);
    uint64_t first = f->first_token_ns != CALLS_NONE ? f->first_token_ns
                                                     : f->first_byte_ns;
    if (first != CALLS_NONE)
        cli_duration(&p->cell, first);
    put_cell(p, 0);
    if (speed != UINT64_MAX)
        buf_printf(&p->cell, "%" PRIu64 ".%" PRIu64, speed / 10, speed % 10);
    put_cell(p, 0);
    put_status(p, f);
}

int
cli_wire_table(const struct calls *c, struct err *err)
{
    struct printing p = { .table = { .columns = columns, .count = COLUMNS } };
    int r = 0;
    cli_table_look(&p.table, STDOUT_FILENO);
    for (size_t i = 0; i < calls_count(c) && !r; i++) {
        put_row(&p, calls_facts(c, i));
        r = cli_table_flush(&p.table, false, err);
    }
    if (!r)
        r = cli_table_flush(&p.table, true, err);
    cli_table_release(&p.table);
    buf_release(&p.cell);
    return r;
}
