/* SPDX-License-Identifier: MIT */
/*
 * page_priv.h -- a page of a session's lines as bytes for a canvas: rows in their
 * colours, the gutter, badges, the draft's box. Pure.
 *
 * Nothing of the session but cells' text and style is put out; a badge's and a label's
 * text is cleaned (term/text.h). What is too long is cut at the edge.
 */
#ifndef TUI_PAGE_PRIV_H
#define TUI_PAGE_PRIV_H

#include "tui/brush_priv.h"
#include "tui/review_priv.h"

struct tui_page {
    unsigned at_row, at_col; /* of the page, its gutter included, on the terminal */
    unsigned cols;           /* of the text; the gutter's stand before them */
    bool has_sides;          /* a frame's line left and right of it */
    bool has_colours;
};

/* Columns of the gutter: time and byte offset, as wide as this session needs them; 0
 * where it is off. Who has no room for it turns it off. */
unsigned tui_page_gutter(const struct tui_review *r);
/* Appends it all, the cursor put on the current line, or into the draft. */
int tui_page_put(const struct tui_page *p, struct tui_review *r, struct buf *out);
/* How the draft's box looks: how many lines of the page it takes, of `rows`. Gives the
 * draft its columns, and shows the lines around its cursor. */
unsigned tui_page_draft_rows(struct tui_review *r, unsigned rows);
/* The text of one line for the clipboard or a file: without its colours. */
int tui_page_text(const struct tui_review *r, uint64_t line, struct buf *out);

/* -- one line of it, on the brush's row -- */

/* Lines that are read again and again. Zeroed it is ready for use. */
struct tui_page_lines {
    struct term_line line, before, behind;
    struct buf joined; /* the text of all three, while hits are looked for */
    struct buf hits;   /* struct view's places: pairs of size_t */
};

void tui_page_lines_release(struct tui_page_lines *l);
/* page_row.c: a line of the book; 0 or -ENOMEM. *ret_stamp: its last_write_byte. */
int tui_page_row(struct tui_brush *b, const struct tui_review *r, uint64_t number,
                 struct tui_page_lines *l, uint64_t *ret_stamp);
/* page_gutter.c: for what was written up to this byte; 0: nothing is told. */
void tui_page_put_gutter(struct tui_brush *b, const struct tui_review *r, uint64_t stamp);
/* page_badge.c: one of the source's events. */
void tui_page_badge(struct tui_brush *b, struct tui_review *r,
                    const struct play_event *event);
/* page_draft.c: a line of the box; and where in it the cursor is, as line of the box and
 * column. */
void tui_page_draft(struct tui_brush *b, struct tui_review *r, uint64_t number);
void tui_page_draft_cursor(struct tui_review *r, unsigned *ret_number, unsigned *ret_col);

#endif
