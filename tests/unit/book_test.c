/* SPDX-License-Identifier: MIT */
/*
 * book_test.c -- lines by their number: the same ones, with the same stamps and texts,
 * that the slow way finds (support/book_check.h), whatever has happened in between.
 *
 * The linker sends our allocations through support/alloc_faults.c (--wrap).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/alloc_faults.h"
#include "support/book_check.h"
#include "support/rng.h"

static struct term *
make(unsigned cols, unsigned rows, uint32_t scrollback, uint32_t alternate)
{
    struct term_options opt = term_options_default();
    opt.cols = cols;
    opt.rows = rows;
    opt.scrollback_rows = scrollback;
    opt.alternate_rows = alternate;
    struct term *t = term_new(&opt);
    assert_non_null(t);
    return t;
}

/* Feeds behind what was fed. */
static void
feed(struct term *t, uint64_t *off, const char *bytes)
{
    term_feed(t, bytes, strlen(bytes), *off);
    *off += strlen(bytes);
}

static void
check(struct term_book *b, const struct term *t, uint32_t *rng)
{
    AUTO(buf) why = { 0 };
    struct term_book fresh = { 0 };
    assert_int_equal(term_book_update(b, t), 0);
    assert_int_equal(term_book_update(&fresh, t), 0);
    if (!book_check(b, rng, &why) || !book_check_same(b, &fresh, &why))
        fail_msg("%s", buf_str(&why));
    term_book_release(&fresh);
}

static const char *
text_of(const struct term_book *b, uint64_t number, struct term_line *line)
{
    assert_in_range(number, term_book_first(b), term_book_end(b) - 1);
    assert_int_equal(term_book_line(b, number, line), 0);
    return buf_str(&line->text);
}

static struct term_needle
needle(const char *text, bool ignores_case)
{
    return (struct term_needle){ { (const uint8_t *)text, strlen(text) }, ignores_case };
}

static uint64_t
find(const struct term_book *b, const char *text, bool ignores_case)
{
    struct term_needle n = needle(text, ignores_case);
    uint64_t at;
    int r = term_book_find(b, &n, 0, false, UINT64_MAX, &at);
    assert_in_range(r, 0, 1);
    return r ? at : UINT64_MAX;
}

/* -- random sessions -- */

static const char *const snippets[] = {
    "make: Entering directory\r\n",
    "cc -O2  -c file.c\r\n",
    "a",
    "\r\n",
    "error: it is undefined, and goes on over some rows until there is an end\r\n",
    "\xe6\xbc\xa2\xe5\xad\x97 wide",
    "e\xcc\x81t\xc3\xa9 \xe2\x94\x80\xe2\x94\x82\r\n",
    "\x1b[31mred\x1b[m \x1b[1;44mbold  \x1b[m\r\n",
    "\x1b[2;5Hput",
    "\x1b[H",
    "\x1b[9;1H",
    "\x1b[K",
    "\x1b[2J",
    "\x1bM\x1bM",
    "\tTab\tstop\r\n",
    "\x1b[?1049h",
    "\x1b[?1049l",
    "\x1b[?1047h",
    "\x1b[?1047l",
    "\x1b[?47h\x1b[Hfull screen\r\nof lines\r\nthat scroll\r\nwhere they are\r\n",
    "\x1b[2;3r",
    "\x1b[r",
    "\x1b[3J",
    "\033c",
};

enum { SNIPPETS = sizeof(snippets) / sizeof(snippets[0]) };

struct session {
    struct term *t;
    uint64_t off;
    uint32_t rng;
};

static void
step(struct session *s)
{
    unsigned n = 1 + rng_below(&s->rng, 12);
    for (unsigned i = 0; i < n; i++)
        feed(s->t, &s->off, snippets[rng_below(&s->rng, SNIPPETS)]);
    if (!rng_below(&s->rng, 6))
        term_resize(s->t,
                    rng_below(&s->rng, 3) ? term_cols(s->t) : 1 + rng_below(&s->rng, 30),
                    1 + rng_below(&s->rng, 8));
}

/* Lines as they were at an update: stamps and sums of their texts. */
struct seen {
    uint32_t edition;
    uint64_t first;
    struct buf lines;
};

