/* SPDX-License-Identifier: MIT */
/*
 * glance_priv.h -- the little that a pass-through client must know of the bytes that it
 * passes: is the alternate screen on, and did they end in the middle of a line?
 */
#ifndef CLIENT_GLANCE_PRIV_H
#define CLIENT_GLANCE_PRIV_H

#include <stdbool.h>

#include "base/buf.h"

struct glance {
    enum { GLANCE_TEXT, GLANCE_ESC, GLANCE_CSI, GLANCE_PRIVATE } state;
    unsigned number; /* the parameter being read */
    bool is_screen;  /* one of the parameters was of the alternate screen */
    bool is_alternate;
    bool is_mid_line; /* text stands behind the last line end */
};

void glance(struct glance *g, struct view bytes);

#endif
