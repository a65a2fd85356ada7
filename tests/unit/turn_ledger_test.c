/* SPDX-License-Identifier: MIT */
/* turn_ledger_test.c -- what a session has used, by message, model and day. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "turn/ledger.h"

#define DAY  UINT64_C(86400000000000)
#define ONE  "msg_01AAAAAAAAAAAAAAAAAAAAAA"
#define TWO  "msg_01BBBBBBBBBBBBBBBBBBBBBB"
#define NONE TURN_UNKNOWN

static struct view
view_of(const char *text)
{
    return (struct view){ (const uint8_t *)text, strlen(text) };
}

struct given {
    const char *id, *model;
    uint64_t day;
    struct turn_usage usage;
    bool is_final, is_inside;
};

static void
message(struct turn_ledger *l, struct given g)
{
    struct turn_event e = turn_event(TURN_USAGE);
    e.id = view_of(g.id);
    e.model = view_of(g.model ? g.model : "");
    e.usage = g.usage;
    e.is_final = g.is_final;
    e.parent = view_of(g.is_inside ? "toolu_1" : "");
    assert_int_equal(turn_ledger_add(l, &e, g.day * DAY + 5), 0);
}

static void
done(struct turn_ledger *l, uint64_t day, struct turn_usage usage)
{
    struct turn_event e = turn_event(TURN_DONE);
    e.usage = usage;
    assert_int_equal(turn_ledger_add(l, &e, day * DAY), 0);
}

static void
begin(struct turn_ledger *l, const char *model)
{
    struct turn_event e = turn_event(TURN_SESSION);
    e.model = view_of(model);
    assert_int_equal(turn_ledger_add(l, &e, 0), 0);
}

/* -- rows as text: "model/day in,out,made,read calls(open) trust", `*` for a message --
 */

static void
put_number(char *to, size_t size, uint64_t n, char end)
{
    size_t at = strlen(to);
    if (n == NONE)
        (void)snprintf(to + at, size - at, "-%c", end);
    else
        (void)snprintf(to + at, size - at, "%llu%c", (unsigned long long)n, end);
}

static int
put_row(void *ctx, const struct turn_ledger_row *row)
{
    char *to = ctx;
    size_t size = 4096, at = strlen(to);
    (void)snprintf(to + at, size - at, "%.*s/%u%s ", (int)row->model.n,
                   (const char *)row->model.p, row->day, row->message ? "*" : "");
    put_number(to, size, row->usage.input_tokens, ',');
    put_number(to, size, row->usage.output_tokens, ',');
    put_number(to, size, row->usage.cache_creation_tokens, ',');
    put_number(to, size, row->usage.cache_read_tokens, ' ');
    put_number(to, size, row->calls, '(');
    put_number(to, size, row->open, ')');
    at = strlen(to);
    (void)snprintf(to + at, size - at, " %d\n", (int)row->trust);
    return 0;
}

static int
add_row(void *ctx, const struct turn_ledger_row *row)
{
    struct turn_usage *sum = ctx, usage = row->usage;
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++)
        if (*turn_usage_field(&usage, i) != NONE)
            *turn_usage_field(sum, i) += *turn_usage_field(&usage, i);
    return 0;
}

/* The sum of all rows is always the total. */
static void
assert_rows(struct turn_ledger *l, const char *want)
{
    char text[4096] = "";
    struct turn_usage sum = { 0 }, total = turn_totals_usage(&l->totals);
    assert_int_equal(turn_ledger_each(l, put_row, text), 0);
    assert_string_equal(text, want);
    assert_int_equal(turn_ledger_each(l, add_row, &sum), 0);
    if (l->totals.is_known)
        assert_memory_equal(&sum, &total, sizeof(sum));
    turn_ledger_release(l);
}

static void
each_message_counts_once_with_its_model(void **state)
{
    (void)state;
    struct turn_ledger l = { 0 };
    begin(&l, "big");
    message(&l, (struct given){ ONE, NULL, 1, { 10, 1, 0, 5 }, .is_final = false });
    message(&l, (struct given){ ONE, NULL, 1, { 10, 7, 0, 5 }, .is_final = true });
    message(&l, (struct given){ TWO, "small", 1, { 3, 2, 0, 0 }, .is_final = true });
    message(&l, (struct given){ ONE, NULL, 1, { 10, 7, 0, 5 }, .is_final = true });
    assert_rows(&l, "big/1* 10,7,0,5 1(0) 2\nsmall/1* 3,2,0,0 1(0) 2\n");
}

static void
what_was_never_told_is_not_zero(void **state)
{
    (void)state;
    struct turn_ledger l = { 0 };
    message(&l, (struct given){ "m", NULL, 1, TURN_NO_USAGE, .is_final = true });
    done(&l, 1, TURN_NO_USAGE);
    assert_rows(&l, "");
    message(&l, (struct given){ "m", NULL, 1, { 0, 4, NONE, NONE }, .is_final = true });
    assert_rows(&l, "/1 0,4,-,- 1(0) 2\n");
}

static void
ids_that_are_not_unique_are_counted_together(void **state)
{
    (void)state;
    struct turn_ledger l = { 0 };
    message(&l, (struct given){ "msg_0001", NULL, 1, { 1, 1, 1, 1 }, .is_final = true });
    message(&l, (struct given){ "", NULL, 1, { 2, 2, 2, 2 }, .is_final = true });
    message(&l, (struct given){ "", NULL, 2, { 4, 4, 4, 4 }, .is_final = true });
    assert_rows(&l, "/1 3,3,3,3 2(0) 2\n/2 4,4,4,4 1(0) 2\n");
}

