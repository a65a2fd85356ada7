/* SPDX-License-Identifier: MIT */
/*
 * picture_test.c -- a model as bytes: diff, serialise and snapshot, on streams like those
 * of real programs. (The fuzz targets hold the same against anything.)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "fuzz/term_input.h"
#include "support/term_check.h"
#include "support/term_corpus.h"

enum { COLS = TERM_CORPUS_COLS, ROWS = TERM_CORPUS_ROWS, STREAM = 60000, STEP = 2000 };

static void
feed_text(struct term *t, const char *text)
{
    term_feed(t, text, strlen(text), 0);
}

static void
assert_same_look(const struct term *a, const struct term *b)
{
    AUTO(buf) x = { 0 };
    AUTO(buf) y = { 0 };
    term_input_look(&x, a);
    term_input_look(&y, b);
    term_input_same("look", &x, &y);
}

/* -- diff -- */

/* How many bytes it takes for `screen`, which shows `old`, to show `now`. */
static size_t
show(struct term *screen, const struct term *old, const struct term *now)
{
    AUTO(buf) bytes = { 0 };
    assert_int_equal(term_diff(old, now, &bytes), 0);
    term_feed(screen, bytes.p, bytes.n, 0);
    assert_same_look(now, screen);
    return bytes.n;
}

static struct term *
copy_of(struct term *t)
{
    AUTO(buf) bytes = { 0 };
    struct term_options opt = term_options_default();
    struct term *copy;
    struct err err;
    assert_int_equal(term_snapshot(t, true, &bytes), 0);
    assert_int_equal(term_restore((struct view){ bytes.p, bytes.n }, &opt, &copy, &err),
                     0);
    return copy;
}

static void
a_screen_follows_a_program_by_differences(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < TERM_CORPORA; kind++) {
        AUTO(buf) stream = { 0 };
        term_corpus(&stream, (enum term_corpus_kind)kind, STREAM, 7);
        struct term *now = term_check_new(COLS, ROWS),
                    *screen = term_check_new(COLS, ROWS);
        struct term *old = NULL;
        for (size_t at = 0; at < stream.n; at += STEP) {
            size_t n = stream.n - at < STEP ? stream.n - at : STEP;
            term_feed(now, stream.p + at, n, at);
            show(screen, old, now);
            term_free(old);
            old = copy_of(now);
        }
        term_free(old);
        term_free(now);
        term_free(screen);
    }
}

/* A full screen; what then changes and how much may be written for it. */
static void
a_small_change_takes_few_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *change;
        size_t most;
    } cases[] = {
        { "", 0 },
        { "\x1b[10;20Hx", 9 },                  /* go there, write it */
        { "\x1b[10;20H\x1b[31mred\x1b[m", 24 }, /* with a colour and back */
        { "\x1b[5;1H\x1b[K", 12 },
        { "\x1b[H", 3 },                       /* the cursor alone */
        { "\x1b[40;1H\r\none more line", 40 }, /* scrolls */
        { "\x1b[?25l", 6 },
        { "\x1b[2J", 40 * 8 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct term *now = term_check_new(COLS, ROWS),
                    *screen = term_check_new(COLS, ROWS);
        AUTO(buf) stream = { 0 };
        term_corpus(&stream, TERM_CORPUS_BUILD_LOG, 8000, 3);
        term_feed(now, stream.p, stream.n, 0);
        show(screen, NULL, now);
        struct term *old = copy_of(now);
        feed_text(now, cases[i].change);
        assert_in_range(show(screen, old, now), 0, cases[i].most);
        term_free(old);
        term_free(now);
        term_free(screen);
    }
}

static void
sizes_that_differ_mean_a_repaint(void **state)
{
    (void)state;
    struct term *small = term_check_new(10, 3), *large = term_check_new(20, 6);
    struct term *screen = term_check_new(10, 3);
    AUTO(buf) bytes = { 0 };
    feed_text(small, "old\r\nold");
    feed_text(screen, "old\r\nold");
    feed_text(large, "0123456789abcdef\r\n\r\n\r\n\r\nlast");
    assert_int_equal(term_diff(small, large, &bytes), 0);
    term_feed(screen, bytes.p, bytes.n, 0);
    struct term_line line = { 0 };
    assert_int_equal(term_line_at(screen, 0, &line), 0);
    assert_string_equal(buf_str(&line.text), "0123456789");
    assert_int_equal(term_line_at(screen, 1, &line), 0);
    assert_string_equal(buf_str(&line.text), "");
    assert_int_equal(term_scrollback_count(screen), 0);
    term_line_release(&line);
    term_free(small);
    term_free(large);
    term_free(screen);
}

