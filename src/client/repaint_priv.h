/* SPDX-License-Identifier: MIT */
/*
 * repaint_priv.h -- a terminal that has missed something, or that was somebody else's for
 * a while, brought to the right picture from the recording.
 */
#ifndef CLIENT_REPAINT_PRIV_H
#define CLIENT_REPAINT_PRIV_H

#include "client/model_priv.h"

/* Appends what shows the screen after the first `off` bytes of the recording, which has
 * this size now; nothing when it cannot be read. Of a long recording only the end is
 * looked at. */
void repaint(struct buf *out, const struct model_tape *tape, uint64_t off, unsigned cols,
             unsigned rows);

#endif
