/* SPDX-License-Identifier: MIT */
/* history_tree_test.c -- which line goes on behind which, in trees of all kinds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/history_kit.h"
#include "support/measure.h"
#include "support/rng.h"
#include "support/text_view.h"
#include "turn/history_tree_priv.h"

/*
 * Trees are written as lines with a name of one letter each:
 *
 *     Pa       a prompt, behind none         Rc<b   a result
 *     Sb<a     said, by a message of its own   Sb<am  said, by message m
 *     Nd<c     a note                        Ld<c   a note that tells c otherwise
 *     Sb<a+    the same once more, otherwise written
 *
 * and what is told of them as the names of the lines, "|b" for what goes on behind b
 * ("|0": at the beginning), and "!o", "!r", "!c", "!2" for an orphan, a root, a cycle,
 * and a line that was there before.
 */
struct shape {
    struct buf text;
    char names[64]; /* of events, from 1 */
    uint64_t events;
    char name; /* of the line at hand */
};

static void
put_body(struct buf *out, char kind, char name, char message, const char *more)
{
    if (kind == 'S')
        buf_printf(
            out,
            ",\"message\":{\"id\":\"m%c\",\"content\":[{\"type\":\"text\",\"text\":"
            "\"%c\"}]}%s}\n",
            message, name, more);
    else if (kind == 'P')
        buf_printf(out, ",\"message\":{\"content\":\"%c\"}%s}\n", name, more);
    else if (kind == 'R')
        buf_printf(out,
                   ",\"message\":{\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":"
                   "\"t\",\"content\":\"%c\"}]}%s}\n",
                   name, more);
    else
        buf_printf(out, ",\"subtype\":\"note\"%s}\n", more);
}

static void
put_line(struct buf *out, struct view spec)
{
    char kind = (char)spec.p[0], name = (char)spec.p[1], behind = 0, message = name;
    const char *more = spec.p[spec.n - 1] == '+' ? ",\"version\":\"2\"" : "";
    if (spec.n > 3)
        behind = (char)spec.p[3];
    if (spec.n > 4 && spec.p[4] != '+')
        message = (char)spec.p[4];
    const char *type = kind == 'S'                    ? "assistant"
                       : (kind == 'P' || kind == 'R') ? "user"
                                                      : "system";
    buf_printf(out, "{\"type\":\"%s\",\"uuid\":\"%c\",", type, name);
    if (kind == 'L')
        buf_puts(out, "\"parentUuid\":null,\"logicalParentUuid\":");
    else
        buf_puts(out, "\"parentUuid\":");
    if (behind)
        buf_printf(out, "\"%c\"", behind);
    else
        buf_puts(out, "null");
    put_body(out, kind, name, message, more);
}

static void
put_word(struct shape *s, const char *word, char letter)
{
    buf_printf(&s->text, "%s%s%c", s->text.n ? " " : "", word, letter);
}

static int
take_event(void *ctx, const struct turn_event *e, uint64_t ts_ns)
{
    struct shape *s = ctx;
    (void)ts_ns;
    if (e->type == TURN_BRANCH) {
        assert_true(e->from <= s->events);
        put_word(s, "|", e->from ? s->names[e->from] : '0');
    } else {
        put_word(s, "", s->name);
    }
    s->names[++s->events] = s->name;
    return 0;
}

static void
take_trouble(void *ctx, enum turn_history_trouble what)
{
    static const char marks[TURN_HISTORY_TROUBLES] = { 'm', 'o', 'r', 'c', '2' };
    put_word(ctx, "!", marks[what]);
}

static struct turn_history *
make_reader(struct shape *s)
{
    struct turn_history *h;
    const struct turn_history_options opt = {
        .agent = TURN_CLAUDE, .event = take_event, .trouble = take_trouble, .ctx = s
    };
    assert_int_equal(turn_history_new(&h, &opt), 0);
    return h;
}

static struct turn_history *
reload(struct turn_history *h, struct shape *s)
{
    AUTO(buf) saved = { 0 };
    assert_int_equal(turn_history_save(h, &saved), 0);
    turn_history_free(h);
    h = make_reader(s);
    assert_int_equal(turn_history_load(h, (struct view){ saved.p, saved.n }), 0);
    return h;
}