/* A program goes on as if nothing had been between. */
static void
what_is_handed_over_goes_on(void **state)
{
    (void)state;
    static const struct {
        const char *before, *next;
    } cases[] = {
        { "0123456789", "x" },
        { "\x1b[1;31m0123456789", "x\r\ny" },
        { "ab\x1b[4;38;5;200m", "x" },
        { "01234567\xe4\xb8\x96", "x" }, /* a wide one at the end */
        { "\x1b]8;;http://a\x1b\\0123456789", "x\x1b]8;;\x1b\\y" },
        { "\x1b[32m0123456789\x1b[m", "x" },
        { "0123456789\x1b[10G", "x" }, /* at the last column, and no wrap is pending */
        { "", "x" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct term *now = term_check_new(10, 4), *screen = term_check_new(10, 4);
        AUTO(buf) bytes = { 0 };
        feed_text(now, cases[i].before);
        feed_text(screen, "something else\x1b[2J\x1b[H");
        assert_int_equal(term_diff(NULL, now, &bytes), 0);
        assert_int_equal(term_hand_over(now, &bytes), 0);
        term_feed(screen, bytes.p, bytes.n, 0);
        assert_same_look(now, screen);
        feed_text(now, cases[i].next);
        feed_text(screen, cases[i].next);
        assert_same_look(now, screen);
        term_free(now);
        term_free(screen);
    }
}

/* -- serialise -- */

static void
what_was_serialised_comes_back(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < TERM_CORPORA; kind++) {
        AUTO(buf) stream = { 0 };
        AUTO(buf) bytes = { 0 };
        AUTO(buf) x = { 0 };
        AUTO(buf) y = { 0 };
        term_corpus(&stream, (enum term_corpus_kind)kind, STREAM, 11);
        struct term *t = term_check_new(COLS, ROWS), *copy = term_check_new(COLS, ROWS);
        term_feed(t, stream.p, stream.n, 0);
        feed_text(t, "\x1b[3g\x1b[1;20H\x1bH\x1b]2;title\a\x1b[5;30r\x1b[?6;2004h\x1b[4h"
                     "\x1b[3;7H\x1b[1;35m\x1b(0");
        assert_int_equal(term_serialise(t, true, &bytes), 0);
        term_feed(copy, bytes.p, bytes.n, 0);
        assert_same_look(t, copy);
        term_input_lines(&x, t);
        term_input_lines(&y, copy);
        term_input_same("lines", &x, &y);
        /* What comes next does the same to both: tabs, margins, modes, pen, charset. */
        static const char next[] = "qx\r\t|\x1b[30;1Hlast\n\x1b[2;2H\x1b[Lin\x1b[u+";
        feed_text(t, next);
        feed_text(copy, next);
        assert_same_look(t, copy);
        term_free(t);
        term_free(copy);
    }
}

/* -- snapshot -- */

static void
a_restored_model_goes_on_as_the_first_would(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < TERM_CORPORA; kind++) {
        AUTO(buf) stream = { 0 };
        AUTO(buf) why = { 0 };
        term_corpus(&stream, (enum term_corpus_kind)kind, STREAM, 5);
        struct term *t = term_check_new(COLS, ROWS);
        /* Not at the border of an operation. */
        size_t half = stream.n / 2 + kind;
        term_feed(t, stream.p, half, 0);
        struct term *copy = copy_of(t);
        term_feed(t, stream.p + half, stream.n - half, half);
        term_feed(copy, stream.p + half, stream.n - half, half);
        term_damage_clear(t);
        term_damage_clear(copy);
        if (!term_check_same(t, copy, &why))
            fail_msg("%s: %s", term_corpus_name((enum term_corpus_kind)kind),
                     buf_str(&why));
        term_free(t);
        term_free(copy);
    }
}

