/* SPDX-License-Identifier: MIT */
/*
 * lines_priv.h -- bytes, however they are cut, as lines.
 *
 * Pure. A line that lies whole in what is fed is handed out where it is; only what goes
 * on in the next piece is copied. Each byte is looked at once, so that a line of many MB
 * may come byte by byte.
 */
#ifndef TURN_LINES_PRIV_H
#define TURN_LINES_PRIV_H

#include <stdbool.h>

#include "base/buf.h"

enum turn_lines_mode {
    TURN_LINES_TEXT,  /* a line over TURN_PLAIN_MAX comes in pieces */
    TURN_LINES_MAYBE, /* … if nothing in its beginning can be JSON */
    TURN_LINES_JSON,  /* … over TURN_LINE_MAX: only its beginning */
};

/* Zeroed it is ready for use. */
struct turn_lines {
    enum turn_lines_mode mode; /* the caller's, also between two lines */
    struct buf held;           /* the line so far */
    size_t lost;               /* bytes of it that are gone, as it is too long */
    bool is_long;              /* MAYBE: it may be JSON, and is not cut */
    bool is_cut;               /* what is handed out is the beginning of a longer one */
};

/* A line without its newline; lost: so many bytes behind it were not kept. */
typedef int (*turn_line_fn)(void *ctx, struct view line, size_t lost);

int turn_lines_feed(struct turn_lines *l, struct view bytes, turn_line_fn fn, void *ctx);
/* What there is of a last line, if anything. */
int turn_lines_end(struct turn_lines *l, turn_line_fn fn, void *ctx);
void turn_lines_release(struct turn_lines *l);
/* n, less the bytes of a character that is cut at its end. */
size_t turn_lines_whole(struct view text);

#endif
