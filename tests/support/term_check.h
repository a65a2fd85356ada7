/* SPDX-License-Identifier: MIT */
/* term_check.h -- two terminal models held against each other. */
#ifndef TERM_CHECK_H
#define TERM_CHECK_H

#include <stdbool.h>

#include "term/term.h"

/* A model of that size with default options; the test fails when there is none. */
struct term *term_check_new(unsigned cols, unsigned rows);
/* Feeds it in pieces of 1 … most bytes, drawn from *rng; most 0: all at once. */
void term_check_feed(struct term *t, struct view bytes, uint64_t byte_off, size_t most,
                     uint32_t *rng);
/* Is all that can be asked of them the same? If not, `why` says what differs first. */
bool term_check_same(const struct term *a, const struct term *b, struct buf *why);
/* What a row shows, as a number: text, widths and styles of its cells. 0: it is blank. */
uint64_t term_check_row(const struct term *t, unsigned row);

#endif