static void
without_scrollback_a_snapshot_is_small_and_counts_the_rows(void **state)
{
    (void)state;
    AUTO(buf) stream = { 0 };
    AUTO(buf) bytes = { 0 };
    struct term *t = term_check_new(COLS, ROWS), *copy;
    struct term_options opt = term_options_default();
    struct err err;
    term_corpus(&stream, TERM_CORPUS_BUILD_LOG, 2000000, 5);
    term_feed(t, stream.p, stream.n, 0);
    uint64_t rows = term_scrollback_count(t);
    assert_int_equal(term_snapshot(t, false, &bytes), 0);
    assert_in_range(bytes.n, ROWS, 8000);
    assert_int_equal(term_restore((struct view){ bytes.p, bytes.n }, &opt, &copy, &err),
                     0);
    assert_int_equal(term_scrollback_count(copy), 0);
    assert_int_equal(term_scrollback_dropped(copy), rows);
    assert_same_look(t, copy);
    term_free(copy);
    term_free(t);
}

static void
a_cut_snapshot_is_refused_and_a_flipped_one_does_no_harm(void **state)
{
    (void)state;
    AUTO(buf) bytes = { 0 };
    struct term *t = term_check_new(20, 5), *copy;
    struct term_options opt = term_options_default();
    struct err err;
    feed_text(
        t,
        "1\r\n2\r\n3\r\n4\r\n\x1b]8;;http://x\a\x1b[1;38;2;1;2;3mlink\x1b]8;;\a \xe6\xbc"
        "\xa2 e\xcc\x81\r\n5\r\n6\x1b]133;A\a\x1b[?1049halt\x1b]2;ti");
    assert_int_equal(term_snapshot(t, true, &bytes), 0);
    for (size_t n = 0; n < bytes.n; n++) {
        assert_int_equal(term_restore((struct view){ bytes.p, n }, &opt, &copy, &err),
                         ERR_DAMAGED);
        assert_non_null(strstr(err.text, "snapshot"));
    }
    for (size_t bit = 0; bit < bytes.n * 8; bit++) {
        bytes.p[bit / 8] ^= (uint8_t)(1U << bit % 8);
        if (!term_restore((struct view){ bytes.p, bytes.n }, &opt, &copy, &err)) {
            feed_text(copy,
                      "\x1b\\x\x1b[?1049l\x1b[H\x1b[5L\r\nwide \xe6\xbc\xa2\x1b[99b");
            term_resize(copy, 7, 3);
            term_resize(copy, 30, 9);
            term_free(copy);
        }
        bytes.p[bit / 8] ^= (uint8_t)(1U << bit % 8);
    }
    term_free(t);
}

/* -- everything at once -- */

/* A state with something in every corner, left in the middle of a CSI. */
static const char rich[] =
    "one\r\ntwo\r\nthree\r\nfour\r\nfive\r\nsix wraps over the edge of it\r\n"
    "\x1b]4;1;#123456\a\x1b]10;#abcdef\a\x1b]2;first\a\x1b[22;0t\x1b]2;second\a\x1b]1;"
    "icon\a"
    "\x1b[=5;1u\x1b[>3u\x1b[3g\x1b[1;5H\x1bH\x1b[1;11H\x1bH"
    "\x1b[?1000;1006;1004;2004;12;45h\x1b[?2004s\x1b[?2004l\x1b[20h\x1b[4 q"
    "\x1b]8;;http://saved/\a\x1b[1\"q\x1b[1;4:3;58:2::1:2:3m\x1b[2;3H\x1b*0\x1b"
    "7"
    "\x1b[0\"q\x1b[m\x1b]8;;http://one/\alink\x1b]8;;\a \xd8\x80 \xe6\xbc\xa2 e\xcc\x81 "
    "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7"
    "\x1b]133;A\a\x1b[?1049h\x1b[>7u\x1b[>9ualternate\r\n\x1b[41mred\x1b[?1049l"
    "\x1b[2;4r\x1b[?69h\x1b[3;18s\x1b[?6h\x1b[2;2H\x1b[38:5:99m";

static void
check_colours(const struct term *a, const struct term *b)
{
    for (unsigned i = 0; i <= TERM_COLOUR_CURSOR; i++) {
        uint32_t x = 0, y = 0;
        assert_int_equal(term_colour(a, i, &x), term_colour(b, i, &y));
        assert_int_equal(x, y);
    }
}

