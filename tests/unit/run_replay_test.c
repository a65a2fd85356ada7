/* SPDX-License-Identifier: MIT */
/* run_replay_test.c -- when the next message of a recording is due. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "run/replay_priv.h"

enum { MS = 1000000, QUIET = 500 };

static bool
as_recorded(void *ctx, enum turn_type type, struct view content)
{
    (void)ctx;
    (void)type;
    return content.n && content.p[0] == '=';
}

static void
hear(struct run_replay *p, enum turn_type type, const char *text, uint64_t ms)
{
    run_replay_hear(p, type, (struct view){ (const uint8_t *)text, strlen(text) },
                    ms * MS);
}

/* Two messages; before the second the recording has two answers, and one behind it. */
static const struct run_said said[] = { { .heard = 0 }, { .heard = 2 } };
static const struct run_script script = {
    .said = said, .count = 2, .heard = 3, .quiet_ms = QUIET, .hear = as_recorded
};

static void
assert_due(const struct run_replay *p, uint64_t now_ms, uint64_t due_ms)
{
    assert_int_equal(run_replay_due_ms(p, true, now_ms * MS), due_ms);
}

static void
what_the_recording_has_word_for_word_is_all(void **state)
{
    (void)state;
    struct run_replay p;
    run_replay_init(&p, &script, 0);
    assert_true(run_replay_holds(&p));
    assert_due(&p, 0, 0);
    assert_ptr_equal(run_replay_next(&p, 0), &said[0]);
    assert_due(&p, 0, 60000); /* it has said nothing yet */
    hear(&p, TURN_TEXT, "=one", 10);
    assert_due(&p, 10, QUIET);
    hear(&p, TURN_TEXT, "=two", 20);
    assert_due(&p, 20, 0);
    assert_ptr_equal(run_replay_next(&p, 20 * MS), &said[1]);
    /* The last answer may have been cut off: there may be more. */
    hear(&p, TURN_TEXT, "=three", 30);
    assert_due(&p, 30, QUIET);
    assert_due(&p, 30 + QUIET, 0);
    assert_null(run_replay_next(&p, 530 * MS));
    assert_false(run_replay_holds(&p));
    assert_due(&p, 1000, UINT64_MAX);
}

static void
another_answer_is_over_when_it_rests(void **state)
{
    (void)state;
    struct run_replay p;
    run_replay_init(&p, &script, 0);
    run_replay_next(&p, 0);
    hear(&p, TURN_TEXT, "other", 10);
    hear(&p, TURN_TEXT, "=two", 20);
    hear(&p, TURN_USAGE, "", 40); /* does not count, but shows that it is at work */
    assert_int_equal(p.heard, 2);
    assert_due(&p, 40, QUIET);
    assert_due(&p, 539, 1);
    assert_due(&p, 540, 0);
}

static void
who_is_in_the_middle_of_a_line_does_not_rest(void **state)
{
    (void)state;
    struct run_replay p;
    run_replay_init(&p, &script, 0);
    run_replay_next(&p, 0);
    run_replay_stir(&p, 10 * MS);
    assert_due(&p, 10, QUIET);
    hear(&p, TURN_TEXT, "other", 20);
    run_replay_stir(&p, 400 * MS);
    assert_due(&p, 400, QUIET);
    run_replay_stir(&p, 800 * MS);
    assert_due(&p, 900, QUIET - 100);
    assert_int_equal(p.heard, 1);
}

static void
what_had_no_answer_waits_for_none(void **state)
{
    (void)state;
    static const struct run_said at_once[] = { { .heard = 0 }, { .heard = 0 } };
    struct run_script s = script;
    struct run_replay p;
    s.said = at_once;
    run_replay_init(&p, &s, 0);
    assert_due(&p, 0, 0);
    run_replay_next(&p, 0);
    assert_due(&p, 0, 0); /* they came together */
    hear(&p, TURN_TEXT, "a word of its own", 1);
    assert_due(&p, 1, QUIET);
}

static void
an_agent_says_itself_when_it_is_done(void **state)
{
    (void)state;
    struct run_replay p;
    run_replay_init(&p, &script, 0);
    p.is_agent = true;
    assert_due(&p, 0, 0);
    run_replay_next(&p, 0);
    hear(&p, TURN_TEXT, "=one", 1);
    hear(&p, TURN_TEXT, "=two", 2);
    assert_due(&p, 2 + QUIET, 600000 - QUIET);
    hear(&p, TURN_DONE, "", 900);
    assert_due(&p, 900, 0);
    run_replay_next(&p, 900 * MS);
    assert_due(&p, 901, 599999); /* the word is said anew for each */
}

static void
without_input_of_ours_nothing_is_waited_for_at_the_end(void **state)
{
    (void)state;
    struct run_replay p;
    run_replay_init(&p, &script, 0);
    run_replay_next(&p, 0);
    hear(&p, TURN_TEXT, "=one", 1);
    hear(&p, TURN_TEXT, "=two", 1);
    run_replay_next(&p, 1 * MS);
    assert_int_equal(run_replay_due_ms(&p, false, 1 * MS), 0);
}

static void
nothing_to_send_holds_nothing(void **state)
{
    (void)state;
    struct run_replay p;
    run_replay_init(&p, NULL, 0);
    assert_false(run_replay_holds(&p));
    hear(&p, TURN_TEXT, "x", 1);
    assert_due(&p, 1, UINT64_MAX);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_recording_has_word_for_word_is_all),
        cmocka_unit_test(another_answer_is_over_when_it_rests),
        cmocka_unit_test(who_is_in_the_middle_of_a_line_does_not_rest),
        cmocka_unit_test(what_had_no_answer_waits_for_none),
        cmocka_unit_test(an_agent_says_itself_when_it_is_done),
        cmocka_unit_test(without_input_of_ours_nothing_is_waited_for_at_the_end),
        cmocka_unit_test(nothing_to_send_holds_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
