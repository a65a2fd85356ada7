/* SPDX-License-Identifier: MIT */
/* tui_page_test.c -- pages of review mode as a terminal shows them, at all sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "support/term_check.h"
#include "tui/page_priv.h"

#define SECOND 1000000000ULL
#define START  (1000 * SECOND)

enum { TOP = 2, LEFT = 3 }; /* of the page, where it has rows and columns around it */

struct scene {
    struct term *session, *outer;
    struct play_events events;
    struct play_stamps stamps;
    struct tui_source source;
    struct tui_review review;
};

static void
scene_init(struct scene *s, unsigned cols, unsigned rows, const char *text)
{
    *s = (struct scene){ .session = term_check_new(cols, rows) };
    term_feed(s->session, text, strlen(text), 0);
    s->source = (struct tui_source){ .term = s->session,
                                     .events = &s->events,
                                     .stamps = &s->stamps,
                                     .start_ts_ns = START,
                                     .bytes = strlen(text),
                                     .is_whole = true };
    play_stamps_add(&s->stamps, strlen(text), START + 83 * SECOND + SECOND / 2);
    assert_int_equal(tui_review_init(&s->review, &s->source), 0);
    s->review.follows = false;
    s->review.has_highlights = true;
}

static void
scene_release(struct scene *s)
{
    tui_review_release(&s->review);
    term_free(s->session);
    term_free(s->outer);
    play_events_release(&s->events);
    play_stamps_release(&s->stamps);
}

static void
add_event(struct scene *s, enum play_event_kind kind, uint64_t anchor, const char *text)
{
    struct play_event event = { .kind = kind,
                                .id = 12,
                                .ts_ns = START + 754 * SECOND,
                                .anchor_byte = anchor,
                                .snapshot_id = PLAY_NONE,
                                .text = { (const uint8_t *)text, strlen(text) } };
    assert_int_equal(play_events_add(&s->events, &event), 0);
}

/* -- what comes out -- */

/* The size of the sequence at p: CUP, SGR or OSC 8; 0: it is none of them. */
static size_t
sequence_size(const uint8_t *p, size_t n)
{
    size_t at = 2;
    if (n > 5 && !memcmp(p, "\033]8;;", 5)) {
        for (at = 5; at < n && p[at] > 0x20 && p[at] < 0x7f;)
            at++;
        return at + 1 < n && p[at] == '\033' && p[at + 1] == '\\' ? at + 2 : 0;
    }
    if (n < 3 || p[1] != '[')
        return 0;
    while (at < n && ((p[at] >= '0' && p[at] <= '9') || p[at] == ';' || p[at] == ':'))
        at++;
    return at < n && (p[at] == 'H' || p[at] == 'm') ? at + 1 : 0;
}

static void
is_allowed(const struct buf *bytes)
{
    for (size_t at = 0, n; at < bytes->n; at += n) {
        uint32_t rune;
        if (bytes->p[at] == '\033') {
            n = sequence_size(bytes->p + at, bytes->n - at);
            assert_true(n);
            continue;
        }
        n = (size_t)utf8_next(bytes->p + at, bytes->n - at, &rune);
        assert_true(n);
        assert_false(rune < 0x20 || (rune >= 0x7f && rune < 0xa0) ||
                     term_is_control(rune));
    }
}

static void
is_blank(const struct scene *s, unsigned row, unsigned col)
{
    static const struct term_style plain;
    struct term_cell cell;
    term_cell_at(s->outer, row, col, &cell);
    assert_int_equal(cell.width, 1);
    assert_true(!cell.text.n || cell.text.p[0] == ' ');
    assert_memory_equal(&cell.style, &plain, sizeof(plain));
}

/* Around the page there is nothing. */
static void
is_inside(const struct scene *s, unsigned cols, unsigned rows)
{
    struct term_cursor cursor = term_cursor(s->outer);
    for (unsigned y = 0; y < term_rows(s->outer); y++)
        for (unsigned x = 0; x < term_cols(s->outer); x++)
            if (y < TOP || y >= TOP + rows || x < LEFT || x >= LEFT + cols)
                is_blank(s, y, x);
    assert_in_range(cursor.row, TOP, TOP + rows - 1);
    assert_in_range(cursor.col, LEFT, LEFT + cols - 1);
}

