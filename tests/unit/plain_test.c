/* SPDX-License-Identifier: MIT */
/* plain_test.c -- a session as plain text: which lines are printed, and when. */
#include "play/plain.h"

#include <stdlib.h>

#include "support/kit.h"
#include "support/rng.h"
#include "support/term_corpus.h"

/* A terminal of 10x4, and what was printed of it so far. */
struct play {
    struct term *term;
    struct play_plain plain;
    struct buf out;
    uint64_t byte_off;
};

static int
print(void *ctx, struct view text)
{
    struct buf *out = ctx;
    buf_append(out, text.p, text.n);
    return buf_puts(out, "\n");
}

static struct play *
start(unsigned cols, unsigned rows)
{
    struct play *p = calloc(1, sizeof(*p));
    struct term_options opt = term_options_default();
    opt.cols = cols;
    opt.rows = rows;
    assert_non_null(p);
    p->term = term_new(&opt);
    p->out.ceiling = 256 << 20;
    p->plain = (struct play_plain){ .print = print, .ctx = &p->out };
    return p;
}

static void
finish(struct play *p)
{
    play_plain_release(&p->plain);
    term_free(p->term);
    buf_release(&p->out);
    free(p);
}

static void
feed(struct play *p, const void *bytes, size_t n)
{
    term_feed(p->term, bytes, n, p->byte_off);
    p->byte_off += n;
    assert_int_equal(play_plain_look(&p->plain, p->term, p->byte_off), 0);
}

/* Feeds a text; this is printed then, and nothing else. */
static void
says(struct play *p, const char *text, const char *printed)
{
    feed(p, text, strlen(text));
    assert_string_equal(buf_str(&p->out), printed);
    buf_clear(&p->out);
}

static void
resizes(struct play *p, unsigned cols, unsigned rows, const char *printed)
{
    term_resize(p->term, cols, rows);
    assert_int_equal(play_plain_look(&p->plain, p->term, p->byte_off), 0);
    assert_string_equal(buf_str(&p->out), printed);
    buf_clear(&p->out);
}

static void
ends(struct play *p, const char *printed)
{
    assert_int_equal(play_plain_end(&p->plain, p->term, p->byte_off), 0);
    assert_string_equal(buf_str(&p->out), printed);
    finish(p);
}

static void
a_line_is_printed_when_the_cursor_has_left_it(void **state)
{
    (void)state;
    struct play *p = start(10, 4);
    says(p, "one", "");
    says(p, "\r\n", "one\n");
    says(p, "two\r\nthree\r\nfour", "two\nthree\n");
    says(p, "\r\nfive\r\nsix", "four\nfive\n");
    ends(p, "six\n");
}

static void
a_spinner_is_printed_as_it_ends(void **state)
{
    (void)state;
    struct play *p = start(10, 4);
    says(p, "$ make\r\n", "$ make\n");
    for (int i = 0; i < 9; i++)
        says(p, "\r- busy", "");
    says(p, "\r\033[Kdone\r\n", "done\n");
    ends(p, "");
}

static void
a_line_that_has_changed_is_printed_again_when_it_scrolls_off(void **state)
{
    (void)state;
    struct play *p = start(10, 4);
    says(p, "0 %\r\nbelow\r\n", "0 %\nbelow\n");
    says(p, "\033[1;1H50 %\033[3;1H", "");
    says(p, "\033[1;1H100 %\033[3;1H", "");
    says(p, "a\r\nb", "a\n");
    says(p, "\r\nc", "100 %\nb\n");
    says(p, "\r\nd\r\ne\r\nf", "c\nd\ne\n"); /* `below` was not changed */
    ends(p, "f\n");
}

static void
a_line_that_has_changed_is_printed_again_at_the_end(void **state)
{
    (void)state;
    struct play *p = start(10, 4);
    says(p, "old\r\nsame\r\n", "old\nsame\n");
    says(p, "\033[1;1Hnew\033[2;1Hsame\033[3;1Hlast", "");
    ends(p, "new\nlast\n");
}

static void
what_is_written_after_a_clear_is_new(void **state)
{
    (void)state;
    struct play *p = start(10, 4);
    says(p, "$ ls\r\na\r\nb\r\n", "$ ls\na\nb\n");
    says(p, "\033[H\033[2J$ ", "");
    says(p, "ls\r\n", "$ ls\n");
    says(p, "c\r\n", "c\n");
    ends(p, "");
}

