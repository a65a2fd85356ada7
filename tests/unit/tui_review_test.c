/* SPDX-License-Identifier: MIT */
/* tui_review_test.c -- the keys of less over a session's lines, and what is on the page.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "support/review_kit.h"

enum { LINES = 1000 };

static const struct {
    unsigned cols, rows;
} sizes[] = { { 80, 24 }, { 30, 8 }, { 120, 40 } };

#define EACH_SIZE(i) for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)

static void
begin(struct review_kit *k, size_t size)
{
    review_kit_begin(k, sizes[size].cols, sizes[size].rows, LINES);
}

static void
is_at(struct review_kit *k, uint64_t at, uint64_t top)
{
    review_kit_check(k);
    assert_int_equal(k->r.at, at);
    assert_int_equal(k->r.top, top);
}

static void
is_page(struct review_kit *k, const char *want)
{
    AUTO(buf) room = { 0 };
    assert_string_equal(review_kit_page(k, &room), want);
}

/* -- keys -- */

static void
it_begins_at_the_end_and_follows(void **state)
{
    (void)state;
    EACH_SIZE(i)
    {
        struct review_kit k;
        begin(&k, i);
        is_at(&k, LINES - 1, LINES - sizes[i].rows);
        assert_true(k.r.follows);
        review_kit_end(&k);
    }
}

/* From line 500 at the top: how far each key goes, in lines and in pages or halves. */
static const struct {
    const char *keys;
    int lines, pages, halves;
} scrolls[] = {
    { "j", 1, 0, 0 },      { "e", 1, 0, 0 },         { "\016", 1, 0, 0 },
    { "\005", 1, 0, 0 },   { "\033[B", 1, 0, 0 },    { "\033OB", 1, 0, 0 },
    { "7j", 7, 0, 0 },     { "12\033[B", 12, 0, 0 }, { "k", -1, 0, 0 },
    { "y", -1, 0, 0 },     { "\020", -1, 0, 0 },     { "\031", -1, 0, 0 },
    { "\013", -1, 0, 0 },  { "\033[A", -1, 0, 0 },   { "9k", -9, 0, 0 },
    { " ", 0, 1, 0 },      { "f", 0, 1, 0 },         { "\006", 0, 1, 0 },
    { "\026", 0, 1, 0 },   { "\033[6~", 0, 1, 0 },   { "5 ", 5, 0, 0 },
    { "b", 0, -1, 0 },     { "\002", 0, -1, 0 },     { "\033[5~", 0, -1, 0 },
    { "\033v", 0, -1, 0 }, { "5b", -5, 0, 0 },       { "z", 0, 1, 0 },
    { "w", 0, -1, 0 },     { "6z", 6, 0, 0 },        { "6z ", 12, 0, 0 },
    { "6zw", 0, 0, 0 },    { "6z3f", 9, 0, 0 },      { "d", 0, 0, 1 },
    { "\004", 0, 0, 1 },   { "u", 0, 0, -1 },        { "\025", 0, 0, -1 },
    { "5d", 5, 0, 0 },     { "5dd", 10, 0, 0 },      { "5du", 0, 0, 0 },
    { "0j", 1, 0, 0 },     { "12\177j", 1, 0, 0 },
};

static void
every_scrolling_key_moves_page_and_line_together(void **state)
{
    (void)state;
    EACH_SIZE(s)
    {
        int page = (int)sizes[s].rows;
        for (size_t i = 0; i < sizeof(scrolls) / sizeof(scrolls[0]); i++) {
            struct review_kit k;
            begin(&k, s);
            review_kit_type(&k, "501g");
            is_at(&k, 500, 500);
            review_kit_type(&k, scrolls[i].keys);
            int by = scrolls[i].lines + scrolls[i].pages * page +
                     scrolls[i].halves * (page + 1) / 2;
            is_at(&k, (uint64_t)(500 + by), (uint64_t)(500 + by));
            review_kit_end(&k);
        }
    }
}

static void
where_the_page_cannot_move_the_line_does(void **state)
{
    (void)state;
    EACH_SIZE(s)
    {
        unsigned rows = sizes[s].rows;
        struct review_kit k;
        begin(&k, s);
        review_kit_type(&k, "g");
        is_at(&k, 0, 0);
        review_kit_type(&k, "kkb");
        is_at(&k, 0, 0);
        review_kit_type(&k, "G2k");
        is_at(&k, LINES - 3, LINES - rows - 2);
        review_kit_type(&k, "5j");
        is_at(&k, LINES - 1, LINES - rows);
        review_kit_type(&k, "j ");
        is_at(&k, LINES - 1, LINES - rows);
        review_kit_mouse(&k, TUI_MOUSE_PRESS, 0); /* the page's first line */
        is_at(&k, LINES - rows, LINES - rows);
        review_kit_type(&k, "j");
        is_at(&k, LINES - rows + 1, LINES - rows);
        review_kit_type(&k, "f");
        is_at(&k, LINES - 1, LINES - rows);
        review_kit_type(&k, "g");
        review_kit_mouse(&k, TUI_MOUSE_PRESS, 3);
        is_at(&k, 3, 0);
        review_kit_type(&k, "k");
        is_at(&k, 2, 0);
        review_kit_type(&k, "b");
        is_at(&k, 0, 0);
        review_kit_end(&k);
    }
}

