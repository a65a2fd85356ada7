/* SPDX-License-Identifier: MIT */
/* turns_priv.h -- the reading side of turns.h line by line, for it and for its fuzz
 * target. */
#ifndef PLAY_TURNS_PRIV_H
#define PLAY_TURNS_PRIV_H

#include "base/jsonl.h"
#include "play/asides_priv.h"
#include "play/turns.h"

struct turns_reading {
    const struct play_turns_options *opt;
    struct jsonl lines;
    struct buf texts;
    struct play_asides asides; /* none unless they were asked for */
    bool has_asides;
    uint64_t events;
};

/* Its place must not change until it is released. */
void turns_reading_init(struct turns_reading *r, const struct play_turns_options *opt);
void turns_reading_release(struct turns_reading *r);

#endif
