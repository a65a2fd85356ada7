/* SPDX-License-Identifier: MIT */
/*
 * limits_test.c -- streams made to hurt: they end, memory stays within what the ceilings
 * say, and what follows them is read as ever.
 *
 * How long they take is for bench_term to tell; here they only have to come to an end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/subject.h"

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

/* -- numbers -- */

static void
parameters_of_any_size_do_no_harm_to_any_sequence(void **state)
{
    (void)state;
    static const char *const numbers[] = { "1000000",
                                           "1000000;1000000",
                                           "4294967295",
                                           "4294967296;18446744073709551616",
                                           "99999999999999999999999999",
                                           "2147483648" };
    static const char *const markers[] = { "", "?", ">", "=", "<" };
    static const char *const between[] = { "", " ", "$", "'", "!", "\"", "*" };
    struct term_options opt = subject_options(1000);
    struct subject s;
    subject_init(&s, &opt);
    for (size_t i = 0; i < 6; i++)
        for (size_t m = 0; m < 5; m++)
            for (size_t b = 0; b < 7; b++)
                for (int final = '@'; final <= '~'; final++) {
                    char text[96];
                    snprintf(text, sizeof(text), "ab\x1b[%s%s%s%c\u4e16", markers[m],
                             numbers[i], between[b], final);
                    subject_puts(&s, text);
                    assert_true(term_cursor(s.t).row < term_rows(s.t));
                    assert_true(term_cursor(s.t).col < term_cols(s.t));
                    assert_int_equal(term_cols(s.t), 80);
                    assert_int_equal(term_rows(s.t), 24);
                }
    subject_check_cost(&s, 2 * MIB, "parameters");
    subject_check_alive(&s);
    subject_release(&s);
}

static void
floods_of_huge_counts_end(void **state)
{
    (void)state;
    static const char *const floods[] = {
        "x\x1b[1000000000b",
        "x\x1b[99999999S",
        "x\x1b[99999999T",
        "x\x1b[99999999L",
        "x\x1b[99999999M",
        "x\x1b[99999999@",
        "x\x1b[99999999P",
        "x\x1b[99999999X",
        "\x1b[99999999I",
        "\x1b[99999999Z",
        "世\x1b[99999999b",
        "x\033#8",
        "x\x1b[2J",
        "x\x1b[3J",
        "\x1b[?1049hx\n\x1b[?1049l",
        "x\033c",
    };
    for (size_t i = 0; i < sizeof(floods) / sizeof(floods[0]); i++) {
        struct term_options opt = subject_options(1000);
        struct subject s;
        subject_init(&s, &opt);
        for (int n = 0; n < 2000; n++)
            subject_puts(&s, floods[i]);
        subject_check_cost(&s, 2 * MIB, floods[i] + 1);
        subject_check_alive(&s);
        subject_release(&s);
    }
}

static void
a_csi_of_64_kib_is_passed_over(void **state)
{
    (void)state;
    static const char *const pieces[] = { "1;", "1:", ";", "9", "38;2;1;2;3;", "4:3;" };
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++)
        for (int final = '@'; final <= '~'; final++) {
            struct term_options opt = subject_options(1000);
            struct subject s;
            struct buf text = { 0 };
            buf_puts(&text, "\x1b[");
            while (text.n < 64 * KIB)
                buf_puts(&text, pieces[i]);
            buf_printf(&text, "%c", final);
            subject_init(&s, &opt);
            subject_feed(&s, text.p, text.n);
            subject_check_cost(&s, MIB, "64 KiB of parameters");
            subject_check_alive(&s);
            subject_release(&s);
            buf_release(&text);
        }
}

/* -- strings -- */

static void
strings_without_end_cost_no_memory(void **state)
{
    (void)state;
    static const char *const heads[] = { "\x1b]0;",    "\x1b]8;;", "\x1b]52;c;",
                                         "\x1b]133;A", "\x1bP$q",  "\x1bP1;2q",
                                         "\x1b_G",     "\x1b^",    "\x1bX",
                                         "\x1b]4;1;" };
    char *junk = malloc(64 * KIB);
    assert_non_null(junk);
    memset(junk, 'y', 64 * KIB);
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        struct term_options opt = subject_options(1000);
        struct subject s;
        struct term_cell cell;
        subject_init(&s, &opt);
        subject_puts(&s, heads[i]);
        for (int n = 0; n < 1024; n++) { /* 64 MiB */
            subject_feed(&s, junk, 64 * KIB);
            subject_check_cost(&s, MIB, heads[i] + 1);
        }
        term_cell_at(s.t, 0, 0, &cell);
        assert_int_equal(cell.text.n, 0); /* none of it is text */
        subject_puts(&s, "\x1b\\");
        subject_check_alive(&s);
        subject_release(&s);
    }
    free(junk);
}

static void
stacks_and_lists_have_ceilings(void **state)
{
    (void)state;
    static const char *const pushes[] = { "\x1b[22;0t",       "\x1b[>1u",
                                          "\x1b]133;A\a",     "\x1b]52;c;eA==\a",
                                          "\x1b]633;P;x=y\a", "\0337",
                                          "\x1b[?1s",         "\x1b]4;7;#123456\a" };
    struct buf title = { 0 };
    buf_puts(&title, "\x1b]2;");
    while (title.n < 60000)
        buf_puts(&title, "title ");
    buf_puts(&title, "\a");
    for (size_t i = 0; i < sizeof(pushes) / sizeof(pushes[0]); i++) {
        struct term_options opt = subject_options(1000);
        struct subject s;
        subject_init(&s, &opt);
        subject_feed(&s, title.p, title.n);
        for (int n = 0; n < 100000; n++)
            subject_puts(&s, pushes[i]);
        subject_check_cost(&s, 4 * MIB, pushes[i] + 1);
        assert_true(term_mark_count(s.t) <= TERM_MARKS_MAX);
        subject_check_alive(&s);
        subject_release(&s);
    }
    buf_release(&title);
}

