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

/* -- rows as text: "model/day in,out,made,read calls(open) trust", `*` for a message, `+`
 * for what a DONE has told beyond its messages -- */

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
    (void)snprintf(to + at, size - at, "%.*s/%u%s%s ", (int)row->model.n,
                   (const char *)row->model.p, row->day, row->message ? "*" : "",
                   row->is_extra ? "+" : "");
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
a_message_that_comes_again_much_later_counts_once(void **state)
{
    (void)state;
    struct turn_ledger l = { 0 };
    char id[64];
    message(&l, (struct given){ ONE, "big", 1, { 10, 1, 0, 0 }, .is_final = false });
    for (int i = 0; i < 200; i++) {
        (void)snprintf(id, sizeof(id), "msg_%024d", i % 100);
        message(&l, (struct given){ id, "big", 1, { 0, 0, 0, 0 }, .is_final = true });
    }
    done(&l, 1, (struct turn_usage){ 10, 30, 0, 0 });
    message(&l, (struct given){ ONE, "big", 1, { 10, 9, 0, 0 }, .is_final = true });
    assert_int_equal(l.totals.calls, 101);
    assert_false(turn_totals_is_least(&l.totals));
    struct turn_usage sum = { 0 };
    assert_int_equal(turn_ledger_each(&l, add_row, &sum), 0);
    assert_int_equal(sum.input_tokens, 10);
    assert_int_equal(sum.output_tokens, 38);
    turn_ledger_release(&l);
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

static int
put_hash(void *ctx, const struct turn_ledger_row *row)
{
    *(uint64_t *)ctx = row->is_extra ? row->message : *(uint64_t *)ctx;
    return 0;
}

/* What a DONE adds to these messages, in this order. */
static uint64_t
hash_of_extra(const char *first, const char *second)
{
    struct turn_ledger l = { 0 };
    uint64_t hash = 0;
    message(&l, (struct given){ first, NULL, 1, { 10, 1, 0, 0 }, .is_final = false });
    message(&l, (struct given){ second, NULL, 1, { 10, 1, 0, 0 }, .is_final = false });
    done(&l, 1, (struct turn_usage){ 20, 50, 0, 0 });
    assert_int_equal(turn_ledger_each(&l, put_hash, &hash), 0);
    turn_ledger_release(&l);
    return hash;
}

static void
what_is_told_of_the_same_messages_is_known_by_them(void **state)
{
    (void)state;
    static const char three[] = "msg_0000000000000003";
    assert_true(hash_of_extra(ONE, TWO) == hash_of_extra(TWO, ONE));
    assert_true(hash_of_extra(ONE, TWO) != hash_of_extra(ONE, three));
    assert_true(hash_of_extra("m1", "m2") == 0);
}

static void
done_by_model(struct turn_ledger *l, struct turn_usage usage, const char *models)
{
    struct turn_event e = turn_event(TURN_DONE);
    e.usage = usage;
    e.json = view_of(models);
    assert_int_equal(turn_ledger_add(l, &e, DAY), 0);
}

static void
what_done_tells_by_model_is_that_models(void **state)
{
    (void)state;
    struct turn_ledger l = { 0 };
    message(&l, (struct given){ ONE, "big", 1, { 10, 1, 0, 0 }, .is_final = false });
    done_by_model(&l, (struct turn_usage){ 1010, 30, 0, 0 },
                  "{\"big\":{\"input_tokens\":10,\"output_tokens\":9},"
                  "\"small\":{\"input_tokens\":1000,\"output_tokens\":21}}");
    assert_rows(&l, "big/1* 10,1,0,0 1(0) 1\nbig/1*+ 0,8,0,0 0(0) 1\n"
                    "small/1*+ 1000,21,0,0 0(0) 1\n");
    /* It does not come out even: all of that is of the one that spoke. */
    message(&l, (struct given){ ONE, "big", 1, { 10, 1, 0, 0 }, .is_final = false });
    done_by_model(&l, (struct turn_usage){ 1010, 30, 0, 0 },
                  "{\"big\":{\"input_tokens\":3,\"output_tokens\":1},\"small\":{\"input_"
                  "tokens\":1000,"
                  "\"output_tokens\":29}}");
    assert_rows(&l, "big/1* 10,1,0,0 1(0) 1\nsmall/1*+ 0,29,0,0 0(0) 1\n"
                    "big/1*+ 1000,0,0,0 0(0) 1\n");
    message(&l, (struct given){ ONE, "big", 1, { 10, 1, 0, 0 }, .is_final = false });
    done_by_model(&l, (struct turn_usage){ 11, 1, 0, 0 }, "[{\"a\":{}}, nothing");
    assert_rows(&l, "big/1* 10,1,0,0 1(0) 1\nbig/1*+ 1,0,0,0 0(0) 1\n");
}

/* -- totals as text: "all-in,out used-in,out calls history;" -- */

static int
put_total(void *ctx, const struct turn_ledger_total *t)
{
    char *to = ctx;
    size_t at = strlen(to);
    (void)snprintf(to + at, 4096 - at, "%llu,%llu %llu,%llu %llu%s;",
                   (unsigned long long)t->all.input_tokens,
                   (unsigned long long)t->all.output_tokens,
                   (unsigned long long)t->used.input_tokens,
                   (unsigned long long)t->used.output_tokens,
                   (unsigned long long)t->calls, t->is_history ? " history" : "");
    assert_true(t->thread != 0);
    return 0;
}

static void
done_in_all(struct turn_ledger *l, const char *thread, struct turn_usage usage,
            struct turn_usage all)
{
    struct turn_event e = turn_event(TURN_DONE);
    e.id = view_of(thread);
    e.usage = usage;
    e.total = all;
    assert_int_equal(turn_ledger_add(l, &e, DAY), 0);
}

static void
assert_totals(struct turn_ledger *l, const char *want_totals, const char *want_rows)
{
    char totals[4096] = "", rows[4096] = "";
    assert_int_equal(turn_ledger_each_total(l, put_total, totals), 0);
    assert_int_equal(turn_ledger_each(l, put_row, rows), 0);
    assert_string_equal(totals, want_totals);
    assert_string_equal(rows, want_rows);
    turn_ledger_release(l);
}

#define THREAD "01a1de26-2285-74e1-833b-68633f363660"

static void
what_a_thread_has_used_in_all_is_told_apart(void **state)
{
    (void)state;
    struct turn_ledger l = { 0 };
    const struct turn_usage first = { 10, 1, 0, 0 }, all = { 30, 3, 0, 0 },
                            more = { 20, 2, 0, 0 };
    message(&l, (struct given){ "", NULL, 1, first, .is_final = true });
    done_in_all(&l, THREAD, first, first);
    message(&l, (struct given){ "", NULL, 1, more, .is_final = true });
    done_in_all(&l, THREAD, more, all);
    assert_totals(&l, "10,1 10,1 1;30,3 20,2 1;", "");
    /* Messages that have names need none; a name that is short is none. */
    message(&l, (struct given){ ONE, NULL, 1, first, .is_final = true });
    done_in_all(&l, THREAD, first, first);
    message(&l, (struct given){ "", NULL, 1, first, .is_final = true });
    done_in_all(&l, "short", first, first);
    assert_totals(&l, "", "/1* 10,1,0,0 1(0) 2\n/1 10,1,0,0 1(0) 2\n");
    /* A history tells how far it goes. */
    message(&l, (struct given){ ONE, NULL, 1, first, .is_final = true });
    done_in_all(&l, THREAD, TURN_NO_USAGE, all);
    assert_totals(&l, "30,3 0,0 0 history;", "/1* 10,1,0,0 1(0) 2\n");
}

/* As Claude Code's stream has it: counts of messages are placeholders. */
static void
what_done_adds_is_of_its_span(void **state)
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
                    "small/1* 5,1,0,0 1(0) 1\nbig/2*+ 5,97,0,3 0(0) 1\n");
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
a_stream_that_comes_again_changes_no_row(void **state)
{
    (void)state;
    struct turn_ledger l = { 0 };
    for (int again = 0; again < 3; again++) {
        message(&l, (struct given){ ONE, "big", 3, { 10, 1, 0, 0 }, .is_final = true });
        message(&l, (struct given){ TWO, "small", 3, { 10, 1, 0, 0 }, .is_final = true });
        done(&l, 3, (struct turn_usage){ 25, 90, 0, 0 });
    }
    assert_rows(&l, "big/3* 10,1,0,0 1(0) 2\nsmall/3* 10,1,0,0 1(0) 2\n"
                    "small/3*+ 5,88,0,0 0(0) 1\n");
}

