/* SPDX-License-Identifier: MIT */
/*
 * stamps.h -- which byte of a session came when, and which was the last at a time.
 *
 * Bounded: when there are too many entries the neighbours that are nearest in time are
 * told apart no more. Bytes and times never go back. Pure.
 */
#ifndef PLAY_STAMPS_H
#define PLAY_STAMPS_H

#include "base/buf.h"

enum { PLAY_STAMPS_MAX = 1 << 20 };

/* Zeroed it is empty and ready for use. */
struct play_stamps {
    struct buf entries; /* private */
    uint64_t min_ns;    /* entries are at least so far apart; grows */
};

void play_stamps_release(struct play_stamps *s);
/* The session had so many bytes by then: absolute ns. What does not fit is left out. */
void play_stamps_add(struct play_stamps *s, uint64_t end_byte, uint64_t ts_ns);
/* When the byte before this offset was written; 0: not known. */
uint64_t play_stamps_time(const struct play_stamps *s, uint64_t end_byte);
/* How many bytes there were by that time. */
uint64_t play_stamps_byte(const struct play_stamps *s, uint64_t ts_ns);

#endif