static void
blank_lines_stand_between_others_only(void **state)
{
    (void)state;
    struct play *p = start(10, 4);
    says(p, "one\r\n\r\n\r\n", "one\n");
    says(p, "\r\n\r\n\r\ntwo\r\n", "\n\n\n\n\ntwo\n");
    says(p, "\r\n\r\n\r\n\r\n\r\n\r\n", "");
    ends(p, "");
}

static void
rows_that_scroll_in_a_region_are_not_printed_twice(void **state)
{
    (void)state;
    struct play *p = start(10, 4);
    says(p, "one\r\ntwo\r\nthree\r\nfour", "one\ntwo\nthree\n");
    says(p, "\033[2;4r\033[2;1H\033M\033[r\033[4;1H", "");
    ends(p, "");
    p = start(10, 4);
    says(p, "one\r\ntwo\r\nthree\r\nfoot", "one\ntwo\nthree\n");
    says(p, "\033[1;3r\033[3;1H\r\nmore\033[r\033[4;5H", "more\n");
    ends(p, "foot\n");
}

static void
the_alternate_screen_comes_when_it_is_left(void **state)
{
    (void)state;
    struct play *p = start(10, 4);
    says(p, "$ vi\r\n", "$ vi\n");
    says(p, "\033[?1049h\033[Hhello\r\nthere\r\n~\r\n~", "");
    says(p, "\033[1;1HHELLO", "");
    says(p, "\033[?1049l$ ", "HELLO\nthere\n~\n~\n");
    says(p, "exit\r\n", "$ exit\n");
    ends(p, "");
}

static void
the_alternate_screen_comes_at_the_end(void **state)
{
    (void)state;
    struct play *p = start(10, 4);
    says(p, "$ top", "");
    says(p, "\033[?1049h\033[Hload 1\r\n", "");
    ends(p, "$ top\nload 1\n");
}

static void
what_scrolls_off_the_alternate_screen_comes_then(void **state)
{
    (void)state;
    struct play *p = start(10, 4);
    says(p, "\033[?1049h\033[Ha\r\nb\r\nc\r\nd", "");
    says(p, "\r\ne", "a\n");
    ends(p, "b\nc\nd\ne\n");
}

static void
a_new_width_alone_prints_nothing(void **state)
{
    (void)state;
    struct play *p = start(10, 4);
    says(p, "1234567890abc\r\nx\r\ny\r\nz", "1234567890\nabc\nx\ny\n");
    resizes(p, 20, 4, "");
    resizes(p, 3, 4, "");
    resizes(p, 10, 2, "");
    resizes(p, 10, 6, "");
    ends(p, "z\n");
}

static void
what_has_changed_before_a_new_width_is_printed_behind_it(void **state)
{
    (void)state;
    struct play *p = start(10, 4);
    says(p, "old\r\nb\r\nc\r\n", "old\nb\nc\n");
    says(p, "\033[1;1Hnew words\033[4;1H", "");
    resizes(p, 5, 4, "new w\nords\n"); /* it has left the screen by that */
    ends(p, "");
}

static void
what_is_skipped_is_not_printed(void **state)
{
    (void)state;
    struct play *p = start(10, 4);
    term_feed(p->term, "a\r\nb\r\nc\r\nd\r\ne", 13, 0);
    p->byte_off = 13;
    assert_int_equal(play_plain_skip(&p->plain, p->term, p->byte_off), 0);
    says(p, "\r\nf", ""); /* `e` is as it was */
    says(p, "\033[2;1HD\033[4;2H\r\ng\r\n", "D\nf\ng\n");
    ends(p, "");
}

static int
refuse(void *ctx, struct view text)
{
    (void)ctx;
    (void)text;
    return -32;
}

static void
what_print_says_is_returned(void **state)
{
    (void)state;
    struct play *p = start(10, 4);
    p->plain.print = refuse;
    term_feed(p->term, "a\r\nb", 4, 0);
    assert_int_equal(play_plain_look(&p->plain, p->term, p->byte_off), -32);
    finish(p);
}

/* -- any stream, however it is cut -- */

struct finals {
    const struct buf *printed; /* with a newline before it */
    struct buf all;
};

static int
check_final(void *ctx, const struct term_line *line)
{
    struct finals *f = ctx;
    AUTO(buf) whole = { 0 };
    buf_printf(&f->all, "%s\n", (const char *)line->text.p);
    buf_printf(&whole, "\n%s\n", (const char *)line->text.p);
    if (line->text.n && !memmem(f->printed->p, f->printed->n, whole.p, whole.n))
        fail_msg("not printed: %s", (const char *)line->text.p);
    return 0;
}

