/* SPDX-License-Identifier: MIT */
/*
 * walk_priv.h -- a place in a recording, and the terminal model there.
 *
 * A walk goes forwards, record by record, and may stop inside one. Of several sizes in a
 * row only the last one counts: it is taken with the next byte, or at the end of the
 * recording. Byte offsets never go back, whatever other writers' files say.
 *
 * A walk that began at a keyframe lacks the rows that had scrolled off before it. It
 * knows when it would need them, and never shows a picture that they would have changed.
 */
#ifndef PLAY_WALK_PRIV_H
#define PLAY_WALK_PRIV_H

#include "play/report.h"
#include "tape/reader.h"
#include "term/term.h"

/* The error of a walk that cannot go on without the rows that it lacks. */
enum { PLAY_BLIND = -10101 };

/* A record, by the numbers of its block and of itself in it. */
struct play_spot {
    uint64_t ordinal;
    uint32_t record;
};

static inline bool
play_spot_is_before(struct play_spot a, struct play_spot b)
{
    return a.ordinal < b.ordinal || (a.ordinal == b.ordinal && a.record < b.record);
}

struct play_walk;

/* Who looks on; each may be NULL. What they return that is negative ends the call. */
struct play_watch {
    /* Each gap, when it has been gone over. */
    void (*gap)(void *ctx, const struct play_gap *gap);
    /* Each record, before it is taken. */
    int (*record)(void *ctx, struct play_walk *w);
    /* The model has taken a new size; `next` or the end is still to come. */
    int (*sized)(void *ctx, struct play_walk *w);
    /* It should, and lacks the rows above. 1: another one was put in its place, which has
     * that size. */
    int (*blind)(void *ctx, struct play_walk *w);
};

struct play_walk {
    struct tape_io *io;              /* borrowed */
    const char *path;                /* borrowed */
    struct tape_reader_options tell; /* who hears of damage */
    unsigned first_cols, first_rows; /* where the recording does not say */
    /* Where a walk goes forwards only: rows that the model keeps; 0: as many as usual; of
     * the alternate screen; 0: none. */
    uint32_t scrollback_rows, alternate_rows;
    const struct play_watch *watch; /* borrowed */
    void *ctx;

    struct tape_reader *tape;
    struct term *term;
    bool is_whole;                 /* no row that has scrolled off is missing in it */
    unsigned cols, rows;           /* wanted by the recording */
    unsigned term_cols, term_rows; /* … when the model was told last */

    struct tape_piece piece;
    struct view rest;         /* of its records, behind `next` */
    struct tape_place sealed; /* of the last block that no tail had … */
    bool has_sealed;          /* … if there was one */
    uint64_t chain;           /* of the blocks before this one (keyframes_priv.h) */
    uint64_t chain_behind;    /* … with this one */
    struct play_spot spot;    /* of `next`, or of what would follow the last one */
    struct tape_record next;  /* with has_next; its bytes are the piece's */
    bool has_next, is_end;
    size_t next_fed; /* bytes of it that are in the picture */

    uint64_t first_ts_ns, last_ts_ns; /* of all records so far, `next` included */
    uint64_t taken_ts_ns;             /* of the last one taken, wholly or in part */
    uint64_t shown_ts_ns;             /* of the last record with bytes in the picture */
    uint64_t byte_off;                /* bytes before it are in the picture, or lost */
    uint64_t unrecorded; /* bytes that the recorder owned up to since the last DATA */
    uint64_t size_cost;  /* what all new sizes have cost, in bytes of data */
    /* The model has a size already that comes with this: */
    uint64_t sized_ts_ns, sized_byte;
};

/* From the first record on. */
int play_walk_begin(struct play_walk *w, struct err *err);
void play_walk_release(struct play_walk *w);
/* On from a block, behind that many of its records, with that model, which is then the
 * walk's; the other fields are set by the caller, before. False when there is no such
 * place: the walk must be begun anew. */
bool play_walk_jump(struct play_walk *w, const struct tape_place *place, uint32_t record,
                    struct term *term);
/* At the end: the recording may have grown since, and then there is a next record. Not
 * for walks that keyframes are made of. An error leaves it at the end. */
int play_walk_resume(struct play_walk *w);
/* 1: there is a next record, 0: the end; or an error. */
int play_walk_peek(struct play_walk *w);
/* Takes the next record, which was peeked at; of DATA at most that many bytes of what is
 * left of it. Returns how many these were, or an error. */
ssize_t play_walk_take(struct play_walk *w, size_t max_bytes);
/* Where the bytes of `next`, which is DATA, begin. */
uint64_t play_walk_next_off(const struct play_walk *w);
/* Is the size about to change with `next`? */
bool play_walk_is_sizing(const struct play_walk *w);
/* The options of every model that a keyframe may be made of. */
struct term_options play_walk_term_options(void);

#endif
