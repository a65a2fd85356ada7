/* SPDX-License-Identifier: MIT */
/* tui_stage_test.c -- where a session's screen stands on terminals of all sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/term_check.h"
#include "tui/stage_priv.h"

struct scene {
    struct term *session, *outer;
    struct tui_stage stage;
    struct term_widths widths;
};

/* The session's screen and its frame, drawn as a player does. */
static void
draw(struct scene *s, unsigned cols, unsigned rows, const char *title)
{
    AUTO(buf) bytes = { 0 };
    tui_stage_set(&s->stage, cols, rows, s->session);
    term_blit(s->session, &s->stage.window, &bytes);
    tui_stage_frame(&s->stage, title, &s->widths, &bytes);
    term_free(s->outer);
    s->outer = term_check_new(cols, rows);
    term_feed(s->outer, bytes.p, bytes.n, 0);
    assert_int_equal(term_scrollback_count(s->outer), 0);
}

static void
scene_init(struct scene *s, unsigned cols, unsigned rows, const char *text)
{
    *s = (struct scene){ .session = term_check_new(cols, rows) };
    term_feed(s->session, text, strlen(text), 0);
}

static void
scene_release(struct scene *s)
{
    term_free(s->session);
    term_free(s->outer);
    term_widths_release(&s->widths);
}

static void
is_row(const struct scene *s, unsigned row, const char *text)
{
    struct term_line line = { 0 };
    assert_int_equal(term_line_at(s->outer, row, &line), 0);
    assert_string_equal(buf_str(&line.text), text);
    term_line_release(&line);
}

static void
a_larger_terminal_frames_it_in_the_middle(void **state)
{
    (void)state;
    struct scene s;
    scene_init(&s, 8, 2, "one\r\ntwo");
    draw(&s, 14, 7, "name");
    is_row(&s, 0, "");
    is_row(&s, 1, "  ┌─ name ─┐");
    is_row(&s, 2, "  │one     │");
    is_row(&s, 3, "  │two     │");
    is_row(&s, 4, "  └────────┘");
    assert_int_equal(s.stage.bar, TUI_BAR_ROW);
    assert_int_equal(s.stage.bar_row, 5);
    assert_int_equal(s.stage.bar_cols, 14);
    draw(&s, 10, 4, "a long name");
    is_row(&s, 0, "┌─ a l… ─┐");
    is_row(&s, 3, "└────────┘");
    assert_int_equal(s.stage.bar, TUI_BAR_OVER); /* it would be too short inside */
    assert_int_equal(s.stage.bar_row, 3);
    scene_release(&s);
    scene_init(&s, 30, 2, "one");
    draw(&s, 32, 4, NULL);
    assert_int_equal(s.stage.bar, TUI_BAR_BORDER);
    assert_int_equal(s.stage.bar_row, 3);
    assert_int_equal(s.stage.bar_col, 2);
    assert_int_equal(s.stage.bar_cols, 28);
    scene_release(&s);
}

static void
a_frame_stands_where_there_is_room_for_it(void **state)
{
    (void)state;
    struct scene s;
    scene_init(&s, 4, 2, "one\r\ntwo");
    draw(&s, 6, 2, NULL);
    is_row(&s, 0, "│one │");
    assert_int_equal(s.stage.bar, TUI_BAR_OVER);
    draw(&s, 5, 4, NULL);
    is_row(&s, 0, "────");
    is_row(&s, 1, "one");
    draw(&s, 4, 2, NULL);
    is_row(&s, 0, "one");
    is_row(&s, 1, "two");
    assert_int_equal(s.stage.bar, TUI_BAR_OVER);
    draw(&s, 4, 3, NULL);
    is_row(&s, 0, "one");
    assert_int_equal(s.stage.bar, TUI_BAR_ROW);
    assert_int_equal(s.stage.bar_row, 2);
    scene_release(&s);
}

static void
a_smaller_terminal_shows_what_is_around_the_cursor(void **state)
{
    (void)state;
    struct scene s;
    unsigned row, col;
    scene_init(&s, 20, 10, "top\033[10;17Hend");
    draw(&s, 8, 5, NULL);
    assert_true(s.stage.is_cropped);
    assert_int_equal(s.stage.bar, TUI_BAR_ROW);
    assert_int_equal(s.stage.bar_row, 4);
    is_row(&s, 3, "    end");
    assert_true(tui_stage_cursor(&s.stage, term_cursor(s.session), &row, &col));
    assert_int_equal(row, 3);
    assert_int_equal(col, 7);
    term_feed(s.session, "\033[H", 3, 0);
    draw(&s, 8, 5, NULL);
    is_row(&s, 0, "top");
    assert_false(tui_stage_cursor(
        &s.stage, (struct term_cursor){ .row = 9, .is_visible = true }, &row, &col));
    assert_true(tui_stage_cursor(
        &s.stage, (struct term_cursor){ .col = 7, .is_visible = true }, &row, &col));
    assert_false(tui_stage_cursor(
        &s.stage, (struct term_cursor){ .col = 8, .is_visible = true }, &row, &col));
    scene_release(&s);
}

/* Everything is within the terminal, and no row of the picture is under a bar that has
 * one of its own. */
static void
check_within(const struct tui_stage *s)
{
    const struct term_window *w = &s->window;
    unsigned sides = s->has_sides, lines = s->has_lines;
    assert_true(w->rows >= 1 && w->cols >= 1);
    assert_true(w->at_row >= lines && w->at_row + w->rows + lines <= s->rows);
    assert_true(w->at_col >= sides && w->at_col + w->cols + sides <= s->cols);
    assert_true(w->top + w->rows <= s->session_rows);
    assert_true(w->left + w->cols <= s->session_cols);
    assert_true(s->bar_row < s->rows && s->bar_col + s->bar_cols <= s->cols);
    if (s->bar == TUI_BAR_ROW)
        assert_true(s->bar_row >= w->at_row + w->rows + lines);
}

static void
any_size_has_its_place_on_any_other(void **state)
{
    (void)state;
    for (unsigned rows = 1; rows <= 9; rows++)
        for (unsigned cols = 1; cols <= 30; cols += cols < 9 ? 1 : 7) {
            struct scene s;
            scene_init(&s, cols, rows, "\033[99;99Hx");
            for (unsigned y = 1; y <= 12; y++)
                for (unsigned x = 1; x <= 40; x += x < 12 ? 1 : 5) {
                    draw(&s, x, y, "title");
                    check_within(&s.stage);
                }
            scene_release(&s);
        }
}

static void
a_reversed_session_is_reversed_in_its_frame_only(void **state)
{
    (void)state;
    struct scene s;
    struct term_cell cell;
    scene_init(&s, 4, 2, "\033[?5hone");
    draw(&s, 10, 6, NULL);
    assert_false(term_modes(s.outer).is_reverse);
    term_cell_at(s.outer, s.stage.window.at_row + 1, s.stage.window.at_col, &cell);
    assert_true(cell.style.attrs & TERM_INVERSE);
    term_cell_at(s.outer, 0, 0, &cell);
    assert_false(cell.style.attrs & TERM_INVERSE);
    scene_release(&s);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_larger_terminal_frames_it_in_the_middle),
        cmocka_unit_test(a_frame_stands_where_there_is_room_for_it),
        cmocka_unit_test(a_smaller_terminal_shows_what_is_around_the_cursor),
        cmocka_unit_test(any_size_has_its_place_on_any_other),
        cmocka_unit_test(a_reversed_session_is_reversed_in_its_frame_only),
    };
    return cmocka_run_group_tests_name("tui_stage", tests, NULL, NULL);
}
