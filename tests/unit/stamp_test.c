/* SPDX-License-Identifier: MIT */
/*
 * stamp_test.c -- last_write_byte: which byte wrote a row last.
 *
 * The referee is brute force: a model fed one byte at a time, its rows looked at before
 * and after each. A row is known by its line number since the beginning; so the streams
 * of brute force scroll the whole screen upwards and in no other way, and in the default
 * background, in which the row that comes in is blank.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/rng.h"
#include "support/term_check.h"
#include "support/term_corpus.h"
#include "term/dump.h"

enum { STREAMS = 400, BASE = 5000 };

/* -- streams -- */

struct stream {
    struct buf bytes;
    uint32_t rng;
    unsigned cols, rows;
    unsigned writes; /* so far; each has a colour of its own */
    unsigned
        width; /* of the characters; 0: both. With 2, the cursor is on even columns */
};

static unsigned
below(struct stream *s, unsigned n)
{
    return rng_below(&s->rng, n);
}

/* CSI n and one of the finals. */
static void
csi(struct stream *s, unsigned n, const char *finals)
{
    buf_printf(&s->bytes, "\x1b[%u%c", n, finals[below(s, (unsigned)strlen(finals))]);
}

static void
letter(struct stream *s)
{
    buf_printf(&s->bytes, "%c", (int)('a' + below(s, 3)));
    if (below(s, 8) == 0)
        buf_puts(&s->bytes, "\u0301");
}

static void
text(struct stream *s)
{
    static const char *const wide[] = { "終", "端", "字", "한" };
    for (unsigned n = 1 + below(s, below(s, 4) ? 5 : 2 * s->cols); n; n--) {
        if (s->width != 1 && below(s, s->width == 2 ? 2 : 5) == 0) {
            buf_puts(&s->bytes, wide[below(s, 4)]);
            continue;
        }
        letter(s);
        if (s->width == 2)
            letter(s);
    }
}

static unsigned
column(struct stream *s)
{
    return s->width == 2 ? 1 + 2 * below(s, s->cols / 2) : 1 + below(s, s->cols);
}

/* Behind a pending wrap there is nothing to erase; what forgets one leaves the cursor on
 * the last column, an odd one. */
static void
settle(struct stream *s)
{
    if (s->width)
        buf_printf(&s->bytes, "\x1b[%uG", column(s));
}

static void
move(struct stream *s)
{
    unsigned kind = below(s, 6);
    if (kind < 2) {
        buf_puts(&s->bytes, "\r");
    } else if (kind == 2) {
        buf_puts(&s->bytes, below(s, 2) ? "\r\n" : "\n");
    } else if (kind == 3) {
        csi(s, 1 + below(s, s->rows), "A");
    } else if (kind == 4) {
        csi(s, column(s), s->width == 2 ? "G" : "CDG");
    } else {
        buf_printf(&s->bytes, "\x1b[%u;", 1 + below(s, s->rows));
        buf_printf(&s->bytes, "%uH", column(s));
    }
    settle(s);
}

static void
erase(struct stream *s)
{
    settle(s);
    switch (below(s, 6)) {
    case 0:
        buf_printf(&s->bytes, "\x1b[%uX", 1 + below(s, s->cols));
        break;
    case 1:
        buf_printf(&s->bytes, "\x1b[%uJ", below(s, 3));
        break;
    default:
        buf_printf(&s->bytes, "\x1b[%uK", below(s, 3));
        break;
    }
}

/* What agents do: write, go back, write the same or something else over it. */
static void
churn(struct stream *s)
{
    static const char *const emoji[] = { "👩\u200d👧", "🇩🇪🇯", "❤\ufe0f", "👍🏽" };
    switch (below(s, 10)) {
    case 0:
        buf_printf(&s->bytes, "\x1b[%um", 31 + below(s, 3));
        break;
    case 1:
        csi(s, 1 + below(s, 3), "@P");
        break;
    case 2:
        erase(s);
        break;
    case 3:
        buf_printf(&s->bytes, "\x1b[%um", 41 + below(s, 3));
        erase(s);
        buf_puts(&s->bytes, "\x1b[49m");
        break;
    case 4:
        buf_puts(&s->bytes, below(s, 3) ? "\t" : emoji[below(s, 4)]);
        break;
    case 5:
    case 6:
    case 7:
        move(s);
        break;
    default:
        text(s);
        break;
    }
}

