/* SPDX-License-Identifier: MIT */
/*
 * names.h -- the files of a recording: NAME, its segments NAME.1, NAME.2 …, its tails
 * NAME.tail-<ordinal>, what repair sets aside as NAME.torn, and NAME.join while it joins.
 * NAME.kept is a recording of its own: the writer's, when another file took its name.
 */
#ifndef TAPE_NAMES_H
#define TAPE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

enum {
    TAPE_PATH_MAX = 4096,
    TAPE_SEGMENTS_MAX = 16, /* with the recording itself; writers stop at 8 */
    TAPE_KEPT_MAX = 100,    /* such names that are tried */
    TAPE_NAME_ROOM = 40,    /* what the longest suffix takes, at most */
};

#define TAPE_JOIN_SUFFIX ".join"

/* Each writes a path of at most TAPE_PATH_MAX bytes to dst. Segment 0 is the recording
 * itself. */
void tape_tail_path(char *dst, const char *path, uint64_t ordinal);
void tape_segment_path(char *dst, const char *path, unsigned segment);
void tape_kept_path(char *dst, const char *path, unsigned number); /* from 1 */

/* True when a name that goes on with suffix behind the recording's is of that kind. */
bool tape_tail_suffix(const char *suffix, uint64_t *ret_ordinal);
bool tape_segment_suffix(const char *suffix, unsigned *ret_segment);

#endif