/* As Claude Code's stream has it: counts of messages are placeholders. */
static void
what_done_adds_goes_with_the_last_message(void **state)
{
    (void)state;
    struct turn_ledger l = { 0 };
    begin(&l, "alias");
    message(&l, (struct given){ ONE, "big", 1, { 10, 1, 0, 0 }, .is_final = false });
    message(&l, (struct given){ TWO, "big", 1, { 20, 1, 0, 0 }, .is_final = false });
    message(&l,
            (struct given){
                "msg_0000000000000003", "small", 1, { 5, 1, 0, 0 }, .is_inside = true });
    done(&l, 2, (struct turn_usage){ 40, 100, 0, 3 });
    assert_rows(&l, "big/1* 10,1,0,0 1(0) 1\nbig/1* 20,1,0,0 1(0) 1\n"
                    "small/1* 5,1,0,0 1(0) 1\nbig/2* 5,97,0,3 0(0) 1\n");
}

static void
what_done_takes_away_comes_from_its_span(void **state)
{
    (void)state;
    struct turn_ledger l = { 0 };
    message(&l, (struct given){ ONE, NULL, 1, { 50, 9, 0, 0 }, .is_final = true });
    done(&l, 1, (struct turn_usage){ 50, 9, 0, 0 });
    message(&l, (struct given){ TWO, NULL, 1, { 10, 5, 2, 0 }, .is_final = true });
    message(&l, (struct given){ "", NULL, 1, { 10, 5, 0, 0 }, .is_final = true });
    done(&l, 1, (struct turn_usage){ 3, 4, 0, 0 });
    assert_rows(&l, "/1* 50,9,0,0 1(0) 2\n/1* 3,4,0,0 1(0) 1\n/1 0,0,0,0 1(0) 1\n");
}

static void
a_done_without_messages_is_its_sessions(void **state)
{
    (void)state;
    struct turn_ledger l = { 0 };
    begin(&l, "big");
    done(&l, 3, (struct turn_usage){ 7, 8, NONE, 9 });
    assert_rows(&l, "big/3 7,8,-,9 0(0) 1\n");
}

static void
a_message_that_breaks_off_is_a_lower_bound(void **state)
{
    (void)state;
    struct turn_ledger l = { 0 };
    message(&l, (struct given){ ONE, NULL, 1, { 10, 1, 0, 0 }, .is_final = false });
    done(&l, 1, TURN_NO_USAGE);
    message(&l, (struct given){ TWO, NULL, 1, { 10, 1, 0, 0 }, .is_final = false });
    message(&l, (struct given){ "", NULL, 1, { 10, 1, 0, 0 }, .is_final = false });
    done(&l, 1, (struct turn_usage){ 20, 30, 0, 0 });
    assert_rows(&l, "/1* 10,1,0,0 1(1) 0\n/1* 10,1,0,0 1(0) 1\n/1 10,29,0,0 1(0) 1\n");
}

static void
a_message_over_midnight_is_on_both_days(void **state)
{
    (void)state;
    struct turn_ledger l = { 0 };
    message(&l, (struct given){ ONE, NULL, 1, { 10, 1, 0, 0 }, .is_final = false });
    message(&l, (struct given){ ONE, NULL, 2, { 10, 9, 0, 0 }, .is_final = true });
    assert_rows(&l, "/1* 10,1,0,0 1(0) 2\n/2* 0,8,0,0 0(0) 2\n");
}

static int
count_row(void *ctx, const struct turn_ledger_row *row)
{
    (void)row;
    ++*(size_t *)ctx;
    return 0;
}

static void
rows_and_models_have_a_ceiling(void **state)
{
    (void)state;
    struct turn_ledger l = { 0 };
    struct turn_usage sum = { 0 };
    char id[64], model[16];
    size_t count = 0;
    uint64_t n = TURN_LEDGER_ROWS_MAX + 1000;
    for (uint64_t i = 0; i < n; i++) {
        (void)snprintf(id, sizeof(id), "msg_%024llu", (unsigned long long)i);
        (void)snprintf(model, sizeof(model), "m%llu", (unsigned long long)i % 100);
        message(&l, (struct given){ id, model, i % 7, { 1, 2, 3, 4 }, .is_final = true });
    }
    assert_int_equal(turn_ledger_each(&l, count_row, &count), 0);
    assert_int_equal(count, TURN_LEDGER_ROWS_MAX);
    assert_int_equal(turn_ledger_each(&l, add_row, &sum), 0);
    assert_int_equal(sum.input_tokens, n);
    assert_int_equal(sum.cache_read_tokens, 4 * n);
    turn_ledger_release(&l);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_message_counts_once_with_its_model),
        cmocka_unit_test(what_was_never_told_is_not_zero),
        cmocka_unit_test(ids_that_are_not_unique_are_counted_together),
        cmocka_unit_test(what_done_adds_goes_with_the_last_message),
        cmocka_unit_test(what_done_takes_away_comes_from_its_span),
        cmocka_unit_test(a_done_without_messages_is_its_sessions),
        cmocka_unit_test(a_message_that_breaks_off_is_a_lower_bound),
        cmocka_unit_test(a_message_over_midnight_is_on_both_days),
        cmocka_unit_test(rows_and_models_have_a_ceiling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