static void
jumps_go_where_less_goes(void **state)
{
    (void)state;
    static const struct {
        const char *keys;
        uint64_t at;
    } jumps[] = {
        { "g", 0 },         { "<", 0 },
        { "\033[H", 0 },    { "\033<", 0 },
        { "100g", 99 },     { "100G", 99 },
        { "42<", 41 },      { "42>", 41 },
        { "1g", 0 },        { "0g", 0 },
        { "50%", 500 },     { "25p", 250 },
        { "p", 0 },         { "G", 999 },
        { ">", 999 },       { "\033[F", 999 },
        { "\033>", 999 },   { "F", 999 },
        { "5000g", 999 },   { "100%", 999 },
        { "999999p", 999 }, { "99999999999999g", 999 },
    };
    EACH_SIZE(s)
    for (size_t i = 0; i < sizeof(jumps) / sizeof(jumps[0]); i++) {
        struct review_kit k;
        uint64_t end = LINES - sizes[s].rows;
        begin(&k, s);
        review_kit_type(&k, "700g");
        review_kit_type(&k, jumps[i].keys);
        is_at(&k, jumps[i].at, jumps[i].at < end ? jumps[i].at : end);
        review_kit_type(&k, "''");
        assert_int_equal(k.r.at, 699);
        review_kit_end(&k);
    }
}

static void
long_rows_are_seen_by_half_a_screen(void **state)
{
    (void)state;
    struct review_kit k;
    review_kit_begin(&k, 200, 24, 10);
    tui_review_resize(&k.r, 80, 24);
    review_kit_type(&k, "\033[C");
    assert_int_equal(k.r.left, 40);
    review_kit_type(&k, "\033[C\033[C\033[C");
    assert_int_equal(k.r.left, 120); /* the last column is at the edge */
    review_kit_type(&k, "\033[D");
    assert_int_equal(k.r.left, 80);
    review_kit_type(&k, "7\033[D\033[D");
    assert_int_equal(k.r.left, 66);
    tui_review_resize(&k.r, 180, 24);
    assert_int_equal(k.r.left, 20);
    tui_review_resize(&k.r, 200, 24);
    assert_int_equal(k.r.left, 0);
    review_kit_end(&k);
}

static void
keys_that_ask_others_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *keys;
        enum tui_review_wish want;
    } cases[] = {
        { "q", TUI_REVIEW_LEAVE },      { "Q", TUI_REVIEW_LEAVE },
        { ":q", TUI_REVIEW_LEAVE },     { ":Q", TUI_REVIEW_LEAVE },
        { "ZZ", TUI_REVIEW_LEAVE },     { "Zq", TUI_REVIEW_NONE },
        { ":x", TUI_REVIEW_NONE },      { "\033q", TUI_REVIEW_NONE },
        { "i", TUI_REVIEW_DRAFT },      { "\r", TUI_REVIEW_DRAFT },
        { "h", TUI_REVIEW_HELP },       { "H", TUI_REVIEW_HELP },
        { "R", TUI_REVIEW_REPAINT },    { "r", TUI_REVIEW_REPAINT },
        { "\014", TUI_REVIEW_REPAINT }, { "v", TUI_REVIEW_EDITOR },
        { "Y", TUI_REVIEW_COPY },       { "\032", TUI_REVIEW_SUSPEND },
        { "sx\r", TUI_REVIEW_SAVE },    { "s\r", TUI_REVIEW_NONE },
        { "sx\003", TUI_REVIEW_NONE },  { "/q", TUI_REVIEW_NONE },
        { "T", TUI_REVIEW_NONE },       { "\033[200~q\033[201~", TUI_REVIEW_NONE },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct review_kit k;
        review_kit_begin(&k, 80, 24, 30);
        assert_int_equal(review_kit_type(&k, cases[i].keys), cases[i].want);
        assert_int_equal(k.r.has_gutter, cases[i].keys[0] == 'T');
        review_kit_end(&k);
    }
}

