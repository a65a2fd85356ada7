/* SPDX-License-Identifier: MIT */
/*
 * totals.h -- what a session has used, of its events.
 *
 * Pure. Several lines may tell of the same message: of its values the largest count,
 * once. One whose id is unique is known again wherever it comes, another one while it is
 * among the latest since the last DONE. What DONE tells is the truth of all that came
 * since the DONE (or the end of the command) before; else it is a sum, and after a stream
 * that broke off a lower bound. A DONE of nothing but zeros tells nothing. No count and
 * no sum passes NUM_EXACT_MAX.
 *
 * A stream may come once more, its DONEs too: one that tells of just the messages of an
 * earlier one adds what is more, and from another is taken off what was told before of
 * messages that came again, as far as it is beyond what its messages have added.
 */
#ifndef TURN_TOTALS_H
#define TURN_TOTALS_H

#include "turn/event.h"

enum {
    TURN_ID_MIN = 16,            /* bytes; shorter ids are not unique */
    TURN_MESSAGES_MAX = 1 << 15, /* with a unique id; later ones are as those without */
};

/* Zeroed it is ready for use. */
struct turn_totals {
    struct turn_usage done;  /* of all that is done */
    struct turn_usage since; /* of the messages since the last DONE */
    uint64_t calls;          /* messages of the model */
    uint64_t open;           /* of the latest, of which the final count was not told */
    uint64_t broken;         /* … of those before, of which it never was */
    bool is_known;           /* something was told at all */
    /* private: */
    struct buf messages;     /* those with a unique id, and what was told of each */
    struct buf slots;        /* … and their places, by hash */
    struct buf recent;       /* the latest of the others */
    uint32_t span;           /* so many times it was all done */
    struct turn_usage again; /* of messages told since then, what was told before … */
    uint64_t names;          /* … and the sum of the hashes of those with a unique id */
};

/* Of any bytes, always the same; never 0. */
uint64_t turn_hash(struct view bytes);
/* Of an id that is unique in the world; 0: it is none. */
uint64_t turn_id_hash(struct view id);
int turn_totals_add(struct turn_totals *t, const struct turn_event *e);
/* TURN_NO_USAGE when nothing was told. */
struct turn_usage turn_totals_usage(const struct turn_totals *t);
/* Does a DONE tell how much it was? */
bool turn_totals_is_truth(const struct turn_event *e);
/* Is that only a lower bound? A message broke off, and no DONE has told the truth. */
bool turn_totals_is_least(const struct turn_totals *t);
/* As bytes (base/parts.h), and back into one that is zeroed; ERR_DAMAGED: that is none.
 */
int turn_totals_save(const struct turn_totals *t, struct buf *out);
int turn_totals_load(struct turn_totals *t, struct view *rest);
void turn_totals_release(struct turn_totals *t);

#endif
