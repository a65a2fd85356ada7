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

enum {
    CALLS_EVENT_MAX = 8 << 20
}; /* bytes; a longer one is cut, and goes on as another */

/* Zeroed it is ready for use. */
struct calls_split {
    struct buf held; /* of the event at hand */
    bool has_line;   /* … its line at hand has something in it */
    bool was_cr;     /* the last byte was a CR, which an LF may follow */
};

/* An event, borrowed. An error (< 0) ends the call and is returned. */
typedef int (*calls_split_fn)(void *ctx, struct view event);

int calls_split_feed(struct calls_split *s, struct view bytes, calls_split_fn fn,
                     void *ctx);
/* Nothing follows: what there is of an event that has not ended. */
int calls_split_end(struct calls_split *s, calls_split_fn fn, void *ctx);
void calls_split_release(struct calls_split *s);

#endif
