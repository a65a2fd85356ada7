/* SPDX-License-Identifier: MIT */
/* turns_priv.h -- the reading side of turns.h line by line, for it and for its fuzz
 * target. */
#ifndef PLAY_TURNS_PRIV_H
#define PLAY_TURNS_PRIV_H

#include "play/turns.h"

struct turns_reading {
    const struct play_turns_options *opt;
    uint64_t number;    /* of the line at hand, from 1 */
    bool is_line_known; /* as one with something in it that is no event */
    struct buf line, texts;
};

void turns_reading_release(struct turns_reading *r);
/* All events of one line, which has no newline in it. */
int turns_take_line(struct turns_reading *r, struct view line);

#endif