static void
marks_are_come_back_to(void **state)
{
    (void)state;
    struct review_kit k;
    begin(&k, 0);
    review_kit_type(&k, "100gma500gmZ");
    review_kit_type(&k, "'a");
    assert_int_equal(k.r.at, 99);
    review_kit_type(&k, "'Z");
    assert_int_equal(k.r.at, 499);
    review_kit_type(&k, "''");
    assert_int_equal(k.r.at, 99);
    review_kit_type(&k, "\030\030");
    assert_int_equal(k.r.at, 499);
    review_kit_type(&k, "'^");
    assert_int_equal(k.r.at, 0);
    review_kit_type(&k, "'$");
    assert_int_equal(k.r.at, 999);
    review_kit_type(&k, "'b");
    assert_string_equal(k.r.note, "there is no mark b");
    review_kit_type(&k, "m\033[B");
    assert_int_equal(k.r.at, 999);
    review_kit_end(&k);
}

static void
a_mark_comes_back_to_the_page_as_it_was(void **state)
{
    (void)state;
    EACH_SIZE(s)
    {
        struct review_kit k;
        begin(&k, s);
        review_kit_type(&k, "100gmaG'a");
        is_at(&k, 99, 99);
        review_kit_type(&k, "jjj''");
        is_at(&k, 999, 1000 - k.r.rows);
        review_kit_type(&k, "200g/line 201\rmbg'b");
        is_at(&k, 201, 199);
        review_kit_type(&k, "300g/line 700\r''");
        is_at(&k, 299, 299);
        review_kit_end(&k);
    }
}

static void
the_wheel_goes_by_three_lines_and_a_click_takes_a_line(void **state)
{
    (void)state;
    EACH_SIZE(s)
    {
        struct review_kit k;
        begin(&k, s);
        review_kit_type(&k, "100g");
        review_kit_mouse(&k, TUI_MOUSE_WHEEL_DOWN, 5);
        is_at(&k, 102, 102);
        review_kit_mouse(&k, TUI_MOUSE_WHEEL_UP, 5);
        is_at(&k, 99, 99);
        assert_int_equal(review_kit_mouse(&k, TUI_MOUSE_PRESS, 4), TUI_REVIEW_DRAFT);
        is_at(&k, 103, 99);
        assert_int_equal(review_kit_mouse(&k, TUI_MOUSE_PRESS, 4000), TUI_REVIEW_NONE);
        assert_int_equal(review_kit_mouse(&k, TUI_MOUSE_OTHER, 0), TUI_REVIEW_NONE);
        is_at(&k, 103, 99);
        review_kit_end(&k);
    }
}

static void
the_place_is_told(void **state)
{
    (void)state;
    struct review_kit k;
    begin(&k, 0);
    review_kit_type(&k, "100g=");
    assert_string_equal(k.r.note, "line 100 of 1000 (10%), byte 888, time 1:40.0");
    review_kit_type(&k, "j");
    assert_string_equal(k.r.note, "");
    k.source.stamps = NULL;
    review_kit_type(&k, "100g\007");
    assert_string_equal(k.r.note, "line 100 of 1000 (10%), byte 888");
    review_kit_end(&k);
}

static void
an_escape_takes_no_key_with_it(void **state)
{
    (void)state;
    struct review_kit k;
    review_kit_begin(&k, 30, 8, 30);
    review_kit_type(&k, "\033");
    assert_int_equal(review_kit_type(&k, "q"), TUI_REVIEW_LEAVE);
    review_kit_type(&k, "\033");
    review_kit_type(&k, "\033");
    assert_int_equal(review_kit_type(&k, "q"), TUI_REVIEW_LEAVE);
    review_kit_type(&k, "\033");
    review_kit_type(&k, "u");
    assert_false(k.r.has_highlights);
    review_kit_end(&k);
}

/* -- snapshots, instructions, times -- */

static void
badges_stand_between_the_lines_in_their_order(void **state)
{
    (void)state;
    struct review_kit k;
    review_kit_begin(&k, 30, 8, 20);
    review_kit_event(&k, PLAY_SNAPSHOT, 1, 3);
    review_kit_event(&k, PLAY_INSTRUCTION, 2, 3);
    review_kit_event(&k, PLAY_SNAPSHOT, 3, 10);
    review_kit_event(&k, PLAY_SNAPSHOT, 4, 19);
    review_kit_type(&k, "G");
    is_page(&k, "13 14 15 16 17 18 *19 e3");
    review_kit_type(&k, "g");
    is_page(&k, "*0 1 2 3 e0 e1 4 5");
    review_kit_type(&k, "]");
    is_page(&k, "0 1 2 *3 e0 e1 4 5");
    review_kit_type(&k, "]");
    is_page(&k, "8 9 *10 e2 11 12 13 14");
    review_kit_type(&k, "]");
    is_page(&k, "13 14 15 16 17 18 *19 e3");
    review_kit_type(&k, "]");
    assert_string_equal(k.r.note, "no snapshot or instruction behind this line");
    review_kit_type(&k, "2[");
    assert_int_equal(k.r.at, 3);
    review_kit_type(&k, "[");
    assert_string_equal(k.r.note, "no snapshot or instruction before this line");
    review_kit_type(&k, "g4j");
    is_page(&k, "e0 e1 *4 5 6 7 8 9");
    review_kit_type(&k, "k");
    is_page(&k, "*3 e0 e1 4 5 6 7 8");
    assert_int_equal(review_kit_mouse(&k, TUI_MOUSE_PRESS, 2), TUI_REVIEW_NONE);
    review_kit_end(&k);
}

