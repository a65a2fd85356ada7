/* SPDX-License-Identifier: MIT */
/* turn_totals_test.c -- what a session has used, of its events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/num.h"
#include "turn/totals.h"

static void
add(struct turn_totals *t, enum turn_type type, const char *id, struct turn_usage usage)
{
    struct turn_event e = turn_event(type);
    e.id = (struct view){ (const uint8_t *)id, strlen(id) };
    e.usage = usage;
    assert_int_equal(turn_totals_add(t, &e), 0);
}

static void
assert_usage(const struct turn_totals *t, struct turn_usage want)
{
    struct turn_usage got = turn_totals_usage(t);
    assert_int_equal(got.input_tokens, want.input_tokens);
    assert_int_equal(got.output_tokens, want.output_tokens);
    assert_int_equal(got.cache_creation_tokens, want.cache_creation_tokens);
    assert_int_equal(got.cache_read_tokens, want.cache_read_tokens);
}

static void
nothing_told_is_not_zero(void **state)
{
    (void)state;
    struct turn_totals t = { 0 };
    assert_usage(&t, TURN_NO_USAGE);
    add(&t, TURN_USAGE, "a", TURN_NO_USAGE);
    add(&t, TURN_DONE, "", TURN_NO_USAGE);
    assert_usage(&t, TURN_NO_USAGE);
    assert_int_equal(t.calls, 0);
    turn_totals_release(&t);
}

static void
lines_of_one_message_count_once_with_their_largest_values(void **state)
{
    (void)state;
    struct turn_totals t = { 0 };
    add(&t, TURN_USAGE, "a", (struct turn_usage){ 1200, 1, 300, 0 });
    add(&t, TURN_USAGE, "a", (struct turn_usage){ 1200, 57, 300, 0 });
    add(&t, TURN_USAGE, "a", (struct turn_usage){ 1200, 1, 300, 0 });
    add(&t, TURN_USAGE, "b", (struct turn_usage){ 10, 2, TURN_UNKNOWN, 4 });
    assert_usage(&t, (struct turn_usage){ 1210, 59, 300, 4 });
    assert_int_equal(t.calls, 2);
    turn_totals_release(&t);
}

static void
messages_of_agents_within_agents_may_take_turns(void **state)
{
    (void)state;
    struct turn_totals t = { 0 };
    for (int i = 0; i < 3; i++) {
        add(&t, TURN_USAGE, "a", (struct turn_usage){ 10, 1, 0, 0 });
        add(&t, TURN_USAGE, "b", (struct turn_usage){ 20, 2, 0, 0 });
    }
    assert_usage(&t, (struct turn_usage){ 30, 3, 0, 0 });
    assert_int_equal(t.calls, 2);
    turn_totals_release(&t);
}

static void
messages_without_an_id_are_each_their_own(void **state)
{
    (void)state;
    struct turn_totals t = { 0 };
    add(&t, TURN_USAGE, "", (struct turn_usage){ 10, 1, 0, 0 });
    add(&t, TURN_USAGE, "", (struct turn_usage){ 10, 1, 0, 0 });
    assert_usage(&t, (struct turn_usage){ 20, 2, 0, 0 });
    assert_int_equal(t.calls, 2);
    turn_totals_release(&t);
}

static void
the_end_of_an_answer_is_the_truth_of_it(void **state)
{
    (void)state;
    struct turn_totals t = { 0 };
    add(&t, TURN_USAGE, "a", (struct turn_usage){ 10, 1, 0, 0 });
    add(&t, TURN_DONE, "", (struct turn_usage){ 15, 9, 3, TURN_UNKNOWN });
    assert_usage(&t, (struct turn_usage){ 15, 9, 3, 0 });
    add(&t, TURN_USAGE, "a", (struct turn_usage){ 100, 10, 0, 7 });
    assert_usage(&t, (struct turn_usage){ 115, 19, 3, 7 });
    add(&t, TURN_DONE, "", TURN_NO_USAGE);
    assert_usage(&t, (struct turn_usage){ 115, 19, 3, 7 });
    assert_int_equal(t.calls, 2);
    turn_totals_release(&t);
}

static void
many_messages_are_summed_in_little_memory(void **state)
{
    (void)state;
    struct turn_totals t = { 0 };
    char id[200];
    for (int i = 0; i < 10000; i++) {
        (void)snprintf(id, sizeof(id), "msg_%d", i);
        add(&t, TURN_USAGE, id, (struct turn_usage){ 1, 2, 3, 4 });
    }
    assert_usage(&t, (struct turn_usage){ 10000, 20000, 30000, 40000 });
    assert_true(t.recent.cap < 64 << 10);
    memset(id, 'x', sizeof(id) - 1);
    id[sizeof(id) - 1] = 0;
    add(&t, TURN_USAGE, id, (struct turn_usage){ 1, 0, 0, 0 });
    assert_int_equal(turn_totals_usage(&t).input_tokens, 10001);
    turn_totals_release(&t);
}

/* Of the latest 64, the oldest is forgotten first. */
static void
a_message_is_known_again_while_it_is_among_the_latest(void **state)
{
    (void)state;
    struct turn_totals t = { 0 };
    char id[16];
    for (int i = 0; i <= 64; i++) {
        (void)snprintf(id, sizeof(id), "m%02d", i);
        add(&t, TURN_USAGE, id, (struct turn_usage){ 1, 1, 0, 0 });
    }
    add(&t, TURN_USAGE, "m01", (struct turn_usage){ 1, 5, 0, 0 });
    add(&t, TURN_USAGE, "m64", (struct turn_usage){ 1, 1, 0, 0 });
    assert_usage(&t, (struct turn_usage){ 65, 69, 0, 0 });
    assert_int_equal(t.calls, 65);
    add(&t, TURN_USAGE, "m00", (struct turn_usage){ 1, 1, 0, 0 });
    assert_int_equal(t.calls, 66);
    turn_totals_release(&t);
}