/* -- cells -- */

static void
a_cell_takes_a_million_marks_and_keeps_its_ceiling(void **state)
{
    (void)state;
    static const char *const pairs[][2] = { { "a", "\u0301" },
                                            { "世", "\u0301" },
                                            { "👩", "\u200d👩" },
                                            { "a", "\ufe0f" },
                                            { "क", "\u094dक" } };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        struct term_options opt = subject_options(1000);
        struct subject s;
        struct term_cell cell;
        subject_init(&s, &opt);
        subject_puts(&s, pairs[i][0]);
        for (int n = 0; n < 1000000; n++)
            subject_puts(&s, pairs[i][1]);
        subject_check_cost(&s, MIB, "marks on a cell");
        term_cell_at(s.t, 0, 0, &cell);
        assert_in_range(cell.text.n, 1, TERM_CLUSTER_MAX);
        subject_check_alive(&s);
        subject_release(&s);
    }
}

/* How each of the three tables is filled: the number makes the bytes unlike all others.
 */
static void
put_style(struct buf *out, unsigned n)
{
    buf_printf(out, "\x1b[38;2;%u;%u;%umx", n >> 16 & 255, n >> 8 & 255, n & 255);
}

static void
put_link(struct buf *out, unsigned n)
{
    buf_printf(out, "\x1b]8;;http://example.org/%u\ax\x1b]8;;\a", n);
}

static void
put_cluster(struct buf *out, unsigned n)
{
    static const char *const marks[] = { "\u0300", "\u0301", "\u0302", "\u0303" };
    buf_puts(out, "a");
    for (unsigned i = 0; i < 10; i++)
        buf_puts(out, marks[n >> 2 * i & 3]);
}

static void (*const puts_one[])(struct buf *, unsigned) = { put_style, put_link,
                                                            put_cluster };

static size_t
overwrite(struct subject *s, size_t kind, unsigned first, unsigned last)
{
    struct buf text = { 0 };
    for (unsigned n = first; n < last; n++) {
        buf_clear(&text);
        buf_printf(&text, "\x1b[%u;%uH", 1 + n % 24, 1 + n / 24 % 80);
        puts_one[kind](&text, n);
        subject_feed(s, text.p, text.n);
    }
    buf_release(&text);
    return subject_cost(s);
}

static void
what_is_overwritten_is_given_back(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < 3; kind++) {
        struct term_options opt = subject_options(1000);
        struct subject s;
        subject_init(&s, &opt);
        size_t some = overwrite(&s, kind, 0, 50000);
        size_t more = overwrite(&s, kind, 50000, 150000);
        assert_in_range(some, 1, 16 * MIB);
        assert_in_range(more, 0, some + some / 2 + 256 * KIB);
        struct term_cell cell;
        term_cell_at(s.t, 149999 % 24, 149999 / 24 % 80, &cell);
        if (kind == 0)
            assert_int_equal(cell.style.fg, TERM_COLOUR(TERM_COLOUR_RGB, 149999));
        if (kind == 1)
            assert_string_equal(term_link_uri(s.t, cell.style.link),
                                "http://example.org/149999");
        if (kind == 2)
            assert_int_equal(cell.text.n, 21);
        subject_check_alive(&s);
        subject_release(&s);
    }
}

/* More styles, links and clusters alive than fit into 16 bits. */
static void
what_is_in_the_scrollback_stays_exact(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    for (size_t kind = 0; kind < 3; kind++) {
        struct term_options opt = subject_options(COUNT);
        struct subject s;
        struct buf text = { 0 };
        struct term_line line = { 0 };
        subject_init(&s, &opt);
        for (unsigned n = 0; n < COUNT; n++) {
            buf_clear(&text);
            puts_one[kind](&text, n);
            buf_puts(&text, "\r\n");
            subject_feed(&s, text.p, text.n);
        }
        subject_check_cost(&s, (size_t)COUNT * 400, "scrollback");
        for (unsigned n = 1; n < COUNT; n += 7) {
            char uri[64];
            assert_int_equal(term_line_at(s.t, n, &line), 0);
            snprintf(uri, sizeof(uri), "http://example.org/%u", n);
            if (kind < 2)
                assert_int_equal(line.n_spans, 1);
            if (kind == 0)
                assert_int_equal(line.spans[0].style.fg, TERM_COLOUR(TERM_COLOUR_RGB, n));
            if (kind == 1)
                assert_string_equal(line.spans[0].uri, uri);
            if (kind == 2)
                assert_int_equal(line.text.n, 21);
        }
        term_line_release(&line);
        buf_release(&text);
        subject_release(&s);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_of_any_size_do_no_harm_to_any_sequence),
        cmocka_unit_test(floods_of_huge_counts_end),
        cmocka_unit_test(a_csi_of_64_kib_is_passed_over),
        cmocka_unit_test(strings_without_end_cost_no_memory),
        cmocka_unit_test(stacks_and_lists_have_ceilings),
        cmocka_unit_test(a_cell_takes_a_million_marks_and_keeps_its_ceiling),
        cmocka_unit_test(what_is_overwritten_is_given_back),
        cmocka_unit_test(what_is_in_the_scrollback_stays_exact),
    };
    return cmocka_run_group_tests_name("limits", tests, NULL, NULL);
}
