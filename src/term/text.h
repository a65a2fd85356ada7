/* SPDX-License-Identifier: MIT */
/*
 * text.h -- a line of text on a terminal: cleaned, measured, cut.
 *
 * Control characters, those that turn text around, and what is no UTF-8 are left out;
 * tabs and line ends are blanks.
 */
#ifndef TERM_TEXT_H
#define TERM_TEXT_H

#include "base/buf.h"
#include "term/width.h"

struct view term_text(const char *s);
/* How many columns it takes. */
unsigned term_text_cols(struct term_widths *widths, struct view text);
/* Appends what has room in so many columns, with "…" where something was cut off. Returns
 * how many it took. */
unsigned term_text_put(struct term_widths *widths, struct view text, unsigned cols,
                       struct buf *out);
/* Appends the end of it instead, where that is what matters. */
unsigned term_text_put_end(struct term_widths *widths, struct view text, unsigned cols,
                           struct buf *out);

#endif