/* Every final line is among what was printed. is_same: and nothing else. */
static void
check(const struct buf *stream, size_t step, bool is_same)
{
    struct play *p = start(TERM_CORPUS_COLS, TERM_CORPUS_ROWS);
    struct finals f = { .printed = &p->out };
    uint32_t dice = rng_seed((uint32_t)step);
    buf_puts(&p->out, "\n");
    for (size_t at = 0, n; at < stream->n; at += n) {
        n = rng_between(&dice, 1, (uint32_t)step);
        n = n < stream->n - at ? n : stream->n - at;
        feed(p, stream->p + at, n);
    }
    assert_int_equal(play_plain_end(&p->plain, p->term, p->byte_off), 0);
    assert_int_equal(term_final_lines(p->term, check_final, &f), 0);
    if (is_same)
        assert_string_equal(buf_str(&p->out) + 1, buf_str(&f.all));
    buf_release(&f.all);
    finish(p);
}

static void
every_final_line_is_printed_however_the_stream_is_cut(void **state)
{
    (void)state;
    static const size_t steps[] = { 3, 100, 5000, 1 << 20 };
    for (int kind = 0; kind < TERM_CORPORA; kind++) {
        AUTO(buf) stream = { 0 };
        term_corpus(&stream, (enum term_corpus_kind)kind, 60000, 7);
        for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
            check(&stream, steps[i], false);
    }
}

static void
a_log_is_printed_as_it_is_however_it_is_cut(void **state)
{
    (void)state;
    AUTO(buf) stream = { 0 };
    for (int i = 0; i < 500; i++)
        buf_printf(&stream, i % 7 ? "line %d: \033[3%dmcoloured\033[m\r\n" : "\r\n", i,
                   i % 8);
    for (size_t step = 1; step < 20000; step = step * 3 + 1)
        check(&stream, step, true);
}

static void
new_sizes_lose_nothing(void **state)
{
    (void)state;
    uint32_t dice = rng_seed(3);
    struct play *p = start(30, 8);
    struct finals f = { .printed = &p->out };
    buf_puts(&p->out, "\n");
    /* Lines of one word are wrapped by no width. */
    for (int i = 0; i < 3000; i++) {
        char text[64];
        int n = snprintf(text, sizeof(text), "\033[%uAx%d\033[%uB\r\n%d\r\n",
                         rng_between(&dice, 1, 5), i, rng_between(&dice, 1, 5), i);
        feed(p, text, (size_t)n);
        if (rng_below(&dice, 10) == 0)
            term_resize(p->term, rng_between(&dice, 8, 40), rng_between(&dice, 1, 12));
    }
    assert_int_equal(play_plain_end(&p->plain, p->term, p->byte_off), 0);
    assert_int_equal(term_final_lines(p->term, check_final, &f), 0);
    buf_release(&f.all);
    finish(p);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_printed_when_the_cursor_has_left_it),
        cmocka_unit_test(a_spinner_is_printed_as_it_ends),
        cmocka_unit_test(a_line_that_has_changed_is_printed_again_when_it_scrolls_off),
        cmocka_unit_test(a_line_that_has_changed_is_printed_again_at_the_end),
        cmocka_unit_test(what_is_written_after_a_clear_is_new),
        cmocka_unit_test(blank_lines_stand_between_others_only),
        cmocka_unit_test(rows_that_scroll_in_a_region_are_not_printed_twice),
        cmocka_unit_test(the_alternate_screen_comes_when_it_is_left),
        cmocka_unit_test(the_alternate_screen_comes_at_the_end),
        cmocka_unit_test(what_scrolls_off_the_alternate_screen_comes_then),
        cmocka_unit_test(a_new_width_alone_prints_nothing),
        cmocka_unit_test(what_has_changed_before_a_new_width_is_printed_behind_it),
        cmocka_unit_test(what_is_skipped_is_not_printed),
        cmocka_unit_test(what_print_says_is_returned),
        cmocka_unit_test(every_final_line_is_printed_however_the_stream_is_cut),
        cmocka_unit_test(a_log_is_printed_as_it_is_however_it_is_cut),
        cmocka_unit_test(new_sizes_lose_nothing),
    };
    return cmocka_run_group_tests_name("plain", tests, NULL, NULL);
}
