/* SPDX-License-Identifier: MIT */
/*
 * literal_priv.h -- a text that stands in every line that a regex matches. Pure.
 *
 * Only what is plain to see is taken for it. A regex that has anything in it that is not
 * known here has no literal.
 */
#ifndef LIBRARY_LITERAL_PRIV_H
#define LIBRARY_LITERAL_PRIV_H

#include <stdbool.h>

#include "base/buf.h"

/*
 * The regex is a valid one, in UTF-8. Appends the longest such text, or nothing;
 * is_caseless: in small letters, and ASCII alone. Returns 1, or 0 where something in the
 * regex is not known: nothing was appended.
 *
 * Two characters that are not ASCII are the same as an ASCII letter when case does not
 * count: U+017F (s) and U+212A (k). has_strangers: a text may hold them as such, so that
 * these two letters are no part of a literal.
 */
int literal_find(struct view regex, bool is_caseless, bool has_strangers,
                 struct buf *ret);

#endif
