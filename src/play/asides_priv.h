/* SPDX-License-Identifier: MIT */
/*
 * asides_priv.h -- which events of a conversation are on branches that were left.
 *
 * Pure but for the look whether there are any. TURN_BRANCH tells behind which event one
 * goes on; the branch that came last is the current one, and leads from there back to the
 * beginning. All other events are asides.
 */
#ifndef PLAY_ASIDES_PRIV_H
#define PLAY_ASIDES_PRIV_H

#include <stdbool.h>

#include "base/buf.h"

/* Zeroed it is ready for use, and has none. */
struct play_asides {
    struct buf branches; /* of asides.c */
    struct buf kept;     /* … ranges of the current branch, the last first */
    uint64_t events;
};

void play_asides_release(struct play_asides *a);
/* May the file at path have a branch in it? Its bytes are looked through, archived or
 * not. */
bool play_asides_may_be(const char *path);
/* Each event in its order; from: of a TURN_BRANCH. */
int play_asides_event(struct play_asides *a);
int play_asides_branch(struct play_asides *a, uint64_t from);
/* All were told: from here on play_asides_is() may be asked, for each number from 1 up;
 * those that come later are on the current branch. */
int play_asides_end(struct play_asides *a);
bool play_asides_is(struct play_asides *a, uint64_t number);

#endif
