/* SPDX-License-Identifier: MIT */
/* clean.h -- texts that people gave, as a document may have them. */
#ifndef PLAY_CLEAN_H
#define PLAY_CLEAN_H

#include <stdbool.h>

#include "redact/redact.h"

/*
 * Appends the text as valid UTF-8. Line ends and tabs stay (as \n and \t) or, in a text
 * of one line, become blanks; characters that turn text around go; other control
 * characters and what is no UTF-8 become U+FFFD.
 */
int play_clean(struct view text, bool is_one_line, struct buf *out);
/* … and masked, redact NULL: as it is. In that order: what is not seen must not keep the
 * two halves of a secret apart. */
int play_clean_masked(struct redact *redact, struct view text, bool is_one_line,
                      struct buf *out);

#endif
