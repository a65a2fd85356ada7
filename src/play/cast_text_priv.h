/* SPDX-License-Identifier: MIT */
/*
 * cast_text_priv.h -- bytes of a terminal as the inside of JSON strings.
 *
 * A character that is cut off at the end of one piece begins the next; what is no UTF-8
 * becomes U+FFFD, one for each part, as the terminal model shows it. What is not to be
 * seen (control characters, marks of direction, separators) is escaped.
 */
#ifndef PLAY_CAST_TEXT_PRIV_H
#define PLAY_CAST_TEXT_PRIV_H

#include "base/buf.h"

struct cast_text {
    uint8_t carry[4]; /* the beginning of a character */
    size_t carried;
    uint64_t bad_bytes; /* that became U+FFFD */
};

/* Appends the piece, with what was carried before it. */
int cast_text_put(struct cast_text *t, struct view piece, struct buf *out);
/* Nothing follows: appends what is carried. */
int cast_text_end(struct cast_text *t, struct buf *out);

#endif
