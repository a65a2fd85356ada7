/* SPDX-License-Identifier: MIT */
/*
 * ceilings_test.c -- rows: scrollback and the alternate screen's memory end where they
 * are told to, and any size can be changed into any other and back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/measure.h"
#include "support/subject.h"
#include "support/term_corpus.h"

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

/* -- rows -- */

static void
feed_lines(struct subject *s, unsigned first, unsigned last)
{
    char text[96];
    for (unsigned n = first; n < last; n++) {
        snprintf(text, sizeof(text), "\x1b[3%um%u\x1b[m a line of a usual length\r\n",
                 n % 8, n);
        subject_puts(s, text);
    }
}

static void
the_scrollback_keeps_its_ceiling(void **state)
{
    (void)state;
    enum { KEPT = 1000, SOME = 20000, ALL = 200000 };
    struct term_options opt = subject_options(KEPT);
    struct subject s;
    struct term_line line = { 0 };
    subject_init(&s, &opt);
    feed_lines(&s, 0, SOME);
    size_t some = subject_cost(&s);
    feed_lines(&s, SOME, ALL);
    assert_in_range(subject_cost(&s), 0, some + some / 2 + 64 * KIB);
    assert_int_equal(term_scrollback_count(s.t), KEPT);
    assert_int_equal(term_scrollback_dropped(s.t), ALL - 23 - KEPT);
    assert_int_equal(term_line_at(s.t, 0, &line), 0);
    assert_string_equal(buf_str(&line.text), "198977 a line of a usual length");
    term_line_release(&line);
    subject_check_alive(&s);
    subject_release(&s);
}

/* Heap for each row that was kept, of a stream like a real one. */
static double
bytes_a_row(enum term_corpus_kind kind)
{
    AUTO(buf) stream = { 0 };
    struct term_options opt = term_options_default();
    opt.cols = TERM_CORPUS_COLS;
    opt.rows = TERM_CORPUS_ROWS;
    term_corpus(&stream, kind, 16 * MIB, 3);
    size_t before = measure_heap_bytes();
    struct term *t = term_new(&opt);
    assert_non_null(t);
    term_feed(t, stream.p, stream.n, 0);
    double bytes = (double)(measure_heap_bytes() - before);
    size_t rows = term_scrollback_count(t);
    assert_in_range(rows, 20000, 1000000);
    term_free(t);
    return bytes / (double)rows;
}

static void
a_row_of_the_scrollback_is_small(void **state)
{
    (void)state;
    assert_true(bytes_a_row(TERM_CORPUS_BUILD_LOG) <= 100);
    assert_true(bytes_a_row(TERM_CORPUS_TRUECOLOR) <= 160);
}

static int
count_alternate(void *ctx, const struct term_line *line)
{
    size_t *count = ctx;
    *count += line->is_alternate;
    return 0;
}

static void
the_alternate_screens_memory_keeps_its_ceiling(void **state)
{
    (void)state;
    struct term_options opt = subject_options(1000);
    struct subject s;
    size_t count = 0;
    subject_init(&s, &opt);
    subject_puts(&s, "\x1b[?1049h");
    feed_lines(&s, 0, 20000);
    size_t some = subject_cost(&s);
    feed_lines(&s, 20000, 200000);
    assert_in_range(subject_cost(&s), 0, some + some / 2 + 64 * KIB);
    assert_int_equal(term_scrollback_count(s.t), 0);
    assert_true(term_alternate_dropped(s.t) > 190000);
    assert_int_equal(term_final_lines(s.t, count_alternate, &count), 0);
    assert_in_range(count, 1000, 1000 + 24);
    for (int i = 0; i < 10000; i++)
        subject_puts(&s, "\x1b[?1049hsome text\x1b[?1049l");
    assert_in_range(subject_cost(&s), 0, some + some / 2 + 64 * KIB);
    subject_check_alive(&s);
    subject_release(&s);
}

