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

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_screen_follows_a_program_by_differences),
        cmocka_unit_test(a_small_change_takes_few_bytes),
        cmocka_unit_test(sizes_that_differ_mean_a_repaint),
        cmocka_unit_test(what_was_serialised_comes_back),
        cmocka_unit_test(a_restored_model_goes_on_as_the_first_would),
        cmocka_unit_test(without_scrollback_a_snapshot_is_small_and_counts_the_rows),
        cmocka_unit_test(a_cut_snapshot_is_refused_and_a_flipped_one_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
