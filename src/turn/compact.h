/* SPDX-License-Identifier: MIT */
/* compact.h -- JSON that may stand in a line of ours: valid, and without blanks. */
#ifndef TURN_COMPACT_H
#define TURN_COMPACT_H

#include <stdbool.h>

#include "base/buf.h"

/* Appends one value without the blanks between its parts; everything else stays byte by
 * byte. False, and nothing is appended, for what is no JSON in the strict sense: also
 * numbers as 007, raw control characters in strings, halves of surrogates, and what is
 * nested deeper than json_in.h goes. */
bool turn_compact(struct view json, struct buf *out);

#endif