/* As Claude Code has them. */
static void
add_unique(struct turn_totals *t, unsigned i, uint64_t output)
{
    char id[40];
    (void)snprintf(id, sizeof(id), "msg_01Unique%012u", i);
    add(t, TURN_USAGE, id, (struct turn_usage){ 10, output, 0, 0 });
}

static void
a_unique_id_is_known_again_however_far_it_is(void **state)
{
    (void)state;
    struct turn_totals t = { 0 };
    for (int again = 0; again < 3; again++)
        for (unsigned i = 0; i < 1000; i++)
            add_unique(&t, i, again == 1 ? 5 : 1);
    assert_usage(&t, (struct turn_usage){ 10000, 5000, 0, 0 });
    assert_int_equal(t.calls, 1000);
    turn_totals_release(&t);
}

/* What is more than was told before is of the answer that tells it. */
static void
a_unique_id_is_known_again_behind_the_end_of_its_answer(void **state)
{
    (void)state;
    struct turn_totals t = { 0 };
    add_unique(&t, 1, 1);
    add(&t, TURN_DONE, "", (struct turn_usage){ 10, 90, 0, 0 });
    add_unique(&t, 1, 1);
    assert_usage(&t, (struct turn_usage){ 10, 90, 0, 0 });
    add_unique(&t, 1, 7);
    add_unique(&t, 2, 3);
    assert_usage(&t, (struct turn_usage){ 20, 99, 0, 0 });
    assert_int_equal(t.calls, 2);
    add(&t, TURN_DONE, "", (struct turn_usage){ 10, 40, 0, 0 });
    assert_usage(&t, (struct turn_usage){ 20, 129, 0, 0 });
    turn_totals_release(&t);
}

/* As of `cat` in each iteration. */
static void
a_stream_that_comes_again_adds_nothing(void **state)
{
    (void)state;
    struct turn_totals t = { 0 };
    for (int again = 0; again < 3; again++) {
        add_unique(&t, 1, 1);
        add_unique(&t, 2, 2);
        add(&t, TURN_DONE, "", (struct turn_usage){ 20, 90, 0, TURN_UNKNOWN });
        add_unique(&t, 3, 500);
        add(&t, TURN_DONE, "", (struct turn_usage){ 10, 400, 0, 7 });
        add(&t, TURN_EXIT, "", TURN_NO_USAGE);
        assert_usage(&t, (struct turn_usage){ 30, 490, 0, 7 });
        assert_int_equal(t.calls, 3);
    }
    add_unique(&t, 2, 2);
    add_unique(&t, 1, 1);
    add(&t, TURN_DONE, "", (struct turn_usage){ 20, 95, 0, 0 }); /* it has 5 more */
    assert_usage(&t, (struct turn_usage){ 30, 495, 0, 7 });
    turn_totals_release(&t);
}