static uint64_t
sum_of(const struct term_book *b, uint64_t number)
{
    struct term_line line = { 0 };
    uint64_t sum = term_book_stamp(b, number);
    assert_int_equal(term_book_line(b, number, &line), 0);
    for (size_t i = 0; i < line.text.n; i++)
        sum = sum * 31 + line.text.p[i];
    term_line_release(&line);
    return sum;
}

/* Lines that are told to be the same are. */
static void
check_same(const struct term_book *b, struct seen *seen)
{
    const uint64_t *was = (const void *)seen->lines.p;
    assert_in_range(b->same_from, term_book_first(b), term_book_end(b));
    assert_in_range(b->same_to, b->same_from, term_book_end(b));
    if (b->edition == seen->edition)
        for (uint64_t i = b->same_from; i < b->same_to; i++) {
            assert_in_range(i, seen->first, seen->first + seen->lines.n / 8 - 1);
            assert_int_equal(sum_of(b, i), was[i - seen->first]);
        }
    seen->edition = b->edition;
    seen->first = term_book_first(b);
    buf_clear(&seen->lines);
    for (uint64_t i = seen->first; i < term_book_end(b); i++) {
        uint64_t sum = sum_of(b, i);
        assert_int_equal(buf_append(&seen->lines, &sum, sizeof(sum)), 0);
    }
}

static void
play(uint32_t seed, uint32_t scrollback, uint32_t alternate, bool clears)
{
    struct session s = { .rng = rng_seed(seed) };
    struct term_options opt = term_options_default();
    opt.cols = 1 + rng_below(&s.rng, 30);
    opt.rows = 1 + rng_below(&s.rng, 8);
    opt.scrollback_rows = scrollback;
    opt.alternate_rows = alternate;
    opt.clears_scrollback = clears;
    s.t = term_new(&opt);
    assert_non_null(s.t);
    struct term_book often = { 0 }, seldom = { 0 };
    struct seen seen = { 0 };
    for (unsigned i = 0; i < 40; i++) {
        step(&s);
        assert_int_equal(term_book_update(&often, s.t), 0);
        check_same(&often, &seen);
        if (i % 10 == 9)
            check(&often, s.t, &s.rng);
        if (i % 20 == 19)
            check(&seldom, s.t, &s.rng);
    }
    buf_release(&seen.lines);
    term_book_release(&often);
    term_book_release(&seldom);
    term_free(s.t);
}

static void
a_book_has_the_final_lines_of_any_session(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 60; seed++)
        play(seed, TERM_SCROLLBACK_ROWS, TERM_ALTERNATE_ROWS, seed % 4 == 0);
}

static void
a_book_keeps_up_with_rows_that_are_dropped(void **state)
{
    (void)state;
    static const uint32_t ceilings[] = { 0, 1, 7, 50, 400 };
    for (uint32_t seed = 1; seed <= 100; seed++)
        play(1000 + seed, ceilings[seed % 5], ceilings[seed / 5 % 5], false);
}

/* -- single properties -- */

static void
numbers_stay_while_rows_come_and_go(void **state)
{
    (void)state;
    struct term *t = make(20, 4, 100, 100);
    struct term_book b = { 0 };
    struct term_line line = { 0 };
    uint64_t off = 0;
    char text[32];
    for (unsigned i = 0; i < 500; i++) {
        snprintf(text, sizeof(text), "line %u\r\n", i);
        feed(t, &off, text);
        assert_int_equal(term_book_update(&b, t), 0);
        text[strlen(text) - 2] = '\0';
        assert_string_equal(text_of(&b, i, &line), text);
        snprintf(text, sizeof(text), "line %u", i / 2);
        if (i / 2 >= term_book_first(&b))
            assert_string_equal(text_of(&b, i / 2, &line), text);
    }
    assert_int_equal(b.edition, 1);
    assert_int_equal(term_book_first(&b), 397);
    assert_int_equal(term_book_end(&b), 500);
    assert_int_equal(term_book_screen(&b), 497);
    term_line_release(&line);
    term_book_release(&b);
    term_free(t);
}

static void
lines_of(struct term *t, uint64_t *off, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        feed(t, off, "line\r\n");
}