static void
a_done_without_messages_is_its_sessions(void **state)
{
    (void)state;
    struct turn_ledger l = { 0 };
    begin(&l, "big");
    done(&l, 3, (struct turn_usage){ 7, 8, NONE, 9 });
    assert_rows(&l, "big/3+ 7,8,-,9 0(0) 1\n");
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
    assert_rows(&l, "/1* 10,1,0,0 1(1) 0\n/1* 10,1,0,0 1(0) 1\n/1 10,1,0,0 1(0) 1\n"
                    "/1*+ 0,28,0,0 0(0) 1\n");
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

/* All of them want the same slot: those that find none are counted together. */
static void
ids_that_were_made_to_collide_take_no_square_of_their_number(void **state)
{
    (void)state;
    struct turn_ledger l = { 0 };
    struct turn_usage sum = { 0 };
    size_t count = 0, made = 0;
    for (uint64_t i = 0; made < 1500; i++) {
        char id[40];
        (void)snprintf(id, sizeof(id), "msg_01Unique%016llx", (unsigned long long)i);
        uint64_t h = turn_id_hash(view_of(id)) ^ UINT64_C(3) << 32;
        h = (h ^ h >> 33) * UINT64_C(0xff51afd7ed558ccd); /* as the ledger mixes it */
        h = (h ^ h >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
        if ((h ^ h >> 33) & 4095)
            continue;
        message(&l, (struct given){ id, NULL, 3, { 1, 1, 0, 0 }, .is_final = true });
        message(&l, (struct given){ id, NULL, 3, { 1, 2, 0, 0 }, .is_final = true });
        made++;
    }
    assert_int_equal(turn_ledger_each(&l, count_row, &count), 0);
    assert_in_range(count, 256, 1024);
    assert_int_equal(turn_ledger_each(&l, add_row, &sum), 0);
    assert_int_equal(sum.output_tokens, 2 * made);
    turn_ledger_release(&l);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_message_counts_once_with_its_model),
        cmocka_unit_test(a_message_that_comes_again_much_later_counts_once),
        cmocka_unit_test(what_was_never_told_is_not_zero),
        cmocka_unit_test(ids_that_are_not_unique_are_counted_together),
        cmocka_unit_test(what_done_adds_is_of_its_span),
        cmocka_unit_test(what_is_told_of_the_same_messages_is_known_by_them),
        cmocka_unit_test(what_done_tells_by_model_is_that_models),
        cmocka_unit_test(what_a_thread_has_used_in_all_is_told_apart),
        cmocka_unit_test(what_done_takes_away_comes_from_its_span),
        cmocka_unit_test(a_stream_that_comes_again_changes_no_row),
        cmocka_unit_test(a_done_without_messages_is_its_sessions),
        cmocka_unit_test(a_message_that_breaks_off_is_a_lower_bound),
        cmocka_unit_test(a_message_over_midnight_is_on_both_days),
        cmocka_unit_test(rows_and_models_have_a_ceiling),
        cmocka_unit_test(ids_that_were_made_to_collide_take_no_square_of_their_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
