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

#include "tui/review_priv.h"

struct tui_page {
    unsigned at_row, at_col; /* of the page, its gutter included, on the terminal */
    unsigned cols;           /* of the text; the gutter's stand before them */
    bool has_sides;          /* a frame's line left and right of it */
    bool has_colours;
};

/* Columns of the gutter: time and byte offset, as wide as this session needs them; 0
 * where it is off. */
unsigned tui_page_gutter(const struct tui_review *r);
/* Appends it all, the cursor put on the current line, or into the draft. */
int tui_page_put(const struct tui_page *p, struct tui_review *r, struct buf *out);
/* How the draft's box looks: how many lines of the page it takes, of `rows`. */
unsigned tui_page_draft_rows(const struct tui_review *r, unsigned rows);
/* The text of one line for the clipboard or a file: without its colours. */
int tui_page_text(const struct tui_review *r, uint64_t line, struct buf *out);

#endif