static void
read_tree(const char *spec, bool is_interrupted, struct shape *s)
{
    struct turn_history *h = make_reader(s);
    for (size_t n; *spec; spec += n + (spec[n] == ' ')) {
        AUTO(buf) line = { 0 };
        n = strcspn(spec, " ");
        put_line(&line, (struct view){ (const uint8_t *)spec, n });
        s->name = spec[1];
        assert_int_equal(
            turn_history_line(h, (struct view){ 0 }, (struct view){ line.p, line.n - 1 }),
            0);
        if (is_interrupted)
            h = reload(h, s);
    }
    turn_history_free(h);
}

/* However often it is interrupted. */
static void
assert_tree(const char *spec, const char *want)
{
    for (int i = 0; i < 2; i++) {
        struct shape s = { 0 };
        read_tree(spec, i, &s);
        assert_string_equal(buf_str(&s.text), want);
        buf_release(&s.text);
    }
}

/* -- what is no branch -- */

static void
lines_one_behind_the_other_are_no_branch(void **state)
{
    (void)state;
    assert_tree("Pa Sb<a Sc<bb Rd<c Se<d Pf<e Sg<f", "a b c d e f g");
}

static void
results_may_hang_on_their_own_calls(void **state)
{
    (void)state;
    /* Calls of one message, results that each go on behind their own. */
    assert_tree("Pa Sb<am Sc<bm Sd<cm Re<b Rf<c Rg<d Sh<g", "a b c d e f g h");
    /* Results between the calls; the next message behind any of them. */
    assert_tree("Pa Sb<am Rc<b Sd<bm Re<d Sf<e", "a b c d e f");
    assert_tree("Pa Sb<am Sc<bm Rd<c Re<b Sf<d", "a b c d e f");
    assert_tree("Pa Sb<am Sc<bm Rd<b Re<c Sf<d", "a b c d e f");
}

static void
notes_are_where_they_are_and_leave_nothing(void **state)
{
    (void)state;
    assert_tree("Na Pb<a Nc<b Nd<c Se<d Nf<e Ng<f Ph<g Si<h", "a b c d e f g h i");
    /* Two notes side by side: neither is left behind by what follows. */
    assert_tree("Pa Sb<a Nc<b Nd<b Pe<c Sf<e", "a b c d e f");
    assert_tree("Pa Sb<a Nc<b Pd<b Se<d", "a b c d e");
}

static void
a_conversation_that_was_made_shorter_goes_on(void **state)
{
    (void)state;
    assert_tree("Pa Sb<a Pc<b Sd<c Le<d Pf<e Sg<f", "a b c d e f g");
    assert_tree("Pa Sb<a Lc<b Nd<c Pe<d", "a b c d e");
}

/* -- branches -- */

static void
who_asks_again_begins_a_branch(void **state)
{
    (void)state;
    assert_tree("Pa Sb<a Pc<b Sd<c Pe<b Sf<e", "a b c d |b e f");
    /* … behind a note that stands behind the answer */
    assert_tree("Pa Sb<a Nc<b Pd<c Se<d Pf<c Sg<f", "a b c d e |b f g");
    /* … and once more, from what was begun */
    assert_tree("Pa Sb<a Pc<b Sd<c Pe<b Sf<e Pg<f Ph<f Si<h", "a b c d |b e f g |f h i");
}

static void
an_answer_that_is_made_again_is_a_branch(void **state)
{
    (void)state;
    assert_tree("Pa Sb<a Sc<a", "a b |a c");
    assert_tree("Pa Sb<am Rc<b Sd<c Se<c", "a b c d |c e");
}

static void
an_older_branch_can_go_on(void **state)
{
    (void)state;
    assert_tree("Pa Sb<a Pc<b Sd<c Pe<b Sf<e Pg<d Sh<g Pi<f",
                "a b c d |b e f |d g h |f i");
    /* even by a result */
    assert_tree("Pa Sb<a Pc<b Sd<c Pe<b Sf<e Rg<d Sh<g", "a b c d |b e f |d g h");
}

/* -- links that lead nowhere -- */

static void
a_line_behind_one_that_is_not_there_is_an_orphan(void **state)
{
    (void)state;
    assert_tree("Pa Sb<a Pc<x Sd<c", "a b !o c d");
    assert_tree("Pa<x Sb<a", "!o a b");
    /* that comes later */
    assert_tree("Pa Sb<a Pc<x Sd<c Sx<b Pe<x", "a b !o c d |b x e");
}

