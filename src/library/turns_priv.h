/* SPDX-License-Identifier: MIT */
/* turns_priv.h -- the reading side of turns.h line by line, for it and for its fuzz
 * target. */
#ifndef LIBRARY_TURNS_PRIV_H
#define LIBRARY_TURNS_PRIV_H

#include "library/turns.h"

struct turns_reading {
    library_turn_fn fn;
    void *ctx;
    uint64_t lines;  /* the number of the line at hand */
    uint64_t events; /* that were handed over */
    struct session_unread unread;
    bool is_line_known; /* as one with something unread in it */
    struct buf line, texts;
};

void turns_reading_release(struct turns_reading *r);
/* All events of one line, which has no newline in it. */
int turns_take_line(struct turns_reading *r, struct view line);

#endif
