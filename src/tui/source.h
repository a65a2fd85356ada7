/* SPDX-License-Identifier: MIT */
/*
 * source.h -- the session that a viewer shows, as whoever runs the viewer has it.
 *
 * All is borrowed, and kept current by them: tui_viewer_touch() says that something has
 * changed.
 */
#ifndef TUI_SOURCE_H
#define TUI_SOURCE_H

#include "play/event.h"
#include "play/stamps.h"
#include "term/term.h"

struct tui_source {
    const struct term *term;          /* NULL: there is no picture yet */
    const struct play_stamps *stamps; /* NULL: no times are known */
    const struct play_events *events; /* sorted by anchor; NULL: none */
    uint64_t start_ts_ns;             /* of the session; absolute; 0: not known */
    uint64_t bytes;                   /* it has written so far */
    bool is_whole;                    /* its oldest row is the session's first, or … */
    unsigned permille;                /* … older ones are being read: so far */
};

#endif
