/* SPDX-License-Identifier: MIT */
/*
 * brush_priv.h -- cells put on rows of a terminal, cut at the edges of a window.
 *
 * Of term/diff.c's allow-list: text, CUP, CHA, SGR and OSC 8. A character that an edge
 * cuts is blank there, in its colours. Pure.
 */
#ifndef TUI_BRUSH_PRIV_H
#define TUI_BRUSH_PRIV_H

#include "base/buf.h"
#include "term/style.h"

struct tui_brush {
    struct buf *out;
    bool has_colours; /* else attributes alone */
    bool is_dim;      /* faint, whatever the style */
    unsigned row;     /* of the terminal … */
    unsigned left;    /* … and the column where the window begins … */
    unsigned cols;    /* … so many of it … */
    unsigned first;   /* … and the line's own column that stands there */
    /* private: */
    unsigned at; /* the terminal's column that the cursor is in; UINT_MAX: unknown */
    struct term_style pen;
    const char *uri; /* of the link that is open; NULL: none */
};

/* A window of one row; what is put next is cut at its edges. */
void tui_brush_row(struct tui_brush *b, unsigned row, unsigned left, unsigned cols,
                   unsigned first);
/* The next cell's text in a line (UTF-8, not empty): its bytes, and its columns. */
size_t tui_brush_next(struct view text, unsigned *ret_width);
/* One cell of the line, at its column; text empty: a blank one. uri NULL: no link.
 * is_hit: so that it stands out. */
void tui_brush_cell(struct tui_brush *b, unsigned col, unsigned width, struct view text,
                    const struct term_style *style, const char *uri, bool is_hit);
/* Clean text (term/text.h) from a column on; returns the one behind it. */
unsigned tui_brush_text(struct tui_brush *b, unsigned col, struct view text,
                        const struct term_style *style);
/* The same text in every column from..to-1. */
void tui_brush_fill(struct tui_brush *b, unsigned from, unsigned to, const char *text,
                    const struct term_style *style);
/* The pen is the default one again. */
void tui_brush_end(struct tui_brush *b);

#endif
