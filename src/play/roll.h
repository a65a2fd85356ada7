/* SPDX-License-Identifier: MIT */
/*
 * roll.h -- a recording read from its start into one model, in slices: every row that
 * ever scrolled off, and when each byte came.
 *
 * For those who show something else meanwhile: a player's keyframe, a mirror's picture.
 * The recording may still grow: then its end is only the end so far.
 */
#ifndef PLAY_ROLL_H
#define PLAY_ROLL_H

#include "play/event.h"
#include "play/stamps.h"
#include "tape/reader.h"
#include "term/term.h"

struct play_roll;

struct play_roll_options {
    unsigned cols, rows;   /* where the recording does not say; 0: 80x24 */
    tape_notice_fn notice; /* damage; may be NULL */
    void *ctx;
};

int play_roll_open(struct play_roll **ret, struct tape_io *io, const char *path,
                   const struct play_roll_options *opt, struct err *err);
void play_roll_close(struct play_roll *r);
/* Reads on, at most about max_bytes of data, and not past until_byte (UINT64_MAX: to the
 * end). 1: there is more before that; 0: it stands there, or at the end of what there is;
 * or an error. */
int play_roll_read(struct play_roll *r, uint64_t until_byte, size_t max_bytes);
/* Bytes before this one are in the model. */
uint64_t play_roll_byte(const struct play_roll *r);
/* Borrowed; play_roll_take() makes it the caller's, and the roll is then at its end. */
const struct term *play_roll_term(const struct play_roll *r);
struct term *play_roll_take(struct play_roll *r);
const struct play_stamps *play_roll_stamps(const struct play_roll *r);
/* … the caller's, who goes on adding to them; the roll has none then. */
struct play_stamps play_roll_take_stamps(struct play_roll *r);
/* The snapshots that the recording itself has, as far as it was read; unsorted. */
const struct play_events *play_roll_snapshots(const struct play_roll *r);

#endif
