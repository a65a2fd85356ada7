/* SPDX-License-Identifier: MIT */
/* compare.h -- two sessions beside each other: turns, calls of tools, files; pure. */
#ifndef PLAY_COMPARE_H
#define PLAY_COMPARE_H

#include "play/edits.h"
#include "play/side.h"

/* How the turns (or lines) of a become those of b. */
int play_compare(const struct play_side *a, const struct play_side *b,
                 struct play_edits *ret);

/* Of two texts line by line; lines borrow of them. Zeroed it is ready for use. */
struct play_line_edits {
    struct buf a, b; /* struct view: the lines, without their newlines */
    struct play_edits edits;
};

void play_line_edits_release(struct play_line_edits *l);
int play_compare_lines(struct view a, struct view b, struct play_line_edits *ret);

/* The same call, tool and arguments, in both; [0]: of a, [1]: of b. */
struct play_call_tally {
    uint32_t first[2]; /* its first turn, from 0; PLAY_NO_ITEM: none */
    uint64_t count[2], failed[2];
};

/* In the order in which they come in a, then those of b alone, as struct
 * play_call_tally. */
int play_compare_calls(const struct play_side *a, const struct play_side *b,
                       struct buf *ret);

/* The same file in both. */
struct play_file_tally {
    struct view path;                /* borrowed of the sides; any bytes */
    enum play_file_change change[2]; /* what has become of it in all */
};

/* By path, as struct play_file_tally. */
int play_compare_files(const struct play_side *a, const struct play_side *b,
                       struct buf *ret);

#endif