static void
more_badges_than_the_page_has_rows_do_no_harm(void **state)
{
    (void)state;
    struct review_kit k;
    review_kit_begin(&k, 30, 4, 10);
    for (uint64_t i = 0; i < 9; i++)
        review_kit_event(&k, PLAY_SNAPSHOT, i, 5);
    review_kit_type(&k, "g6g");
    is_page(&k, "*5 e0 e1 e2");
    review_kit_type(&k, "j");
    is_page(&k, "e6 e7 e8 *6");
    review_kit_type(&k, "k");
    is_page(&k, "*5 e0 e1 e2");
    for (uint64_t i = 0; i < 9; i++)
        review_kit_event(&k, PLAY_SNAPSHOT, i, 9);
    review_kit_type(&k, "Gj");
    is_page(&k, "*9 e9 e10 e11");
    review_kit_end(&k);
}

static void
a_minute_is_gone_by(void **state)
{
    (void)state;
    struct review_kit k;
    begin(&k, 0); /* a line a second */
    review_kit_type(&k, "500g}");
    assert_int_equal(k.r.at, 499 + 61);
    review_kit_type(&k, "{");
    assert_int_equal(k.r.at, 560 - 59);
    review_kit_type(&k, "3}");
    assert_int_equal(k.r.at, 501 + 181);
    review_kit_type(&k, "20{");
    assert_int_equal(k.r.at, 0);
    review_kit_type(&k, "99}");
    assert_int_equal(k.r.at, 999);
    k.now_ns += 3600 * KIT_SECOND_NS;
    review_kit_lines(&k, 1000, 1010);
    review_kit_update(&k);
    review_kit_type(&k, "1001g{"); /* nothing in the hour before it */
    assert_int_equal(k.r.at, 999);
    review_kit_type(&k, "}");
    assert_int_equal(k.r.at, 1000);
    k.source.stamps = NULL;
    review_kit_type(&k, "}");
    assert_string_equal(k.r.note, "no times are known here");
    review_kit_end(&k);
}

static void
a_time_or_a_byte_is_gone_to(void **state)
{
    (void)state;
    struct review_kit k;
    begin(&k, 0);
    review_kit_type(&k, "@1:40\r"); /* 100 seconds: line 99 was written then */
    assert_int_equal(k.r.at, 99);
    review_kit_type(&k, "@83.5\r");
    assert_int_equal(k.r.at, 82);
    review_kit_type(&k, "@@888\r");
    assert_int_equal(k.r.at, 99);
    review_kit_type(&k, "@@0\r");
    assert_int_equal(k.r.at, 0);
    review_kit_type(&k, "@99:00:00\r");
    assert_int_equal(k.r.at, 999);
    review_kit_type(&k, "@soon\r");
    assert_non_null(strstr(k.r.note, "is no moment of a session"));
    review_kit_type(&k, "g@1:40\033");
    assert_int_equal(k.r.at, 0);
    k.source.start_ts_ns = 0;
    review_kit_type(&k, "@1:40\r");
    assert_string_equal(k.r.note, "no times are known here");
    review_kit_end(&k);
}

/* -- a session that goes on -- */

static void
while_it_follows_it_stays_at_the_end(void **state)
{
    (void)state;
    EACH_SIZE(s)
    {
        struct review_kit k;
        begin(&k, s);
        review_kit_lines(&k, 1000, 1100);
        review_kit_update(&k);
        is_at(&k, 1099, 1100 - sizes[s].rows);
        review_kit_type(&k, "k");
        review_kit_lines(&k, 1100, 1200);
        review_kit_update(&k);
        is_at(&k, 1098, 1099 - sizes[s].rows);
        review_kit_type(&k, "F");
        is_at(&k, 1199, 1200 - sizes[s].rows);
        review_kit_lines(&k, 1200, 1300);
        review_kit_update(&k);
        is_at(&k, 1299, 1300 - sizes[s].rows);
        assert_true(k.r.follows);
        review_kit_mouse(&k, TUI_MOUSE_WHEEL_UP, 0);
        assert_false(k.r.follows);
        review_kit_type(&k, "G");
        assert_true(k.r.follows);
        review_kit_end(&k);
    }
}

