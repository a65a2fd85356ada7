/* SPDX-License-Identifier: MIT */
/* cut_priv.h -- the beginning of a text, and how much more there is. */
#ifndef TURN_CUT_PRIV_H
#define TURN_CUT_PRIV_H

#include <stdbool.h>

#include "base/buf.h"

struct turn_cut {
    size_t lines, bytes; /* as many are put; 0: all */
    bool in_bytes;       /* what is left is told in bytes, not in lines */
};

/* Appends a clean text that begins in a line of which something stands already; its
 * further lines are indented by two blanks. Then a newline, and what was left out:
 * "  … 12 more lines". An empty text is told as "(empty)". */
void turn_cut_put(struct view text, const struct turn_cut *cut, struct buf *out);

#endif
