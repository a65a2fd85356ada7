/* SPDX-License-Identifier: MIT */
/* dump.h -- what a terminal model shows, as text to compare and to read. */
#ifndef DUMP_H
#define DUMP_H

#include "term/term.h"

/* Bytes so that they can stand in a case's string. */
void dump_quoted(struct buf *out, struct view s);
/* "bold ul=curly fg=1 bg=#ff0000 uc=3", "default" when there is nothing to say. */
void dump_style(struct buf *out, const struct term_style *s);
/* The text of a row of the screen from its cells, with the blanks at the end cut. */
void dump_row(struct buf *out, const struct term *t, unsigned row);
/* All that can be asked of the model. */
void dump_all(struct buf *out, const struct term *t);
/* Are two dumps the same? If not, the first line in which they differ is appended to
 * `why`, as each has it. */
bool dump_same(struct buf *a, struct buf *b, struct buf *why);

#endif
