/* SPDX-License-Identifier: MIT */
/*
 * walk_priv.h -- a place in a recording, and the terminal model there.
 *
 * A walk goes forwards, record by record, and may stop inside one. Of several sizes in a
 * row only the last one counts: it is taken with the next byte, or at the end of the
 * recording. Byte offsets never go back, whatever other writers' files say.
 */
#ifndef PLAY_WALK_PRIV_H
#define PLAY_WALK_PRIV_H

#include "play/report.h"
#include "tape/reader.h"
#include "term/term.h"

/* The record of a block, by their numbers. */
struct play_spot {
    uint64_t ordinal;
    uint32_t record;
};

struct play_walk {
    struct tape_io *io;              /* borrowed */
    const char *path;                /* borrowed */
    struct tape_reader_options tell; /* who hears of damage */
    unsigned first_cols, first_rows; /* where the recording does not say */

    struct tape_reader *tape;
    struct term *term;
    unsigned cols, rows;           /* wanted by the recording */
    unsigned term_cols, term_rows; /* … when the model was told last */

    struct tape_piece piece;
    struct view rest; /* of its records, behind `next` */
    struct play_spot spot;
    struct tape_record next; /* with has_next; its bytes are the piece's */
    bool has_next, is_end;
    size_t next_fed; /* bytes of it that are in the picture */

    uint64_t first_ts_ns, last_ts_ns; /* of all records so far, `next` included */
    uint64_t taken_ts_ns;             /* of the last one taken, wholly or in part */
    uint64_t shown_ts_ns;             /* of the last record with bytes in the picture */
    uint64_t byte_off;                /* bytes before it are in the picture, or lost */
    uint64_t unrecorded; /* bytes that the recorder owned up to since the last DATA */

    /* Told once for each gap, when it has been gone over. */
    void (*gap)(void *ctx, const struct play_gap *gap);
    /* Told of each record, before it is taken. 0 to go on. */
    int (*record)(void *ctx, struct play_walk *w);
    void *ctx;
};

/* From the first record on. */
int play_walk_begin(struct play_walk *w, struct err *err);
void play_walk_release(struct play_walk *w);
/* 1: there is a next record, 0: the end; or an error. */
int play_walk_peek(struct play_walk *w);
/* Takes the next record, which was peeked at; of DATA at most that many bytes of what is
 * left of it. Returns how many these were, or an error. */
ssize_t play_walk_take(struct play_walk *w, size_t max_bytes);
/* Where the bytes of `next`, which is DATA, begin. */
uint64_t play_walk_next_off(const struct play_walk *w);

#endif