static void
a_second_beginning_is_told(void **state)
{
    (void)state;
    assert_tree("Pa Sb<a Pc Sd<c Pe", "a b !r c d !r e");
    assert_tree("Na Nb Pc Nd", "a b c d");
    /* Who goes back to the first tree leaves the second. */
    assert_tree("Pa Sb<a Pc Sd<c Pe<b", "a b !r c d |b e");
}

static void
what_goes_on_behind_itself_is_told_and_goes_on(void **state)
{
    (void)state;
    assert_tree("Pa Sb<b Sc<b", "a !c b c");
    assert_tree("Pa Pb<c Sc<b Sd<c", "a !o b !c c d");
    assert_tree("Pa Pb<d Sc<b Sd<c Se<d", "a !o b c !c d e");
    assert_tree("Nb<c Nc<b Pd<c Se<d", "!o b !c c d e");
    assert_tree("Pa<a", "!c a");
}

static void
a_line_that_comes_twice_is_told_once(void **state)
{
    (void)state;
    assert_tree("Pa Sb<a Sb<a Pc<b Pa Sd<c", "a b !2 c !2 d");
    assert_tree("Pa Na Pa", "a !2 a !r !2 a");
}

/* Its name belongs to the later one. */
static void
two_lines_of_one_name_are_both_told(void **state)
{
    (void)state;
    assert_tree("Pa Sb<a Sb<a+ Pc<b", "a b !2 b c");
    assert_tree("Pa Sb<a Pc<b Sd<c Sb<d+ Pe<b", "a b c d !2 b e");
    assert_tree("Pa Sb<a Pa+ Sb<a+ Pc<b", "a b !r !2 a !2 b c");
    assert_tree("Pa Sb<a Pa<b+ Pb<a+", "a b !2 a !2 b");
}

/* -- many -- */

/* Any tree of few names: nothing is lost, and where it goes on was told before. */
static void
in_any_tree_nothing_is_lost(void **state)
{
    (void)state;
    uint32_t rng = 7;
    for (int round = 0; round < 6000; round++) {
        AUTO(buf) spec = { 0 };
        struct shape s = { 0 }, again = { 0 };
        uint32_t lines = 1 + rng_below(&rng, 12);
        for (uint32_t i = 0; i < lines; i++) {
            buf_printf(&spec, "%s%c%c", i ? " " : "", "PSRNL"[rng_below(&rng, 5)],
                       'a' + (char)rng_below(&rng, 8));
            if (rng_below(&rng, 8))
                buf_printf(&spec, "<%c", 'a' + (char)rng_below(&rng, 9));
        }
        read_tree(buf_str(&spec), false, &s);
        read_tree(buf_str(&spec), true, &again);
        assert_string_equal(buf_str(&s.text), buf_str(&again.text));
        uint32_t told = 0, left_out = 0;
        for (size_t i = 0; i < s.text.n; i++) {
            bool is_letter = !i || s.text.p[i - 1] == ' ';
            told += is_letter && s.text.p[i] >= 'a' && s.text.p[i] <= 'z';
            left_out += s.text.p[i] == '2';
        }
        assert_true(told <= lines && told + left_out >= lines);
        buf_release(&s.text);
        buf_release(&again.text);
    }
}

enum chain { LINEAR, STAR, COMB, BACKWARDS, LADDER };

/* Lines of a made file: their parents by number, 0 for none. */
static uint64_t
parent_of(enum chain chain, uint64_t i, uint64_t count)
{
    switch (chain) {
    case LINEAR:
        return i - 1;
    case STAR: /* each branches from the first */
        return i > 1;
    case COMB: /* two deep branches in turns: each goes from the end of one to the other
                */
        return i < 3 ? i - 1 : i - 2;
    case BACKWARDS: /* each behind one that comes later */
        return i < count ? i + 1 : 0;
    case LADDER: /* deep, and then again and again back to anywhere */
        return i < count / 2 ? i - 1 : i * 2654435761U % (count / 2) + 1;
    }
    return 0;
}