/* A page of so many columns, its gutter included, in the midst of a terminal. */
static void
draw_with(struct scene *s, unsigned cols, unsigned rows, bool has_colours)
{
    AUTO(buf) bytes = { 0 };
    unsigned gutter = tui_page_gutter(&s->review);
    struct tui_page page = {
        .at_row = TOP, .at_col = LEFT, .cols = cols - gutter, .has_colours = has_colours
    };
    assert_true(cols > gutter);
    tui_review_resize(&s->review, page.cols, rows);
    tui_review_update(&s->review);
    assert_int_equal(tui_page_put(&page, &s->review, &bytes), 0);
    is_allowed(&bytes);
    term_free(s->outer);
    s->outer = term_check_new(cols + 2 * LEFT, rows + 2 * TOP);
    term_feed(s->outer, bytes.p, bytes.n, 0);
    assert_int_equal(term_scrollback_count(s->outer), 0);
    is_inside(s, cols, rows);
}

static void
draw(struct scene *s, unsigned cols, unsigned rows)
{
    draw_with(s, cols, rows, true);
}

static void
is_row(const struct scene *s, unsigned row, const char *text)
{
    struct term_line line = { 0 };
    assert_int_equal(term_line_at(s->outer, TOP + row, &line), 0);
    const char *have = buf_str(&line.text);
    for (unsigned i = 0; i < LEFT && *have == ' '; i++)
        have++;
    assert_string_equal(have, text);
    term_line_release(&line);
}

static struct term_style
style_at(const struct scene *s, unsigned row, unsigned col)
{
    struct term_cell cell;
    term_cell_at(s->outer, TOP + row, LEFT + col, &cell);
    return cell.style;
}

static bool
is_reversed(const struct scene *s, unsigned row, unsigned col)
{
    return style_at(s, row, col).attrs & TERM_INVERSE;
}

static void
is_cursor(const struct scene *s, unsigned row, unsigned col)
{
    struct term_cursor cursor = term_cursor(s->outer);
    assert_int_equal(cursor.row, TOP + row);
    assert_int_equal(cursor.col, LEFT + col);
    assert_true(cursor.is_visible);
}

/* -- rows -- */

static void
rows_stand_there_in_their_colours(void **state)
{
    (void)state;
    struct scene s;
    struct term_cell want, have;
    scene_init(
        &s, 17, 3,
        "\033[31mred\033[m and \033[1;4:3;48;2;1;2;3mmore\033[m 世界\r\n"
        "e\xcc\x81 \033[44m\033[K\033[m\r\n\033]8;;http://x/\033\\link\033]8;;\033\\");
    draw(&s, 17, 3);
    for (unsigned y = 0; y < 3; y++)
        for (unsigned x = 0; x < 17; x++) {
            term_cell_at(s.session, y, x, &want);
            term_cell_at(s.outer, TOP + y, LEFT + x, &have);
            want.style.link = want.style.link != 0;
            have.style.link = have.style.link != 0;
            assert_memory_equal(&have.style, &want.style, sizeof(want.style));
            assert_int_equal(have.width, want.width);
        }
    is_row(&s, 0, "red and more 世界");
    is_row(&s, 1, "e\xcc\x81");
    draw_with(&s, 17, 3, false);
    assert_int_equal(style_at(&s, 0, 0).fg, 0);
    assert_int_equal(style_at(&s, 0, 9).bg, 0);
    assert_true(style_at(&s, 0, 9).attrs & TERM_BOLD);
    scene_release(&s);
}

static void
a_wide_character_that_an_edge_cuts_is_blank_there(void **state)
{
    (void)state;
    struct scene s;
    scene_init(&s, 10, 2, "\033[45m世界\033[mab世界x");
    s.review.left = 1;
    draw(&s, 6, 2);
    is_row(&s, 0, " 界ab");
    assert_int_equal(style_at(&s, 0, 0).bg, TERM_COLOUR(TERM_COLOUR_INDEX, 5));
    scene_release(&s);
}

