/* SPDX-License-Identifier: MIT */
/* usage_json.c -- what was used, as JSON. */
#include <inttypes.h>

#include "cli/usage_print.h"
#include "cli/when.h"
#include "turn/vendor.h"

const char *
cli_usage_word(enum store_usage_by by)
{
    static const char *const words[] = { "day", "model", "session", "agent", "project" };
    return words[by];
}

static void
put_number(struct json *j, const char *key, uint64_t n)
{
    json_key(j, key);
    if (n != TURN_UNKNOWN)
        json_u64(j, n);
    else
        json_none(j);
}

/* To the last picodollar, as a number. */
static void
put_dollars(struct json *j, const char *key, uint64_t pd)
{
    char text[40];
    int n = snprintf(text, sizeof(text), "%" PRIu64 ".%012" PRIu64, pd / TURN_DOLLAR,
                     pd % TURN_DOLLAR);
    while (text[n - 1] == '0')
        n--;
    n -= text[n - 1] == '.';
    json_key(j, key);
    json_raw(j, (struct view){ (const uint8_t *)text, (size_t)n });
}

static void
put_cost(struct json *j, const struct cli_usage_sum *s)
{
    if (!s->is_unpriced) {
        put_dollars(j, "cost_usd", s->cost_pd);
        return;
    }
    json_key(j, "cost_usd"), json_none(j);
    put_dollars(j, "known_cost_usd", s->cost_pd);
}

/* By agent, each as its vendor counts. */
static void
put_vendors(struct json *j, const struct cli_usage *u, const struct cli_usage_row *row)
{
    const struct cli_usage_part *parts = cli_usage_parts(u, row);
    json_key(j, "vendor");
    json_open(j, '{');
    for (size_t i = 0; i < row->parts; i++) {
        const char *agent = cli_usage_text(u, parts[i].agent);
        struct turn_vendor_number numbers[TURN_VENDOR_NUMBERS];
        size_t count = turn_vendor_usage(agent, parts[i].tokens, numbers);
        json_key(j, agent ? agent : "");
        json_open(j, '{');
        for (size_t n = 0; n < count; n++)
            put_number(j, numbers[n].name, numbers[n].n);
        json_close(j, '}');
    }
    json_close(j, '}');
}

static void
put_what(struct json *j, const struct cli_usage *u, enum store_usage_by by,
         const struct cli_usage_row *row)
{
    char text[CLI_WHEN_ISO_SIZE];
    json_key(j, cli_usage_word(by));
    if (by != STORE_BY_DAY) {
        json_str_or_none(j, cli_usage_text(u, row->what));
    } else if (!row->day) {
        json_none(j);
    } else {
        json_str(j, cli_when_day(row->day, text));
    }
    if (by != STORE_BY_SESSION)
        return;
    json_key(j, "name"), json_str_or_none(j, cli_usage_text(u, row->name));
    json_key(j, "started_at");
    json_str_or_none(j,
                     row->started_at_ns ? cli_when_iso(row->started_at_ns, text) : NULL);
}

static void
put_sum(struct json *j, const struct cli_usage *u, const struct cli_usage_row *row)
{
    const struct cli_usage_sum *s = &row->sum;
    put_number(j, "input_tokens", s->tokens.input_tokens);
    put_number(j, "output_tokens", s->tokens.output_tokens);
    put_number(j, "cache_creation_input_tokens", s->tokens.cache_creation_tokens);
    put_number(j, "cache_read_input_tokens", s->tokens.cache_read_tokens);
    put_number(j, "calls", s->calls);
    put_cost(j, s);
    json_key(j, "is_lower_bound"), json_bool(j, s->open_calls > 0);
    put_vendors(j, u, row);
}

void
cli_usage_rows_json(const struct cli_usage *u, enum store_usage_by by, uint64_t left_out,
                    struct json *j)
{
    json_open(j, '{');
    json_key(j, "by"), json_str(j, cli_usage_word(by));
    json_key(j, "rows"), json_open(j, '[');
    for (size_t i = 0; i < cli_usage_count(u); i++) {
        json_open(j, '{');
        put_what(j, u, by, cli_usage_at(u, i));
        put_sum(j, u, cli_usage_at(u, i));
        json_close(j, '}');
    }
    json_close(j, ']');
    json_key(j, "total"), json_open(j, '{');
    put_sum(j, u, &u->total);
    json_close(j, '}');
    json_key(j, "not_counted"), json_u64(j, left_out);
    json_close(j, '}');
}
