/* SPDX-License-Identifier: MIT */
/* A list of prices is taken, or refused with the line that is wrong; a model's name then
 * costs something or is not known. The first line of the input is that name, which fits
 * a line of itself. */
#include "fuzz/fuzz.h"
#include "turn/prices.h"

static void
check_message(const struct err *err, unsigned lines)
{
    char *end;
    CHECK(!strncmp(err->text, "list:", 5));
    unsigned long line = strtoul(err->text + 5, &end, 10);
    CHECK(line >= 1 && line <= lines && end[0] == ':' && end[1] == ' ');
}

/* A token more never costs less. */
static void
check_costs(const struct turn_prices *p, struct view model)
{
    struct turn_usage u = { 0 };
    uint64_t last = 0;
    CHECK(turn_prices_cost(p, model, u) == 0);
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++) {
        *turn_usage_field(&u, i) = UINT64_C(1) << (20 * i);
        uint64_t cost = turn_prices_cost(p, model, u);
        if (cost == TURN_UNKNOWN)
            return;
        CHECK(cost >= last);
        last = cost;
    }
}

/* A line that begins with a model's name is one of that model. */
static void
check_name(struct view model)
{
    struct turn_prices p = { 0 };
    AUTO(buf) text = { 0 };
    const struct turn_usage one = { 1, 0, 0, 0 };
    for (size_t i = 0; i < model.n; i++)
        if (model.p[i] <= ' ' || model.p[i] == '#' || model.p[i] == 0xef)
            return;
    buf_append(&text, model.p, model.n);
    buf_puts(&text, " 1 1 1 1");
    if (model.n &&
        turn_prices_add(&p, (struct view){ text.p, text.n }, "list", NULL) == 0)
        CHECK(turn_prices_cost(&p, model, one) == 1000000);
    turn_prices_release(&p);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct turn_prices p = { 0 };
    struct err err = { 0 };
    const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
    size_t n = end ? (size_t)(end - data) : size;
    struct view model = { data, n }, text = { data + n, size - n };
    unsigned lines = 1;
    for (size_t i = 0; i < text.n; i++)
        lines += text.p[i] == '\n';
    int r = turn_prices_add(&p, text, "list", &err);
    CHECK(r == 0 || r == ERR_USAGE);
    if (r < 0) {
        CHECK(!p.list.n);
        check_message(&err, lines);
    }
    check_costs(&p, model);
    check_name(model);
    turn_prices_release(&p);
    return 0;
}
