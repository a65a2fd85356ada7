/* SPDX-License-Identifier: MIT */
/*
 * parts_priv.h -- one line of several parts, of which the least important go first where
 * there is no room for all. Pure.
 */
#ifndef TUI_PARTS_PRIV_H
#define TUI_PARTS_PRIV_H

#include <stdbool.h>

#include "base/buf.h"
#include "term/width.h"

enum { TUI_PARTS = 24 };

struct tui_part {
    size_t at, n; /* in the text of all */
    unsigned cols;
    unsigned gap;  /* columns before it, if it is not the first */
    unsigned rank; /* the highest goes first */
    bool is_long;  /* it may be cut instead */
};

/* Zeroed, with the widths, it is ready for use. */
struct tui_parts {
    struct buf text;
    struct tui_part part[TUI_PARTS];
    size_t count;
    struct term_widths *widths; /* borrowed */
};

void tui_parts_release(struct tui_parts *p);
/* What was appended to the text since the last one is a part; nothing is none. */
void tui_parts_end(struct tui_parts *p, unsigned rank, unsigned gap, bool is_long);
/* Columns of all of them. */
unsigned tui_parts_cols(const struct tui_parts *p);
/* Leaves out what has no room. */
void tui_parts_fit(struct tui_parts *p, unsigned cols);
/* Appends the i-th of those that are left, cleaned and cut, without its gap. */
void tui_parts_put(const struct tui_parts *p, size_t i, unsigned cols, struct buf *out);
unsigned tui_parts_gap(const struct tui_parts *p, size_t i);

#endif
