/* SPDX-License-Identifier: MIT */
/*
 * canvas.h -- a real terminal whose screen is ours: what it shows, and what it should.
 *
 * Both are models of its size. Pictures are bytes for the second one; only differences go
 * to the terminal, of term_diff()'s allow-list, each picture in a synchronized update.
 */
#ifndef TERM_CANVAS_H
#define TERM_CANVAS_H

#include "term/term.h"

struct term_canvas {
    bool is_on;         /* the terminal is ours */
    struct term *shown; /* what it shows: fed all that it is written */
    struct term *want;  /* what it should, after term_canvas_paint() */
};

/* For a terminal of this size. 0 or -ENOMEM. */
int term_canvas_init(struct term_canvas *c, unsigned cols, unsigned rows);
void term_canvas_release(struct term_canvas *c);
/* Takes the terminal: appends these bytes, after which it is blank and in its initial
 * state. */
void term_canvas_begin(struct term_canvas *c, const char *take, struct buf *out);
/* Gives it back: appends what ends the modes that were set, and these bytes. */
void term_canvas_end(struct term_canvas *c, const char *give, struct buf *out);
/* The terminal has another size: appends what makes it blank. False: it has not. */
bool term_canvas_resize(struct term_canvas *c, unsigned cols, unsigned rows,
                        struct buf *out);
/* What a blank terminal shows after these bytes is wanted. */
void term_canvas_paint(struct term_canvas *c, struct view bytes);
/* Appends what brings the terminal to what is wanted, or to this screen of its size;
 * nothing where it shows that already. 0, or why there is no picture. */
int term_canvas_show(struct term_canvas *c, const struct term *screen, struct buf *out);

/* One coordinate of a window that follows the cursor: where it begins, given where it
 * began before. */
unsigned term_canvas_follow(unsigned start, unsigned window, unsigned whole,
                            unsigned cursor);

#endif