static void
a_session_with_few_lines_begins_at_the_top(void **state)
{
    (void)state;
    struct review_kit k;
    review_kit_begin(&k, 30, 8, 0);
    is_page(&k, "*. . . . . . . .");
    review_kit_type(&k, "jkGg /x\r&y\r]{}=nNdu5%''");
    is_page(&k, "*. . . . . . . .");
    tui_review_draft(&k.r, true);
    is_page(&k, "*d0 d1 d2 . . . . .");
    tui_review_end_draft(&k.r);
    review_kit_lines(&k, 0, 3);
    k.source.is_whole = false;
    review_kit_update(&k);
    review_kit_type(&k, "G");
    is_page(&k, "o 0 1 *2 . . . .");
    review_kit_type(&k, "kkk");
    is_page(&k, "o *0 1 2 . . . .");
    review_kit_end(&k);
}

/* What a client that came late has: the last rows, then all of them. */
static void
older_lines_come_above_and_the_page_stays(void **state)
{
    (void)state;
    EACH_SIZE(s)
    {
        struct review_kit k, all;
        review_kit_begin(&all, sizes[s].cols, sizes[s].rows, LINES + 1);
        begin(&k, s); /* its bytes are those of the whole, from line 0 on … */
        struct term_options opt = term_options_default();
        opt.cols = sizes[s].cols;
        opt.rows = sizes[s].rows;
        opt.scrollback_rows = 100;
        struct term *late = term_new(&opt);
        uint64_t off = 0;
        for (unsigned i = 0; i < LINES; i++) { /* … and here the last hundred */
            char text[20];
            int n = snprintf(text, sizeof(text), "line %u\r\n", i);
            if (i >= 900)
                term_feed(late, text, (size_t)n, off);
            off += (uint64_t)n;
        }
        struct term *early = k.term;
        k.source.term = late;
        k.source.is_whole = false;
        review_kit_update(&k);
        review_kit_type(&k, "50gma70g");
        uint64_t stamp = term_book_stamp(&k.r.book, k.r.at);
        unsigned row = k.at;
        k.source.term = all.term; /* with one more */
        k.source.is_whole = true;
        review_kit_update(&k);
        assert_int_equal(k.r.at, 969);
        assert_int_equal(term_book_stamp(&k.r.book, k.r.at), stamp);
        assert_int_equal(k.at, row);
        review_kit_type(&k, "'a");
        assert_int_equal(k.r.at, 949);
        k.source.term = early;
        review_kit_update(&k);
        assert_int_equal(k.r.at, 949);
        term_free(late);
        review_kit_end(&k);
        review_kit_end(&all);
    }
}

static void
the_first_line_is_gone_to_when_it_comes(void **state)
{
    (void)state;
    struct review_kit k, late;
    review_kit_begin(&k, 30, 8, 100);
    review_kit_begin(&late, 30, 8, 20);
    struct term *all = k.term;
    k.source.term = late.term;
    k.source.is_whole = false;
    review_kit_update(&k);
    review_kit_type(&k, "g");
    is_page(&k, "o *0 1 2 3 4 5 6");
    k.source.term = all;
    k.source.is_whole = true;
    review_kit_update(&k);
    is_page(&k, "*0 1 2 3 4 5 6 7");
    review_kit_end(&late);
    review_kit_end(&k);
}

/* Where there is one line at most, the first one is the end. */
static void
the_first_line_is_stayed_at_when_it_has_come(void **state)
{
    (void)state;
    for (unsigned lines = 0; lines < 3; lines++) {
        struct review_kit k, late;
        review_kit_begin(&k, 30, 8, 100);
        review_kit_begin(&late, 30, 8, lines);
        struct term *all = k.term;
        k.source.term = late.term;
        k.source.is_whole = false;
        review_kit_update(&k);
        review_kit_type(&k, "g");
        k.source.term = all;
        k.source.is_whole = true;
        review_kit_update(&k);
        is_page(&k, "*0 1 2 3 4 5 6 7");
        review_kit_update(&k);
        is_page(&k, "*0 1 2 3 4 5 6 7");
        review_kit_end(&late);
        review_kit_end(&k);
    }
}

static void
a_blank_line_is_found_again_by_the_one_above_it(void **state)
{
    (void)state;
    struct review_kit k;
    review_kit_begin(&k, 30, 8, 10);
    review_kit_feed(&k, "\r\n\r\n\r\n");
    review_kit_lines(&k, 13, 50);
    review_kit_update(&k);
    review_kit_type(&k, "12gma20g");
    term_resize(k.term, 20, 8); /* all are numbered anew, as they were */
    review_kit_update(&k);
    review_kit_type(&k, "'a");
    assert_int_equal(k.r.at, 11);
    review_kit_end(&k);
}