/* In CPU time that no more than grows with it. */
static void
assert_fast(enum chain chain, uint64_t count, uint64_t least_branches, uint64_t most)
{
    struct history_kit k;
    double before = measure_cpu_s();
    history_kit_begin(&k, TURN_CLAUDE);
    k.is_quiet = true;
    uint64_t branches = 0;
    for (uint64_t i = 1; i <= count; i++) {
        char line[256];
        uint64_t events = k.events, parent = parent_of(chain, i, count);
        int n = snprintf(line, sizeof(line),
                         "{\"type\":\"user\",\"uuid\":\"u%llu\",\"parentUuid\":\"u%llu\","
                         "\"message\":{\"content\":\"x\"}}\n",
                         (unsigned long long)i, (unsigned long long)parent);
        if (!parent)
            n = snprintf(line, sizeof(line),
                         "{\"type\":\"user\",\"uuid\":\"u%llu\",\"message\":{\"content\":"
                         "\"x\"}}\n",
                         (unsigned long long)i);
        assert_int_equal(
            history_kit_lines(&k, (struct view){ (const uint8_t *)line, (size_t)n }), 0);
        branches += k.events - events - 1;
    }
    assert_int_equal(k.events, count + branches);
    assert_true(branches >= least_branches && branches <= most);
    if (chain != BACKWARDS)
        assert_int_equal(k.troubles[TURN_HISTORY_ORPHAN], 0);
    assert_true(measure_cpu_s() - before < 30); /* a square of it would be hours */
    history_kit_end(&k);
}

static void
more_lines_than_are_remembered_go_on_one_behind_the_other(void **state)
{
    (void)state;
    assert_fast(LINEAR, 600000, 0, 0);
}

static void
files_that_are_made_to_take_long_do_not(void **state)
{
    (void)state;
    assert_fast(STAR, 200000, 199998, 199998);
    assert_fast(COMB, 200000, 1000, 200000);
    assert_fast(BACKWARDS, 200000, 0, 0);
    assert_fast(LADDER, 200000, 100, 100000);
}

/* Keys as somebody would make them who knows how they are looked up. */
static void
keys_that_meet_cost_a_fixed_amount(void **state)
{
    (void)state;
    struct turn_history_tree t = { 0 };
    AUTO(buf) saved = { 0 };
    /* Multiplied they give small numbers, which all fall into one slot. */
    uint64_t inverse = UINT64_C(0xf1de83e19937733d);
    assert_int_equal(inverse * UINT64_C(0x9e3779b97f4a7c15), 1);
    double before = measure_cpu_s();
    for (uint64_t i = 1; i <= 500000; i++) {
        struct turn_tree_line l = { .key = i * inverse,
                                    .parent = (i - 1) * inverse,
                                    .line = i,
                                    .kind = TURN_TREE_PROMPT };
        struct turn_tree_place place;
        assert_int_equal(turn_tree_add(&t, &l, &place), 0);
        assert_false(place.is_branch || place.is_twice);
        turn_tree_done(&t, i);
    }
    assert_int_equal(turn_tree_save(&t, &saved), 0);
    turn_tree_release(&t);
    struct view rest = { saved.p, saved.n };
    assert_int_equal(turn_tree_load(&t, &rest, 500000), 0);
    assert_true(measure_cpu_s() - before < 30);
    assert_true(saved.n < 2 << 20);
    turn_tree_release(&t);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_one_behind_the_other_are_no_branch),
        cmocka_unit_test(results_may_hang_on_their_own_calls),
        cmocka_unit_test(notes_are_where_they_are_and_leave_nothing),
        cmocka_unit_test(a_conversation_that_was_made_shorter_goes_on),
        cmocka_unit_test(who_asks_again_begins_a_branch),
        cmocka_unit_test(an_answer_that_is_made_again_is_a_branch),
        cmocka_unit_test(an_older_branch_can_go_on),
        cmocka_unit_test(a_line_behind_one_that_is_not_there_is_an_orphan),
        cmocka_unit_test(a_second_beginning_is_told),
        cmocka_unit_test(what_goes_on_behind_itself_is_told_and_goes_on),
        cmocka_unit_test(a_line_that_comes_twice_is_told_once),
        cmocka_unit_test(two_lines_of_one_name_are_both_told),
        cmocka_unit_test(in_any_tree_nothing_is_lost),
        cmocka_unit_test(more_lines_than_are_remembered_go_on_one_behind_the_other),
        cmocka_unit_test(files_that_are_made_to_take_long_do_not),
        cmocka_unit_test(keys_that_meet_cost_a_fixed_amount),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