static void
what_comes_again_beside_news_is_taken_off(void **state)
{
    (void)state;
    struct turn_totals t = { 0 };
    add_unique(&t, 1, 100);
    add(&t, TURN_DONE, "", (struct turn_usage){ 10, 100, 0, 0 });
    add_unique(&t, 1, 100);
    add_unique(&t, 1, 100);
    add_unique(&t, 2, 5);
    add(&t, TURN_DONE, "", (struct turn_usage){ 20, 160, 0, 0 });
    assert_usage(&t, (struct turn_usage){ 20, 160, 0, 0 });
    add_unique(&t, 2, 5); /* of which the DONE does not tell */
    add_unique(&t, 3, 5);
    add(&t, TURN_DONE, "", (struct turn_usage){ 10, 5, 0, 0 });
    assert_usage(&t, (struct turn_usage){ 30, 165, 0, 0 });
    turn_totals_release(&t);
}

static void
unique_ids_have_a_ceiling(void **state)
{
    (void)state;
    struct turn_totals t = { 0 };
    unsigned n = TURN_MESSAGES_MAX + 100;
    for (unsigned i = 0; i < n; i++)
        add_unique(&t, i, 1);
    size_t cap = t.messages.cap + t.slots.cap + t.recent.cap;
    for (unsigned i = 0; i < 100; i++)
        add_unique(&t, i, 1);
    add_unique(&t, n - 1, 2); /* among the latest */
    assert_int_equal(t.calls, n);
    add_unique(&t, n - 100, 1);
    assert_int_equal(t.calls, n + 1);
    assert_int_equal(turn_totals_usage(&t).output_tokens, n + 2);
    assert_int_equal(t.messages.cap + t.slots.cap + t.recent.cap, cap);
    assert_true(cap < 8 << 20);
    turn_totals_release(&t);
}

/* All of them want the same slot: they are summed as those without a unique id. */
static void
ids_that_were_made_to_collide_take_no_square_of_their_number(void **state)
{
    (void)state;
    struct turn_totals t = { 0 };
    unsigned made = 0;
    for (uint64_t i = 0; made < 1500; i++) {
        char id[40];
        (void)snprintf(id, sizeof(id), "msg_01Unique%016llx", (unsigned long long)i);
        if (turn_id_hash((struct view){ (uint8_t *)id, strlen(id) }) & 4095)
            continue;
        add(&t, TURN_USAGE, id, (struct turn_usage){ 1, 1, 0, 0 });
        add(&t, TURN_USAGE, id, (struct turn_usage){ 1, 2, 0, 0 });
        made++;
    }
    assert_int_equal(t.calls, made);
    assert_usage(&t, (struct turn_usage){ made, 2 * made, 0, 0 });
    assert_in_range(t.messages.n, 1, 512 * 64);
    turn_totals_release(&t);
}

/* -- kept -- */

static void
reload(struct turn_totals *t)
{
    AUTO(buf) once = { 0 };
    AUTO(buf) twice = { 0 };
    assert_int_equal(turn_totals_save(t, &once), 0);
    turn_totals_release(t);
    struct view rest = { once.p, once.n };
    assert_int_equal(turn_totals_load(t, &rest), 0);
    assert_int_equal(rest.n, 0);
    assert_int_equal(turn_totals_save(t, &twice), 0);
    assert_int_equal(twice.n, once.n);
    assert_memory_equal(twice.p, once.p, once.n);
}

static void
what_is_kept_goes_on_as_if_it_had_never_ended(void **state)
{
    (void)state;
    struct turn_totals t = { 0 };
    for (unsigned i = 0; i < 600; i++) {
        add_unique(&t, i % 200, i < 400 ? 1 : 3);
        add(&t, TURN_USAGE, i & 1 ? "short" : "", (struct turn_usage){ 1, 0, 0, 0 });
        if (i % 100 == 99)
            add(&t, TURN_DONE, "", TURN_NO_USAGE);
        reload(&t);
    }
    assert_usage(&t, (struct turn_usage){ 2000 + 306, 600, 0, 0 });
    assert_int_equal(t.calls, 200 + 306);
    for (unsigned i = 0; i < 4; i++) {
        add_unique(&t, 1000 + i % 2, 1);
        reload(&t);
        if (i % 2)
            add(&t, TURN_DONE, "", (struct turn_usage){ 50, 5, 0, 0 });
        reload(&t);
    }
    assert_usage(&t, (struct turn_usage){ 2000 + 306 + 50, 605, 0, 0 });
    turn_totals_release(&t);
}

