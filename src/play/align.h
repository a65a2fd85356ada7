/* SPDX-License-Identifier: MIT */
/*
 * align.h -- which items two sequences have in common, in the same order.
 *
 * Pure. Items are numbers: two are the same when their numbers are (classes.h makes
 * them of texts). As long as they have at most some thousand differences, what is kept is
 * as much as can be (Myers' O(ND) algorithm, in linear space). Beyond that the work has a
 * bound, and what is found is a common subsequence, though maybe not the longest.
 */
#ifndef PLAY_ALIGN_H
#define PLAY_ALIGN_H

#include <stdbool.h>

#include "base/buf.h"

enum { PLAY_ALIGN_MAX = 1 << 26 }; /* items of a sequence; more are ERR_LIMIT */

struct play_align {
    const uint32_t *a, *b; /* borrowed */
    size_t na, nb;
    size_t numbers; /* each item is below it */
};

/* Zeroed it is ready for use. The items that are kept are pairs: the first of a with the
 * first of b, and so on. */
struct play_kept_items {
    struct buf a, b;  /* a byte for each item: 1, it is kept; 0, it is not */
    size_t same;      /* items before the first difference */
    bool is_bounded;  /* the work was cut short: there may be a longer one */
    uint64_t steps;   /* what it took, for tests */
    struct buf marks; /* its own, all 0: one for many calls, whose items may be few */
};

void play_kept_items_release(struct play_kept_items *k);
/* 0, ERR_LIMIT or -ENOMEM. What was in *ret is gone. */
int play_align(const struct play_align *in, struct play_kept_items *ret);

#endif
