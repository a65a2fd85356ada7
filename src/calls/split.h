/* SPDX-License-Identifier: MIT */
/*
 * split.h -- a text/event-stream cut into its events, byte for byte.
 *
 * An event is what stands up to its blank line, and that line; comments and blank lines
 * alone are events, too. One behind the other they are the stream. Pure.
 */
#ifndef CALLS_SPLIT_H
#define CALLS_SPLIT_H

#include <stdbool.h>

#include "base/buf.h"

enum { CALLS_EVENT_MAX = 8 << 20 }; /* bytes; a longer one is handed out in pieces */

enum calls_split_end {
    CALLS_SPLIT_WHOLE, /* the blank line has come */
    CALLS_SPLIT_ON,    /* it is too long: what follows is of the same event */
    CALLS_SPLIT_CUT,   /* nothing follows */
};

/* Zeroed it is ready for use. */
struct calls_split {
    struct buf held; /* of the event at hand */
    bool has_line;   /* … its line at hand has something in it */
    bool was_cr;     /* the last byte was a CR, which an LF may follow */
    bool is_on;      /* something of the event was handed out */
};

/* An event, borrowed, and how it ends. An error (< 0) ends the call and is returned. */
typedef int (*calls_split_fn)(void *ctx, struct view event, enum calls_split_end end);

int calls_split_feed(struct calls_split *s, struct view bytes, calls_split_fn fn,
                     void *ctx);
/* Nothing follows: what there is of an event that has not ended; of one that was handed
 * out in pieces maybe nothing. */
int calls_split_end(struct calls_split *s, calls_split_fn fn, void *ctx);
/* How an event that was handed out has ended; is_last: none was behind it. */
enum calls_split_end calls_split_how(struct view event, bool is_last);
void calls_split_release(struct calls_split *s);

#endif