static void
what_stays_when_rows_are_dropped_is_told(void **state)
{
    (void)state;
    struct term *t = make(20, 4, 100, 10);
    struct term_book b = { 0 };
    uint64_t off = 0;
    feed(t, &off, "\x1b[?1049hone\r\ntwo\x1b[?1049l");
    lines_of(t, &off, 103);
    assert_int_equal(term_book_update(&b, t), 0);
    lines_of(t, &off, 5);
    assert_int_equal(term_book_update(&b, t), 0);
    assert_int_equal(b.edition, 1);
    assert_int_equal(term_book_first(&b), 5);
    assert_int_equal(b.same_from, 7); /* behind the two, which stand before row 5 now */
    assert_int_equal(b.same_to, 102);
    term_book_release(&b);
    term_free(t);
}

static void
what_stays_when_marked_lines_are_dropped_is_told(void **state)
{
    (void)state;
    struct term *t = make(20, 4, 100, 2);
    struct term_book b = { 0 };
    uint64_t off = 0;
    lines_of(t, &off, 20);
    feed(t, &off, "\x1b[?1049hone\r\ntwo\x1b[?1049l");
    lines_of(t, &off, 20);
    assert_int_equal(term_book_update(&b, t), 0);
    feed(t, &off, "\x1b[?1049hthree\x1b[?1049l");
    assert_int_equal(term_book_update(&b, t), 0);
    assert_int_equal(b.edition, 1);
    assert_int_equal(term_book_first(&b), 1);
    assert_int_equal(b.same_from, 21); /* the line behind the one that went */
    assert_int_equal(b.same_to, 39);
    term_book_release(&b);
    term_free(t);
}

static void
a_new_width_and_another_model_are_told(void **state)
{
    (void)state;
    struct term *t = make(20, 4, 100, 100), *other = make(20, 4, 100, 100);
    struct term_book b = { 0 };
    uint64_t off = 0;
    feed(t, &off, "one\r\ntwo\r\nthree\r\nfour\r\nfive\r\n");
    assert_int_equal(term_book_update(&b, t), 0);
    uint32_t edition = b.edition;
    term_resize(t, 20, 2);
    assert_int_equal(term_book_update(&b, t), 0);
    term_resize(t, 20, 9);
    assert_int_equal(term_book_update(&b, t), 0);
    assert_int_equal(b.edition, edition);
    /* There and back, unseen. */
    term_resize(t, 3, 9);
    term_resize(t, 20, 9);
    assert_int_equal(term_book_update(&b, t), 0);
    assert_int_equal(b.edition, edition + 1);
    assert_int_equal(term_book_update(&b, other), 0);
    assert_int_equal(b.edition, edition + 2);
    assert_int_equal(term_book_end(&b), 0);
    term_book_release(&b);
    term_free(other);
    term_free(t);
}

static void
a_restored_model_has_the_same_lines(void **state)
{
    (void)state;
    struct session s = { .t = make(20, 4, 60, 60), .rng = 7 };
    struct term_options opt = term_options_default();
    struct term_book b = { 0 };
    AUTO(buf) bytes = { 0 };
    struct term *copy;
    struct err err;
    for (unsigned i = 0; i < 40; i++)
        step(&s);
    assert_int_equal(term_snapshot(s.t, true, &bytes), 0);
    assert_int_equal(term_restore((struct view){ bytes.p, bytes.n }, &opt, &copy, &err),
                     0);
    check(&b, s.t, &s.rng);
    check(&b, copy, &s.rng);
    term_book_release(&b);
    term_free(copy);
    term_free(s.t);
}

static void
rows_that_the_screen_took_back_may_be_others(void **state)
{
    (void)state;
    struct session s = { .t = make(20, 2, 60, 60), .rng = 5 };
    struct term_book b = { 0 };
    feed(s.t, &s.off, "one\r\ntwo\r\nthree\r\nfour\r\nfive");
    check(&b, s.t, &s.rng);
    term_resize(s.t, 20, 5);
    feed(s.t, &s.off, "\x1b[2;1Hother\x1b[5;1H");
    term_resize(s.t, 20, 2);
    feed(s.t, &s.off, "\r\n\r\nsix");
    check(&b, s.t, &s.rng);
    assert_int_equal(find(&b, "other", false), 1);
    assert_int_equal(term_book_past(&b, 30), 1);
    term_book_release(&b);
    term_free(s.t);
}

