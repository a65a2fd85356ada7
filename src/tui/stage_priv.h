/* SPDX-License-Identifier: MIT */
/*
 * stage_priv.h -- where a session's screen stands on a terminal of any size.
 *
 * In the middle, with a frame on the sides that have room for one. Where the terminal is
 * smaller, a window of the screen that follows the cursor. One line tells about it all:
 * in a row of its own, else in the frame, else over the picture. Pure.
 */
#ifndef TUI_STAGE_PRIV_H
#define TUI_STAGE_PRIV_H

#include "term/term.h"
#include "term/width.h"

/* Where the status line is. */
enum tui_bar {
    TUI_BAR_ROW,    /* in a row of its own */
    TUI_BAR_BORDER, /* in the frame's lower line */
    TUI_BAR_OVER,   /* over the last row, when there is something to say */
};

/* Zeroed it is ready for use. */
struct tui_stage {
    bool is_bar_over;    /* no row is spared for the status line; set by the caller */
    bool is_still;       /* the window stays, wherever the cursor goes; likewise */
    unsigned cols, rows; /* of the terminal */
    unsigned session_cols, session_rows; /* of the session's screen */
    struct term_window window;           /* what of it is shown, and where */
    bool has_sides, has_lines; /* the frame's: left and right, above and below */
    bool is_cropped;
    enum tui_bar bar;
    unsigned bar_row, bar_col, bar_cols;
};

/* The window stays where it was in the session's screen as long as the cursor is in it.
 */
void tui_stage_set(struct tui_stage *s, unsigned cols, unsigned rows,
                   const struct term *session);
/* Moves the window by so many rows and columns, as far as there is something to see. */
void tui_stage_pan(struct tui_stage *s, int rows, int cols);
/* Appends what draws the frame, the title in its upper line. */
void tui_stage_frame(const struct tui_stage *s, const char *title,
                     struct term_widths *widths, struct buf *out);
/* Where the session's cursor stands on the terminal; false: it is not to be seen. */
bool tui_stage_cursor(const struct tui_stage *s, struct term_cursor cursor,
                      unsigned *ret_row, unsigned *ret_col);

#endif
