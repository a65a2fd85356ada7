/* SPDX-License-Identifier: MIT */
/*
 * grams_priv.h -- the words under which a text is found: each run of three bytes in it,
 * ASCII letters as small ones, written as six hex digits. Pure.
 *
 * Whatever bytes a text or a question has, the words are digits and blanks: nothing that
 * a database could take for syntax.
 */
#ifndef LIBRARY_GRAMS_PRIV_H
#define LIBRARY_GRAMS_PRIV_H

#include "base/buf.h"

enum {
    GRAM_BYTES = 3,
    GRAMS_ASKED_MAX = 32, /* of a question: more narrow it down no further */
};

/* For one text after the other. */
struct grams;

int grams_new(struct grams **ret);
void grams_free(struct grams *g);
/* Appends each gram of the text once, in any order, but none that holds a newline. */
int grams_words(struct grams *g, struct view text, struct buf *ret);
/* The same for what is looked for, at most GRAMS_ASKED_MAX, from all parts of it; nothing
 * for less than three bytes. */
int grams_asked(struct view text, struct buf *ret);

/* Appends one word that is given as a number of GRAM_BYTES bytes. */
int grams_word(uint32_t gram, struct buf *ret);

#endif
