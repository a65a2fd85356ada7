/* SPDX-License-Identifier: MIT */
/*
 * plain.h -- a session as plain text, line by line, while it goes on.
 *
 * A line is printed when the cursor has left it downwards or it has left the screen, and
 * again when its text is another one by the time it leaves the screen or the session
 * ends; one that only a new width has wrapped anew is not. So each final line is printed
 * at least once, as it is in the end. Lines of the alternate screen come when they leave
 * it. How often something else is printed on the way depends on how often one looks.
 *
 * Pure: it looks at a terminal model and hands out texts without control characters.
 */
#ifndef PLAY_PLAIN_H
#define PLAY_PLAIN_H

#include "base/buf.h"
#include "term/term.h"

/* A line without its newline. What it returns but 0 ends the call and is returned. */
typedef int (*play_plain_fn)(void *ctx, struct view text);

struct play_plain_row {
    bool is_printed;
    struct buf text; /* as it was printed */
};

/* Zeroed but for the first two it is ready for use. */
struct play_plain {
    play_plain_fn print;
    void *ctx;
    /* private */
    struct term_line_numbers from; /* handled up to here */
    uint64_t left_to; /* the cursor has been on this line: those before it were left */
    uint64_t blank_lines; /* held back: those at the end are not printed */
    uint64_t byte_off;
    unsigned cols, rows;
    struct play_plain_row *row; /* of the screen, by number modulo rows */
    uint64_t *known;            /* what was printed lately, by hash */
};

void play_plain_release(struct play_plain *p);
/* byte_off: where what was fed ends. What is there now is not to be printed, only what
 * will come. */
int play_plain_skip(struct play_plain *p, const struct term *t, uint64_t byte_off);
/* With each piece that was fed. 0, what print() returned, or -ENOMEM. */
int play_plain_look(struct play_plain *p, const struct term *t, uint64_t byte_off);
/* The end: whatever was not printed yet. */
int play_plain_end(struct play_plain *p, const struct term *t, uint64_t byte_off);

#endif