static void
a_new_width_keeps_the_line(void **state)
{
    (void)state;
    struct review_kit k;
    review_kit_begin(&k, 80, 24, 0);
    for (unsigned i = 0; i < 300; i++) {
        char text[100];
        snprintf(
            text, sizeof(text), "%u %.*s\r\n%s", i, (int)(i % 70),
            "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            i % 3 ? "" : "\r\n");
        review_kit_feed(&k, text);
    }
    review_kit_update(&k);
    review_kit_type(&k, "g/150 x\r");
    struct term_line line = { 0 };
    unsigned widths[] = { 30, 120, 7, 80 };
    for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
        term_resize(k.term, widths[i], 24);
        review_kit_update(&k);
        assert_int_equal(term_book_line(&k.r.book, k.r.at, &line), 0);
        if (widths[i] >= 30)
            assert_memory_equal(line.text.p, "150 x", 5);
    }
    term_line_release(&line);
    review_kit_end(&k);
}

static void
is_line(struct review_kit *k, const char *text)
{
    struct term_line line = { 0 };
    assert_int_equal(term_book_line(&k->r.book, k->r.at, &line), 0);
    assert_string_equal(buf_str(&line.text), text);
    term_line_release(&line);
}

/* Lines of the alternate screen go, and all above them move down. */
static void
lines_that_close_up_take_page_and_marks_with_them(void **state)
{
    (void)state;
    struct review_kit k;
    review_kit_begin(&k, 30, 8, 0);
    review_kit_keep(&k, 1000, 3);
    review_kit_lines(&k, 0, 100);
    review_kit_feed(&k, "\033[?1049h\033[Hone\r\ntwo\r\nthree\033[?1049l");
    review_kit_lines(&k, 100, 200);
    review_kit_update(&k);
    review_kit_type(&k, "21gma51g");
    is_line(&k, "line 50");
    unsigned row = k.at;
    for (unsigned i = 0; i < 5; i++) {
        review_kit_feed(&k, "\033[?1049h\033[Hmore\033[?1049l");
        review_kit_lines(&k, 200, 202);
        review_kit_update(&k);
        assert_true(term_book_first(&k.r.book) == i + 1);
        is_line(&k, "line 50");
        assert_int_equal(k.at, row);
    }
    review_kit_type(&k, "'a");
    is_line(&k, "line 20");
    review_kit_type(&k, "''");
    is_line(&k, "line 50");
    review_kit_end(&k);
}

static void
badges_of_lines_that_are_still_to_come_are_hidden(void **state)
{
    (void)state;
    struct play_event event = { .kind = PLAY_SNAPSHOT, .snapshot_id = PLAY_NONE };
    struct review_kit k;
    review_kit_begin(&k, 30, 8, 4);
    assert_int_equal(play_events_add(&k.events, &event), 0);
    k.source.is_whole = false;
    review_kit_update(&k);
    is_page(&k, "o 0 1 2 *3 . . .");
    k.source.is_whole = true;
    review_kit_update(&k);
    is_page(&k, "e0 0 1 2 *3 . . .");
    review_kit_end(&k);
}

static void
a_badge_moves_when_a_line_above_it_is_written_anew(void **state)
{
    (void)state;
    struct review_kit k;
    review_kit_begin(&k, 30, 8, 3);
    review_kit_event(&k, PLAY_SNAPSHOT, 1, 1);
    is_page(&k, "0 1 e0 *2 . . . .");
    review_kit_feed(&k, "\033[Hnew");
    review_kit_update(&k);
    is_page(&k, "e0 0 1 *2 . . . .");
    review_kit_end(&k);
}

static void
it_follows_with_more_badges_at_the_end_than_rows(void **state)
{
    (void)state;
    struct review_kit k;
    review_kit_begin(&k, 30, 8, 20);
    for (uint64_t id = 0; id < 12; id++)
        review_kit_event(&k, PLAY_SNAPSHOT, id, 19);
    review_kit_type(&k, "kG");
    is_page(&k, "*19 e0 e1 e2 e3 e4 e5 e6");
    assert_true(k.r.follows);
    review_kit_type(&k, "=");
    assert_true(k.r.follows);
    review_kit_end(&k);
}

/* … which need not be the next that was written. */
static void
a_minute_on_is_further_down(void **state)
{
    (void)state;
    struct review_kit k;
    review_kit_begin(&k, 30, 8, 5);
    k.now_ns += 600 * KIT_SECOND_NS;
    review_kit_feed(&k, "\033[Hnew\033[6H");
    review_kit_update(&k);
    review_kit_type(&k, "3g}");
    assert_int_equal(k.r.at, 3);
    review_kit_end(&k);
}

/* -- the draft -- */

