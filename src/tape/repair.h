/* SPDX-License-Identifier: MIT */
/*
 * repair.h -- makes a cut-off recording a proper one.
 *
 * Seals tails into blocks, joins segments, cuts a torn end. Being killed at any point and
 * started again gives the same bytes; what is cut off or cannot be used is kept beside
 * the recording as NAME.torn. Damage in the middle stays where it is: readers step over
 * it.
 */
#ifndef TAPE_REPAIR_H
#define TAPE_REPAIR_H

#include "tape/notes.h"

struct tape_repair_report {
    bool is_changed;                       /* (or would be) */
    uint64_t blocks;                       /* in the recording now */
    uint64_t sealed_blocks;                /* made of tails */
    uint64_t sealed_records, sealed_bytes; /* in them; bytes of DATA */
    unsigned joined_segments;              /* 0: there was only one */
    uint64_t torn_bytes;                   /* cut off and kept */
    unsigned bad_tails; /* hold something unusable; kept as NAME.tail-N.torn */
    size_t damages;     /* that remain */
};

/* progress may be NULL. ERR_BUSY while the recording is being made or repaired by someone
 * else. */
int tape_repair(struct tape_io *io, const char *path, bool is_dry_run,
                const struct tape_progress *progress, struct tape_repair_report *ret,
                struct err *err);

#endif
