/* SPDX-License-Identifier: MIT */
/* player_priv.h -- a player's insides, for playing (player.c) and searching (search.c).
 */
#ifndef PLAY_PLAYER_PRIV_H
#define PLAY_PLAYER_PRIV_H

#include "play/player.h"
#include "play/walk_priv.h"

enum {
    PLAY_GAPS_HELD = 64,
    PLAY_RECORD_COST = 16,     /* what taking a record costs, in bytes of data */
    PLAY_WORK_SLICE = 4 << 20, /* for those who can wait */
};

enum play_work_kind { PLAY_WORK_NONE, PLAY_WORK_TIME, PLAY_WORK_BYTE };

struct play_player {
    char *path;
    struct play_walk now; /* what is shown */
    uint64_t time_ns;     /* what its place is called */
    struct play_extent extent;

    enum play_work_kind work;
    uint64_t target; /* a time or a byte */

    struct play_gap gaps[PLAY_GAPS_HELD]; /* not yet asked for */
    size_t gap_count;

    /* What was met so far, up to the record `seen`. */
    struct play_events snapshots;
    bool is_unsorted;
    bool has_seen;
    struct play_spot seen;
};

#endif