/* What only later input shows: tabs, saved cursors, stacks, saved modes, charsets. */
static const char reveal[] = "\ta\tb\x1b[?2004r\x1b[b\x1b"
                             "8X\x1bNq\x1b[<u\x1b[23t\n\x1b[?6l\x1b[4;1Hx\nY"
                             "\x1b[?47h\x1b[<u\x1b[?J";

static void
a_rich_state_comes_back_by_serialise(void **state)
{
    (void)state;
    struct term *t = term_check_new(20, 5), *copy = term_check_new(20, 5);
    AUTO(buf) bytes = { 0 };
    AUTO(buf) x = { 0 };
    AUTO(buf) y = { 0 };
    feed_text(t, rich);
    assert_int_equal(term_serialise(t, true, &bytes), 0);
    term_feed(copy, bytes.p, bytes.n, 0);
    check_colours(t, copy);
    for (int round = 0; round < 2; round++) {
        assert_same_look(t, copy);
        buf_clear(&x);
        buf_clear(&y);
        term_input_lines(&x, t);
        term_input_lines(&y, copy);
        term_input_same("lines", &x, &y);
        /* XTSAVE is not in it, and what REP repeats. */
        const char *later = strstr(reveal, "\x1b"
                                           "8X");
        feed_text(t, later);
        feed_text(copy, later);
    }
    term_free(t);
    term_free(copy);
}

static void
a_rich_state_comes_back_by_snapshot(void **state)
{
    (void)state;
    /* In the middle of a sequence, of a flag, of a character, of a long string. */
    static const char *const middles[] = { "", "\x1b[38:2", "\xf0\x9f\x87\xa9",
                                           "\xe6\xbc", "\x1b]2;half" };
    static const char *const ends[] = { "", "::9:8:7mz", "\xf0\x9f\x87\xaa!", "\xa2!",
                                        " a title\a" };
    for (size_t i = 0; i < sizeof(middles) / sizeof(middles[0]); i++) {
        struct term *t = term_check_new(20, 5);
        AUTO(buf) why = { 0 };
        feed_text(t, rich);
        feed_text(t, middles[i]);
        struct term *copy = copy_of(t);
        term_damage_clear(t);
        term_damage_clear(copy);
        if (!term_check_same(t, copy, &why))
            fail_msg("%s", buf_str(&why));
        feed_text(t, ends[i]);
        feed_text(copy, ends[i]);
        feed_text(t, reveal);
        feed_text(copy, reveal);
        if (!term_check_same(t, copy, &why))
            fail_msg("%s", buf_str(&why));
        term_free(t);
        term_free(copy);
    }
}

static void
a_string_too_long_stays_so_when_restored(void **state)
{
    (void)state;
    struct term *t = term_check_new(20, 5);
    char many[1024];
    memset(many, 'x', sizeof(many));
    feed_text(t, "\x1b]2;short\a\x1b]2;");
    for (int i = 0; i < 40; i++)
        term_feed(t, many, sizeof(many), 0);
    struct term *copy = copy_of(t);
    for (int i = 0; i < 40; i++)
        term_feed(copy, many, sizeof(many), 0);
    struct term *again = copy_of(copy);
    feed_text(again, "\a");
    assert_string_equal(term_title(again), "short");
    term_free(t);
    term_free(copy);
    term_free(again);
}

/* -- reflow -- */

/* Lines only, no cursor addressing: then it must be as if printed at that width. */
static void
a_changed_width_is_as_if_printed_so(void **state)
{
    (void)state;
    static const enum term_corpus_kind kinds[] = { TERM_CORPUS_BUILD_LOG, TERM_CORPUS_CJK,
                                                   TERM_CORPUS_TRUECOLOR };
    static const unsigned widths[] = { 37, 120, 61, 200, 80 };
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        AUTO(buf) stream = { 0 };
        term_corpus(&stream, kinds[k], 1000000, 13);
        struct term *t = term_check_new(120, 10), *narrow = term_check_new(80, 10);
        term_feed(t, stream.p, stream.n, 0);
        term_feed(narrow, stream.p, stream.n, 0);
        for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++)
            term_resize(t, widths[i], 10);
        assert_int_equal(term_scrollback_count(t), term_scrollback_count(narrow));
        struct term_line a = { 0 }, b = { 0 };
        for (size_t i = 0; i < term_scrollback_count(t) + 10; i++) {
            assert_int_equal(term_line_at(t, i, &a), 0);
            assert_int_equal(term_line_at(narrow, i, &b), 0);
            assert_string_equal(buf_str(&a.text), buf_str(&b.text));
            assert_int_equal(a.is_wrapped, b.is_wrapped);
            assert_true(a.last_write_byte >= b.last_write_byte);
        }
        term_line_release(&a);
        term_line_release(&b);
        term_free(t);
        term_free(narrow);
    }
}