static void
search_for(struct scene *s, const char *text)
{
    buf_clear(&s->review.needle);
    buf_puts(&s->review.needle, text);
}

static void
what_was_searched_for_is_reversed(void **state)
{
    (void)state;
    struct scene s;
    scene_init(&s, 8, 4, "a Nail na\033[7minail");
    search_for(&s, "nail");
    draw(&s, 8, 4);
    is_row(&s, 0, "a Nail n");
    is_row(&s, 1, "ainail");
    assert_true(!is_reversed(&s, 0, 1) && is_reversed(&s, 0, 2) && is_reversed(&s, 0, 5));
    assert_true(!is_reversed(&s, 0, 6) && !is_reversed(&s, 0, 7));
    assert_true(!is_reversed(&s, 1, 0) && is_reversed(&s, 1, 1));
    assert_true(!is_reversed(&s, 1, 2)); /* what is reversed already stands out, too */
    search_for(&s, "n na");              /* across the rows' border */
    draw(&s, 8, 4);
    assert_false(is_reversed(&s, 0, 5));
    search_for(&s, "l na");
    draw(&s, 8, 4);
    assert_true(is_reversed(&s, 0, 5) && is_reversed(&s, 0, 7) && is_reversed(&s, 1, 0));
    search_for(&s, "Nail"); /* with a capital it is exact */
    draw(&s, 8, 4);
    assert_true(is_reversed(&s, 0, 2) && is_reversed(&s, 1, 2));
    s.review.has_highlights = false;
    draw(&s, 8, 4);
    assert_false(is_reversed(&s, 0, 2));
    scene_release(&s);
}

static void
what_was_on_the_alternate_screen_is_slightly_marked(void **state)
{
    (void)state;
    struct scene s;
    scene_init(&s, 10, 3, "one\r\n\033[?1049h\033[Halt\033[?1049ltwo");
    draw(&s, 10, 4);
    unsigned marked = 0;
    for (unsigned y = 0; y < 4; y++)
        marked += (style_at(&s, y, 0).attrs & TERM_ITALIC) != 0;
    assert_int_equal(marked, 1);
    scene_release(&s);
}

/* -- beside them -- */

static void
the_gutter_tells_time_and_byte(void **state)
{
    (void)state;
    struct scene s;
    scene_init(&s, 10, 2, "one\r\ntwo");
    assert_int_equal(tui_page_gutter(&s.review), 0);
    s.review.has_gutter = true;
    assert_int_equal(tui_page_gutter(&s.review), 19);
    draw(&s, 29, 3);
    is_row(&s, 0, "  1:23.5        3 │one");
    is_row(&s, 1, "  1:23.5        8 │two");
    is_row(&s, 2, "                  │");
    is_cursor(&s, 1, 19);
    scene_release(&s);
}

static void
badges_tell_of_events_in_clean_text(void **state)
{
    (void)state;
    struct scene s;
    scene_init(&s, 40, 3, "one\r\ntwo");
    add_event(&s, PLAY_SNAPSHOT, 4,
              "a \033[31mla\xe2\x80\xae"
              "bel");
    add_event(&s, PLAY_INSTRUCTION, 4, "use\ntabs");
    draw(&s, 40, 4);
    is_row(&s, 0, "one");
    is_row(&s, 1, "── ◆ \"a [31mlabel\"  12:34 ──");
    is_row(&s, 2, "── ✎ \"use tabs\" ──");
    is_row(&s, 3, "two");
    draw(&s, 41, 4);
    is_row(&s, 1, "── ◆ \"a [31mlabel\"  12:34  snapshot 12 ──");
    draw(&s, 22, 4);
    is_row(&s, 1, "── ◆ \"a [3…\"  12:34 ──");
    draw(&s, 10, 4);
    is_row(&s, 1, "── ◆ \"…\"");
    scene_release(&s);
}