/*
 * Each write in a colour that was not there before: it cannot but be seen. That leaves
 * out a wide character that finds one column free: it writes a blank there before it
 * wraps.
 */
static void
visible(struct stream *s)
{
    unsigned n = ++s->writes;
    switch (below(s, 8)) {
    case 0:
        buf_printf(&s->bytes, "\x1b[48;2;1;%u;%um", n >> 8, n & 255);
        erase(s);
        buf_puts(&s->bytes, "\x1b[49m");
        break;
    case 1:
    case 2:
    case 3:
    case 4:
        move(s);
        break;
    default:
        buf_printf(&s->bytes, "\x1b[38;2;1;%u;%um", n >> 8, n & 255);
        text(s);
        break;
    }
}

/* Bytes that are hardly ever in order. */
static void
noise(struct stream *s)
{
    static const char *const pieces[] = { "\x1b[", "\x1b]",    "\x1bP", "\x1b\\", ";",
                                          "?",     "1049h",    "1049l", "5;9r",   "\x1bM",
                                          "3S",    "2L",       "M",     "\x9b",   "\a",
                                          "8;;u",  "\xe4\xb8", "世",    "\u200d", "8;;" };
    if (below(s, 3))
        churn(s);
    else if (below(s, 2))
        buf_puts(&s->bytes, pieces[below(s, sizeof(pieces) / sizeof(pieces[0]))]);
    else
        buf_printf(&s->bytes, "%c", (int)(1 + below(s, 255)));
}

static void
stream_init(struct stream *s, uint32_t seed, void (*next)(struct stream *))
{
    *s = (struct stream){ .rng = rng_seed(seed) };
    s->width = next == visible ? 1 + seed / 2 % 2 : 0;
    s->cols = s->width == 2 ? 2 * (1 + below(s, 15)) : 1 + below(s, 30);
    s->rows = 1 + below(s, 8);
    for (unsigned n = 20 + below(s, 200); n; n--)
        next(s);
}

static struct view
stream_view(const struct stream *s)
{
    return (struct view){ s->bytes.p, s->bytes.n };
}

/* -- brute force -- */

static struct term *
new_term(const struct stream *s, uint32_t scrollback_rows)
{
    struct term_options opt = term_options_default();
    opt.cols = s->cols;
    opt.rows = s->rows;
    opt.scrollback_rows = scrollback_rows;
    struct term *t = term_new(&opt);
    assert_non_null(t);
    return t;
}

struct seen {
    uint64_t look;  /* term_check_row() */
    uint64_t stamp; /* behind the byte that changed it last; 0: it never changed */
};

/* By line number since the beginning. */
static struct seen *
brute_force(const struct stream *s, uint32_t scrollback_rows)
{
    /* No byte makes more than one line. */
    struct seen *seen = calloc(s->bytes.n + s->rows + 1, sizeof(seen[0]));
    struct term *t = new_term(s, scrollback_rows);
    assert_non_null(seen);
    for (size_t i = 0; i < s->bytes.n; i++) {
        term_feed(t, s->bytes.p + i, 1, BASE + i);
        uint64_t first = term_scrollback_dropped(t) + term_scrollback_count(t);
        for (unsigned row = 0; row < s->rows; row++) {
            uint64_t look = term_check_row(t, row);
            if (look != seen[first + row].look)
                seen[first + row] = (struct seen){ look, BASE + i + 1 };
        }
    }
    term_free(t);
    return seen;
}

/* How many lines have another stamp than the change that was seen last; false stamps,
 * from before it, end the test. */
