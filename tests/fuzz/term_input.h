/* SPDX-License-Identifier: MIT */
/*
 * term_input.h -- a fuzzer's input as a session at a terminal.
 *
 * The first two bytes are the size. Then come bytes for the terminal; 0xff, which no text
 * has, and two more are a change of size.
 */
#ifndef TERM_INPUT_H
#define TERM_INPUT_H

#include "term/term.h"

/* A small terminal with few rows of scrollback. */
struct term *term_input_new(struct view *in);
/* In pieces of `step` bytes; 0: whole. */
void term_input_feed(struct term *t, struct view in, size_t step);
/* What a person sees on the screen: no blank is other than a space. */
void term_input_look(struct buf *out, const struct term *t);
/* A part of it, without cursor and modes. */
void term_input_cells(struct buf *out, const struct term *t, unsigned top, unsigned left,
                      unsigned rows, unsigned cols);
/* And what has scrolled off, and is wrapped, with the modes. */
void term_input_lines(struct buf *out, const struct term *t);
/* Aborts, showing both, when they are not the same. */
void term_input_same(const char *what, const struct buf *a, const struct buf *b);
/* Aborts when a diff's bytes have something that is not of its allow-list. */
void term_input_allowed(const struct buf *diff);

#endif
