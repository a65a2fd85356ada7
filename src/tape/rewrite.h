/* SPDX-License-Identifier: MIT */
/*
 * rewrite.h -- a recording once more, with other bytes in it.
 *
 * Each block has the same ordinal, stamps, offsets, flags and records; bytes of DATA and
 * INPUT are replaced by as many others, and labels of snapshots by other texts. Blocks in
 * which nothing changes are copied as they stand. What cannot be read of the old
 * recording is not in the new one: gaps stay gaps, damage becomes one.
 */
#ifndef TAPE_REWRITE_H
#define TAPE_REWRITE_H

#include "tape/notes.h"

/*
 * What bytes become. `kind` is TAPE_DATA or TAPE_INPUT: two streams of their own. A
 * stream may lag behind: what it appends to out stands for the earliest bytes that it has
 * not answered yet, one for one. Each returns 0 or an error, which ends the rewriting.
 */
struct tape_filter {
    void *ctx;
    int (*feed)(void *ctx, enum tape_tag kind, struct view bytes, struct buf *out);
    /* The end of the stream, or a gap in it: all that was not answered yet is appended;
     * what follows is a new stream. */
    int (*flush)(void *ctx, enum tape_tag kind, struct buf *out);
    /* The terminal's size from here on, for both streams. */
    void (*resize)(void *ctx, uint16_t cols, uint16_t rows);
    /* A snapshot's label; the new one may be of another length. */
    int (*label)(void *ctx, struct view label, struct buf *out);
};

struct tape_rewrite_report {
    uint64_t blocks;
    uint64_t changed_blocks;
    uint64_t changed_bytes;  /* of DATA and INPUT that are other ones now */
    uint64_t changed_labels; /* of snapshots */
    struct tape_notes notes; /* what the reader said of the old one */
};

/*
 * Reads the recording at path (finished, and changed by nobody meanwhile; one file, or
 * segments and tails) and writes new_path, which must not exist: mode 0600, synced with
 * its folder. What lies at path stays as it is. Fails, and leaves no new file, when
 * something could not be read for another reason than damage. progress may be NULL.
 */
int tape_rewrite(struct tape_io *io, const char *path, const char *new_path,
                 const struct tape_filter *filter, const struct tape_progress *progress,
                 struct tape_rewrite_report *ret, struct err *err);
void tape_rewrite_report_release(struct tape_rewrite_report *r);

#endif
