/* SPDX-License-Identifier: MIT */
/*
 * repaint_priv.h -- a terminal that has missed something, or that was somebody else's for
 * a while, brought to the right picture.
 */
#ifndef CLIENT_REPAINT_PRIV_H
#define CLIENT_REPAINT_PRIV_H

#include "base/buf.h"
#include "term/term.h"

/* Appends what makes a terminal show this screen, whatever it shows now; what the program
 * says next can follow. */
void repaint(struct buf *out, const struct term *t);

#endif