/* All logical lines, each ended by a newline. */
static void
read_all(const struct subject *s, struct buf *out)
{
    struct term_line line = { 0 };
    size_t count = term_scrollback_count(s->t) + term_rows(s->t);
    buf_clear(out);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(term_line_at(s->t, i, &line), 0);
        buf_append(out, line.text.p, line.text.n);
        if (!line.is_wrapped)
            buf_puts(out, "\n");
    }
    while (out->n && out->p[out->n - 1] == '\n')
        out->n--;
    term_line_release(&line);
}

static void
resized_to_nothing_and_to_the_largest_the_text_comes_back(void **state)
{
    (void)state;
    static const unsigned sizes[][2] = { { 1, 1 },   { 80, 24 },      { 10000, 1000 },
                                         { 80, 24 }, { 1, 1000 },     { 10000, 1 },
                                         { 1, 1 },   { 10000, 1000 }, { 3, 2 },
                                         { 80, 24 } };
    struct term_options opt = subject_options(1000000);
    struct subject s;
    struct buf before = { 0 }, after = { 0 };
    subject_init(&s, &opt);
    for (unsigned n = 0; n < 500; n++) {
        char text[300];
        snprintf(text, sizeof(text), "%u.%0*u\r\n", n, (int)(1 + n % 190), n);
        subject_puts(&s, text);
    }
    read_all(&s, &before);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        size_t cells = (size_t)sizes[i][0] * sizes[i][1];
        term_resize(s.t, sizes[i][0], sizes[i][1]);
        assert_int_equal(term_cols(s.t), sizes[i][0]);
        assert_int_equal(term_rows(s.t), sizes[i][1]);
        assert_true(term_cursor(s.t).row < sizes[i][1]);
        assert_true(term_cursor(s.t).col < sizes[i][0]);
        subject_check_cost(&s, 8 * MIB + 64 * cells, "resized");
        read_all(&s, &after);
        assert_string_equal(buf_str(&after), buf_str(&before));
    }
    subject_check_alive(&s);
    buf_release(&before);
    buf_release(&after);
    subject_release(&s);
}

static void
resized_with_all_that_a_cell_can_hold_it_lives(void **state)
{
    (void)state;
    static const unsigned sizes[][2] = { { 1, 1 }, { 2, 1 },  { 1, 7 },      { 80, 24 },
                                         { 0, 0 }, { 3, 3 },  { 200000, 3 }, { 7, 1 },
                                         { 1, 1 }, { 80, 24 } };
    for (int is_alternate = 0; is_alternate < 2; is_alternate++) {
        struct term_options opt = subject_options(1000);
        struct subject s;
        subject_init(&s, &opt);
        subject_puts(&s, is_alternate ? "main\x1b[?1049h" : "");
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            for (int n = 0; n < 50; n++)
                subject_puts(&s, "\x1b[1;42m世界\x1b[m 👩\u200d👩 e\u0301🇩🇪\x1b]8;;u\aab"
                                 "\x1b]8;;\a\x1b[2;3r\x1b[K\x1b[L\x1b[r\t|\r\n");
            term_resize(s.t, sizes[i][0], sizes[i][1]);
            assert_in_range(term_cols(s.t), 1, TERM_COLS_MAX);
            assert_in_range(term_rows(s.t), 1, TERM_ROWS_MAX);
            assert_true(term_cursor(s.t).row < term_rows(s.t));
            assert_true(term_cursor(s.t).col < term_cols(s.t));
            subject_puts(&s, "x世");
        }
        subject_check_cost(&s, 4 * MIB, "resized");
        subject_check_alive(&s);
        subject_release(&s);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_scrollback_keeps_its_ceiling),
        cmocka_unit_test(a_row_of_the_scrollback_is_small),
        cmocka_unit_test(the_alternate_screens_memory_keeps_its_ceiling),
        cmocka_unit_test(resized_to_nothing_and_to_the_largest_the_text_comes_back),
        cmocka_unit_test(resized_with_all_that_a_cell_can_hold_it_lives),
    };
    return cmocka_run_group_tests_name("ceilings", tests, NULL, NULL);
}