static void
what_was_kept_and_is_damaged_is_refused(void **state)
{
    (void)state;
    struct turn_totals t = { 0 };
    AUTO(buf) kept = { 0 };
    for (unsigned i = 0; i < 3; i++)
        add_unique(&t, i, 1);
    add(&t, TURN_USAGE, "short", (struct turn_usage){ 1, 0, 0, 0 });
    assert_int_equal(turn_totals_save(&t, &kept), 0);
    turn_totals_release(&t);
    for (size_t n = 0; n < kept.n; n++) {
        struct view rest = { kept.p, n };
        assert_int_equal(turn_totals_load(&t, &rest), ERR_DAMAGED);
        turn_totals_release(&t);
    }
    for (size_t bit = 0; bit < 8 * kept.n; bit++) { /* none of them is trusted */
        kept.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
        struct view rest = { kept.p, kept.n };
        if (!turn_totals_load(&t, &rest))
            add_unique(&t, 1, 2);
        turn_totals_release(&t);
        kept.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

static void
an_id_that_begins_another_or_is_too_long_is_not_taken_for_it(void **state)
{
    (void)state;
    struct turn_totals t = { 0 };
    char id[130];
    memset(id, 'x', sizeof(id));
    id[128] = id[129] = 0;
    add(&t, TURN_USAGE, "ab", (struct turn_usage){ 1, 0, 0, 0 });
    add(&t, TURN_USAGE, "a", (struct turn_usage){ 1, 0, 0, 0 });
    assert_int_equal(t.calls, 2);
    add(&t, TURN_USAGE, id, (struct turn_usage){ 1, 0, 0, 0 });
    add(&t, TURN_USAGE, id, (struct turn_usage){ 1, 0, 0, 0 });
    assert_int_equal(t.calls, 3);
    id[128] = 'x';
    add(&t, TURN_USAGE, id, (struct turn_usage){ 1, 0, 0, 0 });
    add(&t, TURN_USAGE, id, (struct turn_usage){ 1, 0, 0, 0 });
    assert_int_equal(t.calls, 5);
    turn_totals_release(&t);
}

static void
what_is_told_as_zero_is_known(void **state)
{
    (void)state;
    struct turn_totals t = { 0 };
    add(&t, TURN_USAGE, "a",
        (struct turn_usage){ TURN_UNKNOWN, 0, TURN_UNKNOWN, TURN_UNKNOWN });
    assert_usage(&t, (struct turn_usage){ 0, 0, 0, 0 });
    assert_int_equal(t.calls, 1);
    turn_totals_release(&t);
    add(&t, TURN_DONE, "", (struct turn_usage){ 3, 0, 0, 0 });
    assert_usage(&t, (struct turn_usage){ 3, 0, 0, 0 });
    assert_int_equal(t.calls, 0);
    turn_totals_release(&t);
}

static void
other_events_use_nothing(void **state)
{
    (void)state;
    struct turn_totals t = { 0 };
    add(&t, TURN_TEXT, "a", (struct turn_usage){ 3, 3, 3, 3 });
    assert_usage(&t, TURN_NO_USAGE);
    turn_totals_release(&t);
}

static void
numbers_beyond_all_do_not_wrap(void **state)
{
    (void)state;
    struct turn_totals t = { 0 };
    add(&t, TURN_USAGE, "a", (struct turn_usage){ TURN_UNKNOWN - 2, 1, 0, 0 });
    add(&t, TURN_USAGE, "b", (struct turn_usage){ TURN_UNKNOWN - 2, 1, 0, 0 });
    assert_usage(&t, (struct turn_usage){ NUM_EXACT_MAX, 2, 0, 0 });
    add(&t, TURN_DONE, "", TURN_NO_USAGE);
    add(&t, TURN_USAGE, "c", (struct turn_usage){ TURN_UNKNOWN - 1, 1, 0, 0 });
    assert_usage(&t, (struct turn_usage){ NUM_EXACT_MAX, 3, 0, 0 });
    add(&t, TURN_DONE, "",
        (struct turn_usage){ TURN_UNKNOWN - 1, 1, 0, UINT64_C(1) << 63 });
    assert_usage(&t, (struct turn_usage){ NUM_EXACT_MAX, 3, 0, NUM_EXACT_MAX });
    turn_totals_release(&t);
}

static void
tell(struct turn_totals *t, const char *id, uint64_t output, bool is_final)
{
    struct turn_event e = turn_event(TURN_USAGE);
    e.id = (struct view){ (const uint8_t *)id, strlen(id) };
    e.usage = (struct turn_usage){ 10, output, 0, 0 };
    e.is_final = is_final;
    assert_int_equal(turn_totals_add(t, &e), 0);
}

static void
what_broke_off_is_a_lower_bound(void **state)
{
    (void)state;
    struct turn_totals t = { 0 };
    assert_false(turn_totals_is_least(&t));
    tell(&t, "a", 1, false);
    assert_true(turn_totals_is_least(&t));
    tell(&t, "a", 50, true);
    tell(&t, "a", 1, false); /* an old line of it */
    assert_false(turn_totals_is_least(&t));
    tell(&t, "b", 1, false);
    add(&t, TURN_DONE, "", (struct turn_usage){ 20, 90, 0, 0 });
    assert_false(turn_totals_is_least(&t));
    assert_usage(&t, (struct turn_usage){ 20, 90, 0, 0 });
    turn_totals_release(&t);
}

/* Of two iterations the first died: the second's total is the second's alone. */
static void
the_end_of_a_command_ends_what_a_total_is_of(void **state)
{
    (void)state;
    struct turn_totals t = { 0 };
    tell(&t, "a", 5, false);
    add(&t, TURN_EXIT, "", TURN_NO_USAGE);
    tell(&t, "b", 1, false);
    add(&t, TURN_DONE, "", (struct turn_usage){ 10, 40, 0, 0 });
    add(&t, TURN_EXIT, "", TURN_NO_USAGE);
    assert_usage(&t, (struct turn_usage){ 20, 45, 0, 0 });
    assert_true(turn_totals_is_least(&t));
    turn_totals_release(&t);
}

static void
a_total_of_zeros_is_none(void **state)
{
    (void)state;
    struct turn_totals t = { 0 };
    tell(&t, "a", 5, true);
    add(&t, TURN_DONE, "", (struct turn_usage){ 0 });
    assert_usage(&t, (struct turn_usage){ 10, 5, 0, 0 });
    assert_false(turn_totals_is_least(&t));
    turn_totals_release(&t);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_broke_off_is_a_lower_bound),
        cmocka_unit_test(the_end_of_a_command_ends_what_a_total_is_of),
        cmocka_unit_test(a_total_of_zeros_is_none),
        cmocka_unit_test(nothing_told_is_not_zero),
        cmocka_unit_test(lines_of_one_message_count_once_with_their_largest_values),
        cmocka_unit_test(messages_of_agents_within_agents_may_take_turns),
        cmocka_unit_test(messages_without_an_id_are_each_their_own),
        cmocka_unit_test(the_end_of_an_answer_is_the_truth_of_it),
        cmocka_unit_test(many_messages_are_summed_in_little_memory),
        cmocka_unit_test(a_message_is_known_again_while_it_is_among_the_latest),
        cmocka_unit_test(a_unique_id_is_known_again_however_far_it_is),
        cmocka_unit_test(a_unique_id_is_known_again_behind_the_end_of_its_answer),
        cmocka_unit_test(a_stream_that_comes_again_adds_nothing),
        cmocka_unit_test(what_comes_again_beside_news_is_taken_off),
        cmocka_unit_test(unique_ids_have_a_ceiling),
        cmocka_unit_test(ids_that_were_made_to_collide_take_no_square_of_their_number),
        cmocka_unit_test(what_is_kept_goes_on_as_if_it_had_never_ended),
        cmocka_unit_test(what_was_kept_and_is_damaged_is_refused),
        cmocka_unit_test(an_id_that_begins_another_or_is_too_long_is_not_taken_for_it),
        cmocka_unit_test(what_is_told_as_zero_is_known),
        cmocka_unit_test(other_events_use_nothing),
        cmocka_unit_test(numbers_beyond_all_do_not_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
