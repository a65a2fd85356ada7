/* SPDX-License-Identifier: MIT */
#include "tui/stage_priv.h"

#include "term/canvas.h"
#include "term/text.h"

enum {
    BAR_COLS = 80,    /* a status line in its own row has, if the terminal has them */
    BORDER_MIN = 24,  /* a frame with fewer columns has no room for it */
    BAR_ROWS_MIN = 4, /* a terminal with fewer has no row to spare for it */
};

static unsigned
at_most(unsigned n, unsigned most)
{
    return n < most ? n : most;
}

/* One direction, in `size` rows or columns for `whole` of them: does it have a border?
 * *ret_at: where the window begins, *ret_n: how much of it there is. */
static bool
place(unsigned size, unsigned whole, unsigned *ret_at, unsigned *ret_n)
{
    bool has_border = size >= whole + 2;
    *ret_n = at_most(size, whole);
    *ret_at = (size - *ret_n) / 2;
    return has_border;
}

static void
place_bar(struct tui_stage *s, bool has_row)
{
    const struct term_window *w = &s->window;
    unsigned inner = w->cols + (s->has_sides ? 2 : 0);
    unsigned below = w->at_row + w->rows + (s->has_lines ? 1 : 0);
    bool has_border = s->has_lines && inner >= BORDER_MIN && !s->is_bar_over;
    s->bar = has_row ? TUI_BAR_ROW : has_border ? TUI_BAR_BORDER : TUI_BAR_OVER;
    s->bar_row = s->rows - 1;
    s->bar_cols = s->cols;
    if (s->bar == TUI_BAR_ROW) {
        s->bar_row = below;
        s->bar_cols = at_most(inner > BAR_COLS ? inner : BAR_COLS, s->cols);
    } else if (s->bar == TUI_BAR_BORDER) {
        s->bar_row = w->at_row + w->rows;
        s->bar_cols = inner - 4;
    }
    s->bar_col = s->bar == TUI_BAR_BORDER ? w->at_col + (s->has_sides ? 1 : 2)
                                          : (s->cols - s->bar_cols) / 2;
}

/* One coordinate of a window that stays, on a screen that may have become smaller. */
static unsigned
stay(unsigned start, unsigned window, unsigned whole)
{
    return at_most(start, whole - window);
}

void
tui_stage_pan(struct tui_stage *s, int rows, int cols)
{
    struct term_window *w = &s->window;
    w->top = rows < 0 ? w->top - at_most((unsigned)-rows, w->top)
                      : stay(w->top + (unsigned)rows, w->rows, s->session_rows);
    w->left = cols < 0 ? w->left - at_most((unsigned)-cols, w->left)
                       : stay(w->left + (unsigned)cols, w->cols, s->session_cols);
}

void
tui_stage_set(struct tui_stage *s, unsigned cols, unsigned rows,
              const struct term *session)
{
    struct term_window *w = &s->window;
    struct term_cursor cursor = term_cursor(session);
    s->cols = cols;
    s->rows = rows;
    s->session_cols = term_cols(session);
    s->session_rows = term_rows(session);
    s->is_cropped = cols < s->session_cols || rows < s->session_rows;
    /* A picture that is cut anyway can spare a row; a whole one only what is left. */
    bool is_short = rows < s->session_rows + 1 || rows == s->session_rows + 2;
    bool has_row = (s->is_cropped ? rows >= BAR_ROWS_MIN : !is_short) && !s->is_bar_over;
    s->has_sides = place(cols, s->session_cols, &w->at_col, &w->cols);
    s->has_lines = place(rows - has_row, s->session_rows, &w->at_row, &w->rows);
    if (s->is_still) {
        w->top = stay(w->top, w->rows, s->session_rows);
        w->left = stay(w->left, w->cols, s->session_cols);
    } else {
        w->top = term_canvas_follow(w->top, w->rows, s->session_rows, cursor.row);
        w->left = term_canvas_follow(w->left, w->cols, s->session_cols, cursor.col);
    }
    w->is_inverted = term_modes(session).is_reverse;
    place_bar(s, has_row);
}

/* -- the frame -- */

static void
go_to(struct buf *out, unsigned row, unsigned col)
{
    buf_printf(out, "\033[%u;%uH", row + 1, col + 1);
}

static void
put_line(const struct tui_stage *s, unsigned row, const char *left, const char *right,
         struct buf *out)
{
    const struct term_window *w = &s->window;
    go_to(out, row, s->has_sides ? w->at_col - 1 : w->at_col);
    if (s->has_sides)
        buf_puts(out, left);
    for (unsigned i = 0; i < w->cols; i++)
        buf_puts(out, "─");
    if (s->has_sides)
        buf_puts(out, right);
}

static void
put_title(const struct tui_stage *s, const char *title, struct term_widths *widths,
          struct buf *out)
{
    const struct term_window *w = &s->window;
    if (!title || !*title || w->cols < 6)
        return;
    go_to(out, w->at_row - 1, w->at_col + 1);
    buf_puts(out, " ");
    term_text_put(widths, term_text(title), w->cols - 4, out);
    buf_puts(out, " ");
}

void
tui_stage_frame(const struct tui_stage *s, const char *title, struct term_widths *widths,
                struct buf *out)
{
    const struct term_window *w = &s->window;
    buf_puts(out, "\033[0;2m");
    if (s->has_lines) {
        put_line(s, w->at_row - 1, "┌", "┐", out);
        put_line(s, w->at_row + w->rows, "└", "┘", out);
        put_title(s, title, widths, out);
    }
    for (unsigned row = 0; s->has_sides && row < w->rows; row++) {
        go_to(out, w->at_row + row, w->at_col - 1);
        buf_puts(out, "│");
        go_to(out, w->at_row + row, w->at_col + w->cols);
        buf_puts(out, "│");
    }
    buf_puts(out, "\033[m");
}

bool
tui_stage_cursor(const struct tui_stage *s, struct term_cursor cursor, unsigned *ret_row,
                 unsigned *ret_col)
{
    const struct term_window *w = &s->window;
    if (cursor.row < w->top || cursor.row - w->top >= w->rows || cursor.col < w->left ||
        cursor.col - w->left >= w->cols)
        return false;
    *ret_row = w->at_row + cursor.row - w->top;
    *ret_col = w->at_col + cursor.col - w->left;
    return cursor.is_visible;
}
