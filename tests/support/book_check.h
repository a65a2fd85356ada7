/* SPDX-License-Identifier: MIT */
/* book_check.h -- a book held against what the slow and simple way finds. */
#ifndef BOOK_CHECK_H
#define BOOK_CHECK_H

#include <stdbool.h>

#include "term/book.h"

/* Are its lines the model's final ones, with their stamps, and does it find what is
 * there? Needles are drawn from *rng. If not, `why` says what is wrong first. */
bool book_check(const struct term_book *b, uint32_t *rng, struct buf *why);
/* Have two books the same lines, by the same numbers? */
bool book_check_same(const struct term_book *a, const struct term_book *b,
                     struct buf *why);

#endif