static void
the_draft_stands_behind_its_line(void **state)
{
    (void)state;
    struct review_kit k;
    review_kit_begin(&k, 40, 9, 30);
    review_kit_event(&k, PLAY_SNAPSHOT, 7, 3);
    review_kit_event(&k, PLAY_SNAPSHOT, 8, 20);
    review_kit_type(&k, "g3j");
    is_page(&k, "*3 e0 4 5 6 7 8 9 10");
    tui_review_draft(&k.r, false);
    is_page(&k, "*3 d0 d1 d2 ~e0 ~4 ~5 ~6 ~7");
    assert_int_equal(k.r.draft_anchor, term_book_stamp(&k.r.book, 3));
    assert_int_equal(k.r.draft_snapshot_id, 7);
    assert_false(k.r.draft_is_now);
    review_kit_type(&k, "jq\rk");
    is_page(&k, "*3 d0 d1 d2 d3 ~e0 ~4 ~5 ~6");
    assert_int_equal(review_kit_type(&k, "\023"), TUI_REVIEW_SUBMIT);
    assert_true(k.r.has_draft);
    tui_review_end_draft(&k.r);
    is_page(&k, "*3 e0 4 5 6 7 8 9 10");
    review_kit_end(&k);
}

/* Not its square: this would not come to its end. */
static void
a_paste_into_the_draft_costs_what_it_is_long(void **state)
{
    (void)state;
    enum { TIMES = 4 };
    const struct tui_key key = { .kind = TUI_KEY_CHAR, .rune = 'x', .is_pasted = true };
    struct review_kit k;
    begin(&k, 0);
    tui_review_draft(&k.r, false);
    for (unsigned i = 0; i < TIMES * TUI_DRAFT_BYTES; i++)
        assert_int_equal(tui_review_key(&k.r, key), TUI_REVIEW_NONE);
    assert_int_equal(k.r.draft.text.n, TUI_DRAFT_BYTES);
    review_kit_check(&k);
    assert_true(k.r.draft_rows > 10);
    review_kit_end(&k);
}

static void
snapshots_that_are_read_later_are_the_drafts_too(void **state)
{
    (void)state;
    struct review_kit k;
    review_kit_begin(&k, 40, 10, 30);
    tui_review_draft(&k.r, true);
    assert_true(k.r.draft_snapshot_id == PLAY_NONE);
    review_kit_event(&k, PLAY_SNAPSHOT, 7, 20);
    review_kit_update(&k);
    assert_int_equal(k.r.draft_snapshot_id, 7);
    review_kit_event(&k, PLAY_SNAPSHOT, 8, 25); /* what the box says stays */
    review_kit_update(&k);
    assert_int_equal(k.r.draft_snapshot_id, 7);
    review_kit_end(&k);
}

static void
the_drafts_box_is_seen_whole(void **state)
{
    (void)state;
    EACH_SIZE(s)
    {
        for (unsigned row = 0; row < sizes[s].rows; row++) {
            struct review_kit k;
            begin(&k, s);
            review_kit_type(&k, "500g");
            review_kit_mouse(&k, TUI_MOUSE_PRESS, row);
            tui_review_draft(&k.r, false);
            for (unsigned n = 0; n < sizes[s].rows; n++) {
                review_kit_type(&k, "x\r");
                assert_int_equal(k.page[k.at + 1].kind, TUI_LINE_DRAFT);
                assert_int_equal(k.page[k.at + 1].number, 0);
                assert_true(k.at + k.r.draft_rows < sizes[s].rows);
            }
            review_kit_type(&k, "\033\033");
            assert_false(k.r.has_draft);
            review_kit_end(&k);
        }
    }
}

static void
an_instruction_for_now_stays_at_the_end(void **state)
{
    (void)state;
    struct review_kit k;
    review_kit_begin(&k, 40, 9, 30);
    review_kit_type(&k, "g");
    tui_review_draft(&k.r, true);
    assert_true(k.r.draft_is_now);
    is_page(&k, "24 25 26 27 28 *29 d0 d1 d2");
    review_kit_lines(&k, 30, 32);
    review_kit_update(&k);
    is_page(&k, "26 27 28 29 30 *31 d0 d1 d2");
    tui_review_end_draft(&k.r);
    review_kit_type(&k, "G");
    tui_review_draft(&k.r, false);
    assert_true(k.r.draft_is_now);
    tui_review_end_draft(&k.r);
    review_kit_type(&k, "k");
    tui_review_draft(&k.r, false);
    assert_false(k.r.draft_is_now);
    review_kit_lines(&k, 32, 40);
    review_kit_update(&k);
    assert_int_equal(k.r.draft_line, 30);
    review_kit_end(&k);
}

/* -- anything -- */

