/* SPDX-License-Identifier: MIT */
/*
 * sse.h -- from the bytes of a text/event-stream to its events, as HTML's "Server-sent
 * events" has them (section 9.2.6, interpreting an event stream).
 *
 * Pure. However the bytes are cut into pieces, the events are the same. Data that is one
 * line and lies whole in what is fed is handed out where it is; only what goes on in the
 * next piece, and data of several lines, is copied. Bytes that are no UTF-8 stay as they
 * are.
 */
#ifndef TURN_SSE_H
#define TURN_SSE_H

#include <stdbool.h>

#include "base/buf.h"

enum { TURN_SSE_MAX = 64 << 20 };

struct turn_sse_event {
    struct view name;  /* "message" where none was told */
    struct view data;  /* its lines with newlines between them */
    struct view id;    /* the last that was told, in this event or before; empty: none */
    uint64_t retry_ms; /* … UINT64_MAX: none */
    bool is_too_long;  /* it is over the ceiling, and its data is lost */
};

/* The views are borrowed until it returns. An error (< 0) ends the reading and is
 * returned. */
typedef int (*turn_sse_fn)(void *ctx, const struct turn_sse_event *e);

/* Zeroed it is ready for use. */
struct turn_sse {
    size_t max; /* bytes of a line, and of the data of an event; 0: TURN_SSE_MAX */

    bool has_line;   /* the first one is over: what stands there is no byte order mark */
    bool was_cr;     /* a newline that comes now is of the same line end */
    bool is_long;    /* the line at hand is too long, and passed over */
    bool has_data;   /* of the event at hand, be it empty */
    bool is_lost;    /* … it is too long */
    struct buf held; /* the line so far */
    struct buf data, name; /* of the event at hand, what had to be copied */
    struct view data_at,
        name_at; /* … what lies in the piece that is being fed, or there */
    struct buf id;
    uint64_t retry_ms; /* + 1; 0: none */
};

int turn_sse_feed(struct turn_sse *s, struct view bytes, turn_sse_fn fn, void *ctx);
/* The end of the stream. True: it broke off in an event, which is not handed out. Then as
 * new. */
bool turn_sse_end(struct turn_sse *s);
void turn_sse_release(struct turn_sse *s);

#endif
