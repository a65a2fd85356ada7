/* SPDX-License-Identifier: MIT */
/*
 * redact_layout_test.c -- a masked terminal stream, shown: every cell that is not masked
 * and the cursor are where they were.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/redact_kit.h"
#include "support/rng.h"
#include "term/term.h"

static bool
is_text(const struct term_cell *c, const char *text)
{
    return c->text.n == strlen(text) && !memcmp(c->text.p, text, c->text.n);
}

/* Whether the masked cell is the plain one, or a star in its place. */
static bool
is_kept(const struct term_cell *plain, const struct term_cell *masked, size_t *stars)
{
    bool is_wide = is_text(masked, "\uff0a") && plain->width == 2;
    bool is_star = is_wide || (is_text(masked, "*") && !is_text(plain, "*"));
    *stars += is_star ? is_wide + 1U : 0;
    if (memcmp(&plain->style, &masked->style, sizeof(plain->style)) != 0)
        return false;
    return is_star ||
           (plain->text.n == masked->text.n && plain->width == masked->width &&
            (!plain->text.n || !memcmp(plain->text.p, masked->text.p, plain->text.n)));
}

/* Returns how many cells were masked, or -1 with a message. */
static int
compare(const struct term *plain, const struct term *masked, const char *what)
{
    size_t stars = 0;
    for (unsigned row = 0; row < term_rows(plain); row++)
        for (unsigned col = 0; col < term_cols(plain); col++) {
            struct term_cell a, b;
            term_cell_at(plain, row, col, &a);
            term_cell_at(masked, row, col, &b);
            if (is_kept(&a, &b, &stars))
                continue;
            print_error("%s: row %u, column %u: '%.*s' became '%.*s'\n", what, row, col,
                        (int)a.text.n, a.text.p, (int)b.text.n, b.text.p);
            return -1;
        }
    struct term_cursor a = term_cursor(plain), b = term_cursor(masked);
    if (a.row == b.row && a.col == b.col && a.is_wrap_pending == b.is_wrap_pending)
        return (int)stars;
    print_error("%s: the cursor is at %u,%u instead of %u,%u\n", what, b.row, b.col,
                a.row, a.col);
    return -1;
}

/* How many cells are masked on a terminal of that width; the rest must be the same. */
static int
masked_cells(struct redact *r, const char *sample, unsigned cols)
{
    AUTO(buf) in = { 0 };
    AUTO(buf) out = { 0 };
    uint32_t rng = rng_seed(2026);
    struct redact_options opt = {
        .is_terminal = true, .cols = cols, .is_whole = true, .keeps_length = true
    };
    kit_expand(&in, sample, &rng);
    kit_run(r, opt, (struct view){ in.p, in.n }, 5, &out, NULL);
    assert_int_equal(in.n, out.n);
    struct term *plain = kit_shown(&in, cols), *masked = kit_shown(&out, cols);
    int stars = compare(plain, masked, sample);
    term_free(plain);
    term_free(masked);
    return stars;
}

static void
the_layout_stays_at_every_width(void **state)
{
    static const char sample[] = "head \x1b[31m<ghp>\x1b[0m tail\r\nnext line $ ";
    for (unsigned cols = 20; cols <= 90; cols++)
        assert_int_equal(masked_cells(*state, sample, cols), 40);
}

static void
coloured_and_linked_secrets_keep_their_style(void **state)
{
    static const char *const samples[] = {
        "a \x1b[1;31mghp_<alnum*20>\x1b[32m<alnum*16>\x1b[0m b",
        "a \x1b[38;2;9;8;7;48;5;200m<ghp>\x1b[m b",
        "a \x1b]8;;http://e.org\x1b\\<ghp>\x1b]8;;\x1b\\ b",
        "a \x1b[7m<ghp>\x1b[27m\x1b[K b",
    };
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
        for (unsigned cols = 30; cols <= 60; cols += 5)
            assert_int_equal(masked_cells(*state, samples[i], cols), 40);
}

static void
secrets_that_a_program_wrapped_keep_their_lines(void **state)
{
    static const char *const samples[] = {
        "token is ghp_<alnum*27>\r\n<alnum*9> and more\r\n$ ",
        "token is ghp_<alnum*27>\r\n  <alnum*9> and more\r\n$ ",
        "token is ghp_<alnum*27>\x1b[0m\x1b[K\r\n\x1b[33m<alnum*9>\x1b[0m x\r\n$ ",
    };
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
        assert_int_equal(masked_cells(*state, samples[i], 40), 40);
}

