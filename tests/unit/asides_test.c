/* SPDX-License-Identifier: MIT */
/* asides_test.c -- which events of a conversation are on branches that were left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "play/asides_priv.h"
#include "play/turns.h"

enum { EVENTS_MAX = 40, ROUNDS = 2000 };

/* from[i] > 0: event i + 1 is a branch behind event from[i] - 1. */
static void
tell(struct play_asides *a, const uint64_t *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_int_equal(
            from[i] ? play_asides_branch(a, from[i] - 1) : play_asides_event(a), 0);
    assert_int_equal(play_asides_end(a), 0);
}

/* want: '.' for each event on the current branch, '-' for an aside. */
static void
check(const uint64_t *from, const char *want)
{
    AUTO(play_asides) a = { 0 };
    tell(&a, from, strlen(want));
    for (size_t i = 0; want[i]; i++)
        assert_int_equal(play_asides_is(&a, i + 1), want[i] == '-');
    for (size_t i = 1; i < 3; i++) /* come meanwhile */
        assert_false(play_asides_is(&a, strlen(want) + i));
}

static void
without_a_branch_there_are_none(void **state)
{
    (void)state;
    check((uint64_t[]){ 0, 0, 0 }, "...");
}

static void
what_was_left_is_aside(void **state)
{
    (void)state;
    check((uint64_t[]){ 0, 0, 0, 0, 3, 0 }, "..--..");     /* event 5: behind 2 */
    check((uint64_t[]){ 0, 0, 0, 1, 0 }, "---..");         /* … from the beginning */
    check((uint64_t[]){ 0, 0, 3, 0, 0 }, ".....");         /* … behind what is last */
    check((uint64_t[]){ 0, 2, 0, 2, 0, 2, 0 }, ".----.."); /* three tries */
}

static void
an_older_branch_may_be_taken_up_again(void **state)
{
    (void)state;
    /* 1 2 3 | 4 behind 1, 5 | 6 behind 3, 7 */
    check((uint64_t[]){ 0, 0, 0, 2, 0, 4, 0 }, "...--..");
    /* … and 8 behind 5 once more. */
    check((uint64_t[]){ 0, 0, 0, 2, 0, 4, 0, 6, 0 }, ".--..--..");
}

static void
a_branch_that_leads_ahead_is_none(void **state)
{
    (void)state;
    check((uint64_t[]){ 0, 9, 0 }, "...");
    check((uint64_t[]){ 0, 3, 0 }, "..."); /* behind itself */
}

/* By going up from the last event, one by one. */
static void
random_trees_are_gone_up_as_by_hand(void **state)
{
    (void)state;
    srand(7);
    for (int round = 0; round < ROUNDS; round++) {
        AUTO(play_asides) a = { 0 };
        uint64_t from[EVENTS_MAX] = { 0 };
        bool is_kept[EVENTS_MAX + 1] = { false };
        size_t count = 1 + (size_t)rand() % EVENTS_MAX;
        for (size_t i = 1; i < count; i++)
            from[i] = rand() % 4 ? 0 : 1 + (uint64_t)rand() % (i + 1);
        tell(&a, from, count);
        for (size_t at = count; at; at = from[at - 1] ? from[at - 1] - 1 : at - 1)
            is_kept[at] = true;
        for (size_t i = 1; i <= count; i++)
            assert_int_equal(play_asides_is(&a, i), !is_kept[i]);
    }
}

/* -- in a file -- */

struct seen {
    char text[64];
    bool has_asides;
};

/* A play_turn_fn. */
static int
note(void *ctx, const struct turn_event *e, const struct turn_stamp *at)
{
    struct seen *s = ctx;
    size_t n = strlen(s->text);
    s->has_asides |= at->is_aside;
    if (!at->is_aside && e->type == TURN_TEXT)
        snprintf(s->text + n, sizeof(s->text) - n, "%.*s ", (int)e->text.n,
                 (const char *)e->text.p);
    return 0;
}

static void
put(struct buf *out, struct turn_event e)
{
    turn_line(&e, &(struct turn_stamp){ .ts_ns = 5, .session = "x" }, out);
}

static void
say(struct buf *out, const char *text)
{
    struct turn_event e = turn_event(TURN_TEXT);
    e.text = (struct view){ (const uint8_t *)text, strlen(text) };
    put(out, e);
}

static void
a_reader_is_told_only_where_it_asks(void **state)
{
    (void)state;
    AUTO(buf) lines = { 0 };
    char path[] = "asides-XXXXXX";
    struct turn_event branch = turn_event(TURN_BRANCH);
    branch.from = 1;
    say(&lines, "one");
    say(&lines, "wrong");
    put(&lines, branch);
    say(&lines, "two");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(file_write_all(fd, lines.p, lines.n), 0);
    close(fd);
    assert_true(play_asides_may_be(path));
    struct seen asks = { 0 }, does_not = { 0 };
    struct err err;
    struct play_turns_options opt = { .has_asides = true, .fn = note, .ctx = &asks };
    assert_int_equal(play_turns_read(path, &opt, &err), 0);
    assert_string_equal(asks.text, "one two ");
    opt = (struct play_turns_options){ .fn = note, .ctx = &does_not };
    assert_int_equal(play_turns_read(path, &opt, &err), 0);
    assert_string_equal(does_not.text, "one wrong two ");
    assert_false(does_not.has_asides);
    unlink(path);
}

/* What is said of branches in a text is no branch. */
static void
a_text_about_branches_costs_no_second_reading(void **state)
{
    (void)state;
    AUTO(buf) lines = { 0 };
    char path[] = "asides-XXXXXX";
    say(&lines, "{\"type\":\"branch\",\"from\":1}");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(file_write_all(fd, lines.p, lines.n), 0);
    close(fd);
    assert_false(play_asides_may_be(path));
    unlink(path);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_branch_there_are_none),
        cmocka_unit_test(what_was_left_is_aside),
        cmocka_unit_test(an_older_branch_may_be_taken_up_again),
        cmocka_unit_test(a_branch_that_leads_ahead_is_none),
        cmocka_unit_test(random_trees_are_gone_up_as_by_hand),
        cmocka_unit_test(a_reader_is_told_only_where_it_asks),
        cmocka_unit_test(a_text_about_branches_costs_no_second_reading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