static void
the_alternate_screen_comes_last_and_then_in_its_place(void **state)
{
    (void)state;
    struct term *t = make(20, 4, 100, 100);
    struct term_book b = { 0 };
    struct term_line line = { 0 };
    uint64_t off = 0;
    feed(t, &off, "before\r\n\x1b[?1049h\x1b[Hinside\x1b[3;1Hbelow");
    assert_int_equal(term_book_update(&b, t), 0);
    assert_int_equal(term_book_end(&b), 4);
    assert_int_equal(term_book_screen(&b), 1);
    assert_string_equal(text_of(&b, 1, &line), "inside");
    assert_true(line.is_alternate);
    assert_string_equal(text_of(&b, 2, &line), "");
    feed(t, &off, "\x1b[?1049lafter\r\n");
    assert_int_equal(term_book_update(&b, t), 0);
    assert_int_equal(term_book_end(&b), 4);
    assert_string_equal(text_of(&b, 0, &line), "before");
    assert_string_equal(text_of(&b, 1, &line), "inside");
    assert_string_equal(text_of(&b, 2, &line), "below");
    assert_string_equal(text_of(&b, 3, &line), "after");
    assert_false(line.is_alternate);
    term_line_release(&line);
    term_book_release(&b);
    term_free(t);
}

static void
the_line_past_a_byte_is_found_among_many(void **state)
{
    (void)state;
    struct term *t = make(40, 4, 6000, 100);
    struct term_book b = { 0 };
    uint64_t off = 0;
    for (unsigned i = 0; i < 10000; i++) {
        feed(t, &off, "one of many lines\r\n");
        if (i % 512 == 0)
            assert_int_equal(term_book_update(&b, t), 0);
    }
    assert_int_equal(term_book_update(&b, t), 0);
    assert_int_equal(term_book_end(&b), 10000);
    for (uint64_t i = term_book_first(&b); i < 10000; i++) {
        assert_int_equal(term_book_past(&b, term_book_stamp(&b, i)), i + 1);
        assert_int_equal(term_book_past(&b, term_book_stamp(&b, i) - 1), i);
    }
    assert_int_equal(term_book_past(&b, 0), term_book_first(&b));
    term_book_release(&b);
    term_free(t);
}

/* -- searching -- */

static void
text_is_found_across_rows_blanks_and_cases(void **state)
{
    (void)state;
    struct term *t = make(10, 2, 100, 100);
    struct term_book b = { 0 };
    uint64_t off = 0;
    feed(t, &off,
         "Undefined reference\r\na\tb\r\n\xe6\xbc\xa2\xe5\xad\x97 e\xcc\x81x\r\n"
         "trail  \r\nnext\r\n1234567 9 next\r\n\r\n\r\n\r\n");
    assert_int_equal(term_book_update(&b, t), 0);
    assert_int_equal(find(&b, "undefined reference", true), 0);
    assert_int_equal(find(&b, "undefined reference", false), UINT64_MAX);
    assert_int_equal(find(&b, "ed ref", false), 0);
    assert_int_equal(find(&b, "ed  ref", false), UINT64_MAX);
    assert_int_equal(find(&b, "reference", false), 1);
    assert_int_equal(find(&b, "a       b", false), 2);
    assert_int_equal(find(&b, "\xe6\xbc\xa2\xe5\xad\x97 e\xcc\x81x", false), 3);
    assert_int_equal(find(&b, " e", false), 3);
    assert_int_equal(find(&b, "trail ", false), UINT64_MAX);
    assert_int_equal(find(&b, "9 next", false), 6);
    term_book_release(&b);
    term_free(t);
}

