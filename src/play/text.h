/* SPDX-License-Identifier: MIT */
/*
 * text.h -- a recording as plain text, in the order and at the times at which its lines
 * came about (plain.h says which).
 *
 * It has no clock: the caller waits until play_text_next_ns(), and steps. Times are ns
 * since the recording's first record.
 */
#ifndef PLAY_TEXT_H
#define PLAY_TEXT_H

#include "play/plain.h"
#include "play/report.h"

struct play_text_options {
    unsigned cols, rows; /* where the recording does not say; 0: 80x24 */
    uint64_t from_ns,
        from_byte;           /* what was there then is not printed; 0: from the start */
    uint64_t to_ns, to_byte; /* what comes behind it is not there; UINT64_MAX: all is */
    tape_notice_fn notice;   /* damage; may be NULL */
    play_plain_fn print;     /* each line */
    void (*gap)(void *ctx, const struct play_gap *gap); /* before what follows it */
    void *ctx;                                          /* of these three */
};

struct play_text;

/* Goes to where it is to begin; nothing is printed. */
int play_text_open(struct play_text **ret, struct tape_io *io, const char *path,
                   const struct play_text_options *opt, struct err *err);
void play_text_close(struct play_text *t);
/* Is there not one record? */
bool play_text_is_empty(const struct play_text *t);
/* When the next record comes; UINT64_MAX: never. */
uint64_t play_text_next_ns(struct play_text *t);
/* Takes it, or some of it. 0, what print() returned, or an error. */
int play_text_step(struct play_text *t);
/* Nothing more comes: what was not printed yet. */
int play_text_end(struct play_text *t);

#endif