static unsigned
count_later(uint32_t seed, void (*next)(struct stream *), unsigned *ret_changed)
{
    struct stream s;
    struct term_line line = { 0 };
    unsigned later = 0;
    stream_init(&s, seed, next);
    uint32_t scrollback_rows = seed % 2 ? 3 : 100000;
    struct seen *seen = brute_force(&s, scrollback_rows);
    struct term *t = new_term(&s, scrollback_rows);
    term_feed(t, s.bytes.p, s.bytes.n, BASE);
    uint64_t dropped = term_scrollback_dropped(t);
    for (size_t i = 0; i < term_scrollback_count(t) + s.rows; i++) {
        uint64_t stamp = seen[dropped + i].stamp;
        assert_int_equal(term_line_at(t, i, &line), 0);
        if (line.last_write_byte < stamp ||
            (next == visible && stamp != 0 && line.last_write_byte != stamp)) {
            struct buf bytes = { 0 };
            dump_quoted(&bytes, stream_view(&s));
            fprintf(stderr,
                    "seed %u, %ux%u, line %zu: stamp %" PRIu64 ", changed at %" PRIu64
                    " (offsets from %d)\n  feed %s\n",
                    seed, s.cols, s.rows, i, line.last_write_byte, stamp, BASE,
                    buf_str(&bytes));
            fail();
        }
        *ret_changed += stamp != 0;
        later += stamp != 0 && line.last_write_byte != stamp;
    }
    term_line_release(&line);
    term_free(t);
    free(seen);
    buf_release(&s.bytes);
    return later;
}

static void
no_stamp_is_older_than_the_last_change(void **state)
{
    (void)state;
    unsigned later = 0, changed = 0;
    for (uint32_t seed = 1; seed <= STREAMS; seed++)
        later += count_later(seed, churn, &changed);
    assert_true(changed > STREAMS);
    /* Writes that nobody sees are there, but few: a third of the letters, at most. */
    assert_in_range(later, 1, changed / 2);
}

static void
a_write_that_shows_is_the_stamp(void **state)
{
    (void)state;
    unsigned changed = 0;
    for (uint32_t seed = 1; seed <= STREAMS; seed++)
        assert_int_equal(count_later(seed, visible, &changed), 0);
    assert_true(changed > STREAMS);
}

/* -- what the definition says -- */

static const struct {
    const char *bytes;
    unsigned cols, rows;
    uint64_t stamps[4]; /* of the screen's rows, offsets from 0 */
} cases[] = {
    { "ab\r", 8, 2, { 2 } },
    { "ab\rab", 8, 2, { 5 } },
    { "ab\r\n\x1b[K", 8, 2, { 2, 7 } },
    { "ab\x1b[31m\x1b[2;2H\t\b\x1b[A", 8, 2, { 2 } },
    { "a\r\nb\r\n\x1b[2Ac", 8, 3, { 11, 4 } },
    { "a\x1b[2J", 8, 2, { 5, 5 } },
    { "\x1b[2Ha\x1b[1J", 8, 3, { 9, 9 } },
    { "\x1b[2Ha\x1b[J", 8, 3, { 0, 8, 8 } },
    { "世", 8, 2, { 3 } },
    { "e\u0301", 8, 2, { 3 } },
    { "abc\r\x1b[2X", 8, 2, { 8 } },
    { "abc\r\x1b[@", 8, 2, { 7 } },
    { "abc\r\x1b[P", 8, 2, { 7 } },
    { "abcd", 3, 2, { 3, 4 } },
    { "ab世", 3, 2, { 5, 5 } }, /* the column that it leaves is blanked */
    { "a\x1b[3b", 8, 2, { 5 } },
    { "a\x1b[3b", 2, 2, { 5, 5 } },
    { "a\033#8", 8, 2, { 4, 4 } },
    { "a\x1b[?K", 8, 2, { 5 } },
    { "a\x1b[?2J", 8, 2, { 6, 6 } },
    { "abcd\r\nefgh\x1b[?69h\x1b[2;3s\x1b[S", 4, 2, { 25, 25 } }, /* half a row scrolls */
    { "a\r\nb\r\nc", 8, 2, { 4, 7 } },     /* rows keep theirs as they scroll: up, */
    { "a\x1b[H\033M", 8, 2, { 0, 1 } },    /* down, */
    { "a\r\nb\x1b[S", 8, 3, { 4, 0, 0 } }, /* by count, */
    { "a\r\nb\r\nc\x1b[2;3r\x1b[3H\nd", 8, 3, { 1, 7, 19 } }, /* in a region, */
    { "a\r\nb\x1b[H\x1b[M", 8, 2, { 4 } }, /* out of a deleted line's place */
    { "a\x1b[?1049hbc\x1b[?1049ld", 8, 2, { 20 } },
    { "a\r\n\x1b[?1049hbc\x1b[?1049l", 8, 2, { 1 } },
};