static void
a_screen_heavier_than_the_ceiling_survives_a_resize(void **state)
{
    (void)state;
    struct term_options opt = term_options_default();
    opt.cols = 300;
    opt.rows = 100;
    opt.scrollback_rows = 0;
    struct term *t = term_new(&opt);
    assert_non_null(t);
    /* Each cell is a cluster of its own, 100 bytes and more. */
    for (unsigned i = 0; i < opt.cols * opt.rows; i++) {
        char cell[160];
        size_t n = (size_t)snprintf(cell, sizeof(cell), "%c", 'a' + (char)(i % 26));
        for (unsigned k = 0; k < 60; k++) {
            cell[n++] = (char)0xcc;
            cell[n++] = (char)(0x80 + (i >> (k % 16) & 1));
        }
        term_feed(t, cell, n, 0);
    }
    feed_text(t, "\x1b[H");
    term_resize(t, 299, 100);
    term_resize(t, 300, 99);
    struct term_line line = { 0 };
    assert_int_equal(term_line_at(t, 0, &line), 0);
    assert_true(line.text.n > 100);
    assert_int_equal(term_error(t), 0);
    term_line_release(&line);
    term_free(t);
}

static void
links_outlive_changes_of_height(void **state)
{
    (void)state;
    struct term *t = term_check_new(80, 24);
    struct term_cell cell;
    for (unsigned k = 0; k < 60; k++) {
        feed_text(t, "\x1b[H");
        for (unsigned i = 0; i < 80 * 24; i++) {
            char text[64];
            snprintf(text, sizeof(text), "\x1b[58;2;%u;%u;%umx", k, i / 256, i % 256);
            feed_text(t, text);
        }
        feed_text(t, "\x1b[10;1H\x1b]8;;http://x/\alink\x1b]8;;\a");
        term_resize(t, 80, 23 + k % 2);
    }
    term_cell_at(t, 3, 3, &cell);
    assert_int_not_equal(cell.style.underline_colour, 0);
    term_free(t);
}

static void
links_by_the_thousand_are_serialised(void **state)
{
    (void)state;
    enum { LINKS = 40000 };
    struct term *t = term_check_new(20, 5);
    AUTO(buf) bytes = { 0 };
    for (unsigned i = 0; i < LINKS; i++) {
        char text[64];
        snprintf(text, sizeof(text), "\x1b]8;;http://x/%u\alink\x1b]8;;\a\r\n", i);
        feed_text(t, text);
    }
    assert_int_equal(term_serialise(t, true, &bytes), 0);
    size_t count = 0;
    for (const char *p = buf_str(&bytes); (p = strstr(p, "http://x/")); p++)
        count++;
    assert_int_equal(count, LINKS);
    term_free(t);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_screen_follows_a_program_by_differences),
        cmocka_unit_test(a_small_change_takes_few_bytes),
        cmocka_unit_test(sizes_that_differ_mean_a_repaint),
        cmocka_unit_test(what_is_handed_over_goes_on),
        cmocka_unit_test(what_was_serialised_comes_back),
        cmocka_unit_test(a_restored_model_goes_on_as_the_first_would),
        cmocka_unit_test(without_scrollback_a_snapshot_is_small_and_counts_the_rows),
        cmocka_unit_test(a_cut_snapshot_is_refused_and_a_flipped_one_does_no_harm),
        cmocka_unit_test(a_rich_state_comes_back_by_serialise),
        cmocka_unit_test(a_rich_state_comes_back_by_snapshot),
        cmocka_unit_test(a_string_too_long_stays_so_when_restored),
        cmocka_unit_test(a_changed_width_is_as_if_printed_so),
        cmocka_unit_test(a_screen_heavier_than_the_ceiling_survives_a_resize),
        cmocka_unit_test(links_outlive_changes_of_height),
        cmocka_unit_test(links_by_the_thousand_are_serialised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
