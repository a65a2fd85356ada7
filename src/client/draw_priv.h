/* SPDX-License-Identifier: MIT */
/*
 * draw_priv.h -- a session's screen on a terminal of any size.
 *
 * On the terminal's alternate screen. Where the session is larger, a window of it is
 * shown that follows the cursor; where it is smaller, it stands at the top left. Only
 * differences are written, so that a slow terminal misses pictures but never shows a
 * wrong one for long.
 */
#ifndef CLIENT_DRAW_PRIV_H
#define CLIENT_DRAW_PRIV_H

#include <stdbool.h>

#include "base/buf.h"
#include "term/canvas.h"

struct draw {
    bool mirrors_modes; /* mouse, paste, keys …: what is typed is for the session */
    bool is_stale;      /* the session has changed since the last picture */
    struct term_canvas canvas;
    unsigned top, left; /* of the window, in the session's screen */
    bool is_new;        /* no picture has been made yet */
    uint64_t bells;     /* of the session's that were passed on */
    uint64_t frame_ns;  /* since when pictures are counted; monotonic */
    size_t frame_bytes; /* what they had */
    uint64_t held_ns;   /* the session is in the middle of an update since; 0: is not */
};

/* On a terminal of this size. */
int draw_init(struct draw *d, unsigned cols, unsigned rows, bool mirrors_modes);
void draw_release(struct draw *d);
/* Appends what takes the alternate screen, and what gives it back. */
void draw_begin(struct draw *d, struct buf *out);
void draw_end(struct draw *d, struct buf *out);
/* … with the last picture on the screen that is there then. */
void draw_end_with(struct draw *d, const struct term *session, struct buf *out);
/* The terminal has another size: appends what makes it blank. */
void draw_resize(struct draw *d, unsigned cols, unsigned rows, struct buf *out);
/* The session's screen has changed. */
void draw_touch(struct draw *d);
/* When the next picture is due: how many ms from now; < 0: there is nothing new. */
int draw_wait_ms(struct draw *d, const struct term *session, uint64_t now_ns);
/* Appends what brings the terminal from the last picture to this one. */
int draw_picture(struct draw *d, const struct term *session, uint64_t now_ns,
                 struct buf *out);

#endif