static void
a_search_goes_on_where_it_stopped(void **state)
{
    (void)state;
    struct term *t = make(40, 4, 100000, 100);
    struct term_book b = { 0 };
    struct term_needle n = needle("4999", false);
    uint64_t off = 0, at = 0;
    char text[32];
    for (unsigned i = 0; i < 5010; i++) {
        snprintf(text, sizeof(text), "line %u of many\r\n", i);
        feed(t, &off, text);
    }
    assert_int_equal(term_book_update(&b, t), 0);
    for (unsigned i = 1; i <= 4; i++) {
        assert_int_equal(term_book_find(&b, &n, at, false, 1000, &at), 0);
        assert_int_equal(at, i * 1000);
    }
    assert_int_equal(term_book_find(&b, &n, at, false, 1000, &at), 1);
    assert_int_equal(at, 4999);
    assert_int_equal(term_book_find(&b, &n, at + 1, false, UINT64_MAX, &at), 0);
    assert_int_equal(at, term_book_end(&b));
    assert_int_equal(term_book_find(&b, &n, at, true, UINT64_MAX, &at), 1);
    assert_int_equal(at, 4999);
    assert_int_equal(term_book_find(&b, &n, at - 1, true, 10, &at), 0);
    assert_int_equal(at, 4988);
    assert_int_equal(term_book_find(&b, &n, at, true, UINT64_MAX, &at), 0);
    assert_int_equal(at, UINT64_MAX);
    assert_int_equal(term_book_find(&b, &n, at, true, UINT64_MAX, &at), 0);
    assert_int_equal(at, UINT64_MAX);
    term_book_release(&b);
    term_free(t);
}

static void
a_needle_is_found_again_and_again_in_a_line(void **state)
{
    (void)state;
    static const char text[] = "Abba abc ABBA, and nothing else in a long line: abba";
    struct view line = { (const uint8_t *)text, strlen(text) };
    struct term_needle n = needle("abba", true);
    size_t start = 0, end = 0;
    unsigned hits = 0;
    for (; term_needle_next(&n, line, end, &start, &end); hits++)
        assert_int_equal(end, start + 4);
    assert_int_equal(hits, 3);
    assert_int_equal(start, strlen(text) - 4);
    n.ignores_case = false;
    assert_true(term_needle_next(&n, line, 0, &start, &end));
    assert_int_equal(start, strlen(text) - 4);
    assert_false(term_needle_next(&n, line, line.n, &start, &end));
}

/* -- memory -- */

/* What a user of a book does, in which the n-th allocation fails. */
static int
use(struct term_book *b, const struct term *t)
{
    struct term_needle n = needle("undefined", true);
    struct term_line line = { 0 };
    uint64_t at;
    int e = term_book_update(b, t);
    if (e >= 0)
        e = term_book_find(b, &n, 0, false, UINT64_MAX, &at);
    if (e >= 0)
        e = term_book_line(b, term_book_first(b), &line);
    term_line_release(&line);
    return e;
}

static void
a_book_without_memory_says_so_and_is_empty(void **state)
{
    (void)state;
    struct session s = { .t = make(9, 4, 600, 600), .rng = 3 };
    for (unsigned i = 0; i < 60; i++)
        step(&s);
    for (unsigned n = 1;; n++) {
        struct term_book b = { 0 };
        faults = (struct alloc_faults){ .is_on = true, .fail_at = n };
        int e = use(&b, s.t);
        faults.is_on = false;
        if (faults.count < n) {
            assert_int_equal(e, 0);
            term_book_release(&b);
            break;
        }
        assert_int_equal(e, -ENOMEM);
        if (!b.term)
            assert_int_equal(term_book_end(&b), term_book_first(&b));
        check(&b, s.t, &s.rng);
        term_book_release(&b);
    }
    term_free(s.t);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_book_has_the_final_lines_of_any_session),
        cmocka_unit_test(a_book_keeps_up_with_rows_that_are_dropped),
        cmocka_unit_test(numbers_stay_while_rows_come_and_go),
        cmocka_unit_test(what_stays_when_rows_are_dropped_is_told),
        cmocka_unit_test(what_stays_when_marked_lines_are_dropped_is_told),
        cmocka_unit_test(a_new_width_and_another_model_are_told),
        cmocka_unit_test(a_restored_model_has_the_same_lines),
        cmocka_unit_test(rows_that_the_screen_took_back_may_be_others),
        cmocka_unit_test(the_alternate_screen_comes_last_and_then_in_its_place),
        cmocka_unit_test(the_line_past_a_byte_is_found_among_many),
        cmocka_unit_test(text_is_found_across_rows_blanks_and_cases),
        cmocka_unit_test(a_search_goes_on_where_it_stopped),
        cmocka_unit_test(a_needle_is_found_again_and_again_in_a_line),
        cmocka_unit_test(a_book_without_memory_says_so_and_is_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
