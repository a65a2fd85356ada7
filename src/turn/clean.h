/* SPDX-License-Identifier: MIT */
/*
 * clean.h -- a text made safe for a terminal and a log, piece by piece.
 *
 * Pure. What comes out is UTF-8 without control characters but \n and \t:
 *
 * - Escape sequences go, also those of one C1 character (U+009B), and what an unfinished
 *   one has of its beginning. A line end ends each: no text is hidden behind a sequence
 *   that never ends.
 * - CR LF, a lone CR, NEL, U+2028 and U+2029 are a newline.
 * - Bytes that are no UTF-8 are U+FFFD, each stump of a character one.
 * - Characters that turn text around or join nothing visibly (U+202A..E, U+2066..9, zero
 *   width blanks) go: then the characters stand in the order in which a machine takes
 *   them, as in the lines of the terminal model. Joiners of emoji and scripts stay.
 *
 * However a text is cut into pieces, what comes out of them is the same.
 */
#ifndef TURN_CLEAN_H
#define TURN_CLEAN_H

#include <stdbool.h>

#include "base/buf.h"

/* Zeroed it is ready for use. */
struct turn_clean {
    uint8_t stump[4]; /* a character that is not whole yet */
    uint8_t stump_size;
    uint8_t state; /* in which kind of sequence */
    bool was_cr;
};

/* Appends what a piece comes to. What is put out stays so, whatever follows. */
void turn_clean_feed(struct turn_clean *c, struct view piece, struct buf *out);
/* The text ends here. Then as new. */
void turn_clean_end(struct turn_clean *c, struct buf *out);
/* Both, for a whole text. */
void turn_clean(struct view text, struct buf *out);

#endif
