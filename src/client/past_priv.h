/* SPDX-License-Identifier: MIT */
/*
 * past_priv.h -- the rows and times from before a client came, read from the recording
 * while nothing else is to be done, and a little of it now and then whatever comes.
 */
#ifndef CLIENT_PAST_PRIV_H
#define CLIENT_PAST_PRIV_H

#include "client/model_priv.h"
#include "play/roll.h"

/* Zeroed it is ready for use. */
struct past {
    struct play_roll *roll; /* NULL: nothing is being read */
    const char *path;       /* … of this recording; borrowed */
    uint64_t stalled_ns;    /* the recording had no more then; monotonic; 0: it has */
    unsigned stalls;        /* … so often */
    uint64_t read_ns;       /* the last slice's; monotonic */
};

/* From the session's start. False: the recording cannot be read. */
bool past_begin(struct past *p, const struct model_tape *tape);
void past_release(struct past *p);
/* When past_read() has something to do; < 0: never. */
int past_wait_ms(const struct past *p, uint64_t now_ns);
/* Is it to be read on though there is other work? */
bool past_is_due(const struct past *p, uint64_t now_ns);
/* A slice of some ms; is_busy: a short one. 1: it stands exactly at this byte; 0: not
 * yet; < 0: it never will. */
int past_read(struct past *p, uint64_t until_byte, bool is_busy, uint64_t now_ns);
/* What was read is the caller's, and nothing is being read any more. */
struct term *past_take(struct past *p, struct play_stamps *ret);
/* So far, of so many bytes. */
unsigned past_permille(const struct past *p, uint64_t bytes);

#endif