static void
badges_tell_what_has_no_name_and_what_was_typed(void **state)
{
    (void)state;
    struct scene s;
    scene_init(&s, 40, 3, "one\r\ntwo");
    add_event(&s, PLAY_SNAPSHOT, 4, "");
    struct play_event typed = { .kind = PLAY_INSTRUCTION,
                                .anchor_byte = 4,
                                .snapshot_id = PLAY_NONE,
                                .is_delivered = true,
                                .text = { (const uint8_t *)"use tabs", 8 } };
    assert_int_equal(play_events_add(&s.events, &typed), 0);
    draw(&s, 40, 4);
    is_row(&s, 1, "── ◆ snapshot 12 12:34 ──");
    is_row(&s, 2, "── ✎ \"use tabs\" (typed) ──");
    draw(&s, 22, 4);
    is_row(&s, 2, "── ✎ \"use…\" (typed) ──");
    scene_release(&s);
}

static void
sides_stand_left_and_right_of_it(void **state)
{
    (void)state;
    struct scene s;
    AUTO(buf) bytes = { 0 };
    scene_init(&s, 4, 2, "one\r\ntwo");
    struct tui_page page = { .at_row = TOP, .at_col = LEFT + 1, .cols = 4 };
    page.has_sides = true;
    tui_review_resize(&s.review, 4, 2);
    assert_int_equal(tui_page_put(&page, &s.review, &bytes), 0);
    s.outer = term_check_new(LEFT + 6, TOP + 2);
    term_feed(s.outer, bytes.p, bytes.n, 0);
    is_row(&s, 0, "│one │");
    is_row(&s, 1, "│two │");
    scene_release(&s);
}

static void
older_rows_that_are_being_read_are_told(void **state)
{
    (void)state;
    struct scene s;
    scene_init(&s, 40, 3, "one");
    s.source.is_whole = false;
    s.source.permille = 437;
    draw(&s, 40, 3);
    is_row(&s, 0, "… older lines are being read (43 %)");
    scene_release(&s);
}

/* -- the draft -- */

static void
type(struct scene *s, const char *text)
{
    for (; *text; text++) {
        struct tui_key key = { .kind = *text == '\n' ? TUI_KEY_ENTER : TUI_KEY_CHAR,
                               .rune = (uint8_t)*text };
        tui_draft_key(&s->review.draft, key, &s->review.widths);
    }
}

static void
a_draft_stands_in_a_box_and_what_follows_is_faint(void **state)
{
    (void)state;
    struct scene s;
    scene_init(&s, 50, 6, "\033[32mone\r\ntwo\r\nthree");
    draw(&s, 50, 9);
    tui_review_go(&s.review, 0, false);
    tui_review_draft(&s.review, false);
    type(&s, "why?\nsay");
    draw(&s, 50, 9);
    is_row(&s, 0, "one");
    is_row(&s, 1, "┌─ instruction after line 1, no snapshot yet ────┐");
    is_row(&s, 2, "│ why?                                           │");
    is_row(&s, 3, "│ say                                            │");
    is_row(&s, 4, "└─ Ctrl-S submit  Esc cancel  Ctrl-E editor ─────┘");
    is_row(&s, 5, "two");
    is_cursor(&s, 3, 5);
    assert_int_equal(style_at(&s, 0, 0).fg, TERM_COLOUR(TERM_COLOUR_INDEX, 2));
    assert_int_equal(style_at(&s, 5, 0).fg, 0);
    assert_true(style_at(&s, 5, 0).attrs & TERM_DIM);
    assert_false(style_at(&s, 2, 2).attrs & TERM_DIM);
    scene_release(&s);
}

static void
a_drafts_title_tells_the_line_where_there_is_little_room(void **state)
{
    (void)state;
    struct scene s;
    scene_init(&s, 30, 6, "one\r\ntwo");
    draw(&s, 30, 9);
    tui_review_go(&s.review, 0, false);
    tui_review_draft(&s.review, false);
    draw(&s, 30, 9);
    is_row(&s, 1, "┌─ after line 1, no snapsh… ─┐");
    scene_release(&s);
}