static void
passwords_of_any_script_keep_their_columns(void **state)
{
    static const struct {
        const char *what, *password;
        int cells;
    } cases[] = {
        { "Latin", "M\u00fcnchen9!\u00e9\u00df", 11 },
        { "Cyrillic", "\u043f\u0430\u0440\u043e\u043b\u044c7", 7 },
        { "Greek", "\u03ba\u03c9\u03b4\u03b9\u03ba\u03cc\u03c27", 8 },
        { "Chinese", "\u5bc6\u7801\u5f88\u957f9", 9 },
        { "Japanese", "\u30d1\u30b9\u30ef\u30fc\u30c99", 11 },
        { "Korean", "\ube44\ubc00\ubc88\ud6389", 9 },
        { "full width", "\uff30\uff41\uff53\uff539", 9 },
        { "emoji", "cat\U0001f431dog\U0001f4369", 11 },
        { "combining", "cafe\u0301cre\u0300me9", 10 },
        { "typographic", "a\u2013b\u2019c\u20ac9", 7 },
        { "math", "x\U0001d54f9yz7", 6 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        AUTO(buf) sample = { 0 };
        buf_printf(&sample, "DB_PASSWORD='%s' | rest\r\n$ ", cases[i].password);
        int cells = masked_cells(*state, buf_str(&sample), 80);
        if (cells != cases[i].cells)
            print_error("%s\n", cases[i].what);
        assert_int_equal(cells, cases[i].cells);
    }
}

static void
marks_and_joined_emoji_keep_their_columns(void **state)
{
    static const struct {
        const char *what, *password;
    } cases[] = {
        { "Hebrew points", "\u05e9\u05b8\u05dc\u05d5\u05b9\u05dd9a" },
        { "Arabic marks", "\u0643\u064e\u0644\u0650\u0645\u064e9a" },
        { "Devanagari", "\u092a\u093e\u0938\u0935\u0930\u094d\u09219a" },
        { "Thai", "\u0e23\u0e2b\u0e31\u0e2a\u0e1c\u0e48\u0e32\u0e199a" },
        { "enclosing", "a\u20dd9bcd7" },
        { "joined", "x\U0001f468\u200d\U0001f469\u200d\U0001f4679y" },
        { "skin", "x\U0001f44d\U0001f3fd9yz" },
        { "flag", "x\U0001f1e9\U0001f1ea9yz" },
        { "variation", "x\u2764\ufe0f9yz" },
        { "zero width", "a\u200bb9cd7" },
        { "clock", "x\u231a9yz7" },
        { "star", "x\u2b509yz7" },
    };
    int wrong = 0;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        AUTO(buf) sample = { 0 };
        buf_printf(&sample, "DB_PASSWORD='%s' | rest\r\n$ ", cases[i].password);
        if (masked_cells(*state, buf_str(&sample), 80) > 0)
            continue;
        print_error("%s\n", cases[i].what);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

static void
wide_characters_at_the_right_edge_keep_their_place(void **state)
{
    for (unsigned cols = 16; cols <= 40; cols++)
        assert_true(
            masked_cells(*state,
                         "DB_PASSWORD='\u5bc6\u7801\u5f88\u957f\u5bc6\u78019' x\r\n$ ",
                         cols) > 0);
}

static void
nothing_is_masked_on_a_screen_without_secrets(void **state)
{
    static const char sample[] =
        "\x1b[2J\x1b[3;5Hhello\x1b[1;1Htop\x1b[31m red\r\n\tx\b\by";
    assert_int_equal(masked_cells(*state, sample, 40), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_layout_stays_at_every_width),
        cmocka_unit_test(coloured_and_linked_secrets_keep_their_style),
        cmocka_unit_test(secrets_that_a_program_wrapped_keep_their_lines),
        cmocka_unit_test(passwords_of_any_script_keep_their_columns),
        cmocka_unit_test(marks_and_joined_emoji_keep_their_columns),
        cmocka_unit_test(wide_characters_at_the_right_edge_keep_their_place),
        cmocka_unit_test(nothing_is_masked_on_a_screen_without_secrets),
    };
    return cmocka_run_group_tests(tests, kit_open, kit_close);
}