static void
a_row_is_stamped_by_what_addresses_its_cells(void **state)
{
    (void)state;
    struct term_line line = { 0 };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct term *t = term_check_new(cases[i].cols, cases[i].rows);
        struct buf bytes = { 0 };
        buf_puts(&bytes, cases[i].bytes);
        term_feed(t, bytes.p, bytes.n, 0);
        for (unsigned row = 0; row < cases[i].rows; row++) {
            assert_int_equal(term_line_at(t, term_scrollback_count(t) + row, &line), 0);
            if (line.last_write_byte == cases[i].stamps[row])
                continue;
            struct buf shown = { 0 };
            dump_quoted(&shown, (struct view){ bytes.p, bytes.n });
            fail_msg("row %u after %s: stamp %" PRIu64 ", not %" PRIu64, row,
                     buf_str(&shown), line.last_write_byte, cases[i].stamps[row]);
        }
        term_free(t);
        buf_release(&bytes);
    }
    term_line_release(&line);
}

static void
wrapping_anew_takes_the_latest_stamp(void **state)
{
    (void)state;
    struct term *t = term_check_new(4, 3);
    struct term_line line = { 0 };
    term_feed(t, "abcdefgh\x1b[H!", 12, 0);
    term_resize(t, 8, 3);
    assert_int_equal(term_line_at(t, term_scrollback_count(t), &line), 0);
    assert_string_equal(buf_str(&line.text), "!bcdefgh");
    assert_int_equal(line.last_write_byte, 12);
    term_resize(t, 4, 3);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(term_line_at(t, term_scrollback_count(t) + i, &line), 0);
        assert_int_equal(line.last_write_byte, 12);
    }
    term_line_release(&line);
    term_free(t);
}

/* -- cuts -- */

static void
check_cuts(struct view bytes, unsigned cols, unsigned rows, uint32_t seed)
{
    static const size_t most[] = { 1, 2, 7, 100 };
    uint32_t rng = rng_seed(seed);
    struct term *whole = term_check_new(cols, rows);
    struct buf why = { 0 };
    term_feed(whole, bytes.p, bytes.n, BASE);
    for (size_t i = 0; i < sizeof(most) / sizeof(most[0]); i++) {
        struct term *cut = term_check_new(cols, rows);
        term_check_feed(cut, bytes, BASE, most[i], &rng);
        if (!term_check_same(whole, cut, &why)) {
            struct buf shown = { 0 };
            struct view v = { bytes.p, bytes.n < 4000 ? bytes.n : 4000 };
            dump_quoted(&shown, v);
            fprintf(stderr, "seed %u, %ux%u, pieces of at most %zu: %s  feed %s\n", seed,
                    cols, rows, most[i], buf_str(&why), buf_str(&shown));
            fail();
        }
        term_free(cut);
    }
    buf_release(&why);
    term_free(whole);
}

static void
however_streams_are_cut_all_is_the_same(void **state)
{
    (void)state;
    static void (*const kinds[])(struct stream *) = { churn, visible, noise };
    for (uint32_t seed = 1; seed <= STREAMS; seed++) {
        struct stream s;
        stream_init(&s, seed, kinds[seed % 3]);
        check_cuts(stream_view(&s), s.cols, s.rows, seed);
        buf_release(&s.bytes);
    }
}

static void
however_programs_output_is_cut_all_is_the_same(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < TERM_CORPORA; kind++) {
        struct buf bytes = { 0 };
        term_corpus(&bytes, (enum term_corpus_kind)kind, 100000, kind);
        struct view v = { bytes.p, bytes.n };
        check_cuts(v, TERM_CORPUS_COLS, TERM_CORPUS_ROWS, kind);
        check_cuts(v, 33, 9, kind);
        buf_release(&bytes);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_stamp_is_older_than_the_last_change),
        cmocka_unit_test(a_write_that_shows_is_the_stamp),
        cmocka_unit_test(a_row_is_stamped_by_what_addresses_its_cells),
        cmocka_unit_test(wrapping_anew_takes_the_latest_stamp),
        cmocka_unit_test(however_streams_are_cut_all_is_the_same),
        cmocka_unit_test(however_programs_output_is_cut_all_is_the_same),
    };
    return cmocka_run_group_tests_name("stamp", tests, NULL, NULL);
}