static void
a_drafts_title_tells_of_the_snapshot_by_its_name(void **state)
{
    (void)state;
    static const char *const labels[] = { "", "before tests" };
    static const char *const titles[] = {
        "┌─ instruction after line 1, at snapshot 12 ─────────────────┐",
        "┌─ instruction after line 1, at \"before tests\", snapshot 12 ─┐",
    };
    for (size_t i = 0; i < 2; i++) {
        struct scene s;
        scene_init(&s, 62, 6, "one\r\ntwo");
        add_event(&s, PLAY_SNAPSHOT, 3, labels[i]);
        draw(&s, 62, 9);
        tui_review_go(&s.review, 0, false);
        tui_review_draft(&s.review, false);
        draw(&s, 62, 9);
        is_row(&s, 1, titles[i]);
        scene_release(&s);
    }
}

static void
a_long_draft_shows_what_is_around_its_cursor(void **state)
{
    (void)state;
    struct scene s;
    scene_init(&s, 40, 6, "one");
    draw(&s, 40, 9);
    tui_review_draft(&s.review, false);
    type(&s, "1\n2\n3\n4\n5\n6\n7\n8\n9");
    draw(&s, 40, 9);
    is_row(&s, 0, "one");
    is_cursor(&s, (unsigned)(term_cursor(s.outer).row - TOP), 3);
    is_row(&s, (unsigned)(term_cursor(s.outer).row - TOP),
           "│ 9                                    │");
    scene_release(&s);
}

/* -- sizes -- */

static void
nothing_leaves_a_page_of_any_size(void **state)
{
    (void)state;
    struct scene s;
    scene_init(&s, 20, 5,
               "世界世界 ❤\xef\xb8\x8f👩\xe2\x80\x8d🚀 e\xcc\x81\xcc\x82 🇩🇪🇫🇷 "
               "\033[41mend\033[K\r\n"
               "\033[1;7mplain text\033[m that is wrapped over rows\r\n\xcc\x81 last");
    add_event(&s, PLAY_SNAPSHOT, 9, "❤\xef\xb8\x8f❤\xef\xb8\x8f\x9b\033]0;x\a世界");
    add_event(&s, PLAY_INSTRUCTION, 60, "👩\xe2\x80\x8d🚀👩\xe2\x80\x8d🚀\nmore\t\x7f");
    search_for(&s, "世界");
    for (unsigned turn = 0; turn < 3; turn++) {
        for (unsigned cols = 1; cols <= 24; cols++)
            for (unsigned rows = 1; rows <= 9; rows++) {
                s.review.left = (cols + rows) % 4;
                draw_with(&s, cols, rows, turn);
            }
        if (turn == 1)
            tui_review_draft(&s.review, false);
        if (turn == 1)
            type(&s, "some words of which\nthere are more than\none row has\nroom for");
    }
    s.review.has_gutter = true;
    for (unsigned cols = 20; cols <= 40; cols += 3)
        for (unsigned rows = 1; rows <= 9; rows++)
            draw(&s, cols, rows);
    scene_release(&s);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_stand_there_in_their_colours),
        cmocka_unit_test(a_wide_character_that_an_edge_cuts_is_blank_there),
        cmocka_unit_test(what_was_searched_for_is_reversed),
        cmocka_unit_test(what_was_on_the_alternate_screen_is_slightly_marked),
        cmocka_unit_test(the_gutter_tells_time_and_byte),
        cmocka_unit_test(badges_tell_of_events_in_clean_text),
        cmocka_unit_test(badges_tell_what_has_no_name_and_what_was_typed),
        cmocka_unit_test(sides_stand_left_and_right_of_it),
        cmocka_unit_test(older_rows_that_are_being_read_are_told),
        cmocka_unit_test(a_draft_stands_in_a_box_and_what_follows_is_faint),
        cmocka_unit_test(a_drafts_title_tells_the_line_where_there_is_little_room),
        cmocka_unit_test(a_drafts_title_tells_of_the_snapshot_by_its_name),
        cmocka_unit_test(a_long_draft_shows_what_is_around_its_cursor),
        cmocka_unit_test(nothing_leaves_a_page_of_any_size),
    };
    return cmocka_run_group_tests_name("tui_page", tests, NULL, NULL);
}