static uint32_t
next(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

static void
change(struct review_kit *k, uint32_t *seed, unsigned *lines)
{
    unsigned n = next(seed) % 8, rows = next(seed) % KIT_ROWS_MAX;
    switch (n) {
    case 0:
        review_kit_feed(k, "\033[?1049h\033[2Jalternate\r\nscreen");
        break;
    case 1:
        review_kit_feed(k, "\033[?1049l");
        break;
    case 2:
        if (!(next(seed) % 8))
            term_resize(k->term, 1 + next(seed) % 130, 1 + next(seed) % 50);
        break;
    case 3:
        tui_review_resize(&k->r, 1 + next(seed) % 130, rows ? rows : 1);
        break;
    case 4:
        k->source.is_whole = next(seed) % 2;
        break;
    case 5:
        if (k->r.book.term && k->r.at < term_book_end(&k->r.book))
            review_kit_event(k, PLAY_SNAPSHOT, *lines, k->r.at);
        break;
    default:
        n = next(seed) % 5;
        review_kit_lines(k, *lines, *lines + n);
        *lines += n;
    }
    review_kit_update(k);
}

static void
no_keys_and_no_feeds_lose_the_current_line(void **state)
{
    (void)state;
    static const char *const keys[] = {
        "j",  "k",    " ",     "b",    "d",      "u",      "z",    "w", "g",    "G",
        "5",  "9",    "%",     "/1",   "?2",     "\r",     "n",    "N", "&3\r", "&\r",
        "ma", "'a",   "''",    "F",    "=",      "[",      "]",    "{", "}",    "@1:00\r",
        "T",  "\033", "\033u", "\003", "\033[C", "\033[D", "sx\r", "1", "\177", "@@99\r",
    };
    struct review_kit k;
    uint32_t seed = 10;
    unsigned lines = 200;
    review_kit_begin(&k, 80, 24, lines);
    for (unsigned i = 0; i < 10000; i++) {
        enum tui_review_wish wish = TUI_REVIEW_NONE;
        if (next(&seed) % 12 == 0)
            change(&k, &seed, &lines);
        else if (next(&seed) % 20 == 0)
            wish = review_kit_mouse(&k, next(&seed) % 4, next(&seed) % 50);
        else
            wish = review_kit_type(&k,
                                   keys[next(&seed) % (sizeof(keys) / sizeof(*keys))]);
        if (wish == TUI_REVIEW_DRAFT && next(&seed) % 2)
            tui_review_draft(&k.r, next(&seed) % 2);
        else if (wish == TUI_REVIEW_SUBMIT || (k.r.has_draft && next(&seed) % 9 == 0))
            tui_review_end_draft(&k.r);
        else if (wish == TUI_REVIEW_SAVE && next(&seed) % 2)
            tui_review_ask_overwrite(&k.r);
        review_kit_check(&k);
    }
    review_kit_end(&k);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_begins_at_the_end_and_follows),
        cmocka_unit_test(every_scrolling_key_moves_page_and_line_together),
        cmocka_unit_test(where_the_page_cannot_move_the_line_does),
        cmocka_unit_test(jumps_go_where_less_goes),
        cmocka_unit_test(long_rows_are_seen_by_half_a_screen),
        cmocka_unit_test(keys_that_ask_others_are_told),
        cmocka_unit_test(an_escape_takes_no_key_with_it),
        cmocka_unit_test(marks_are_come_back_to),
        cmocka_unit_test(a_mark_comes_back_to_the_page_as_it_was),
        cmocka_unit_test(the_wheel_goes_by_three_lines_and_a_click_takes_a_line),
        cmocka_unit_test(the_place_is_told),
        cmocka_unit_test(badges_stand_between_the_lines_in_their_order),
        cmocka_unit_test(more_badges_than_the_page_has_rows_do_no_harm),
        cmocka_unit_test(a_minute_is_gone_by),
        cmocka_unit_test(a_time_or_a_byte_is_gone_to),
        cmocka_unit_test(while_it_follows_it_stays_at_the_end),
        cmocka_unit_test(a_session_with_few_lines_begins_at_the_top),
        cmocka_unit_test(older_lines_come_above_and_the_page_stays),
        cmocka_unit_test(the_first_line_is_gone_to_when_it_comes),
        cmocka_unit_test(the_first_line_is_stayed_at_when_it_has_come),
        cmocka_unit_test(a_blank_line_is_found_again_by_the_one_above_it),
        cmocka_unit_test(a_new_width_keeps_the_line),
        cmocka_unit_test(lines_that_close_up_take_page_and_marks_with_them),
        cmocka_unit_test(badges_of_lines_that_are_still_to_come_are_hidden),
        cmocka_unit_test(a_badge_moves_when_a_line_above_it_is_written_anew),
        cmocka_unit_test(it_follows_with_more_badges_at_the_end_than_rows),
        cmocka_unit_test(a_minute_on_is_further_down),
        cmocka_unit_test(the_draft_stands_behind_its_line),
        cmocka_unit_test(snapshots_that_are_read_later_are_the_drafts_too),
        cmocka_unit_test(a_paste_into_the_draft_costs_what_it_is_long),
        cmocka_unit_test(the_drafts_box_is_seen_whole),
        cmocka_unit_test(an_instruction_for_now_stays_at_the_end),
        cmocka_unit_test(no_keys_and_no_feeds_lose_the_current_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
