/* SPDX-License-Identifier: MIT */
/*
 * feed.h -- bytes that nobody types, brought through a terminal's line discipline.
 *
 * A canonical terminal takes some bytes for commands and silently cuts a line at 4,096.
 * So special bytes are quoted (VLNEXT), long lines are pushed to the reader (VEOF in the
 * middle of a line) every PTY_FEED_PUSH bytes, and the end is a VEOF, two of them in the
 * middle of a line. In raw mode bytes go as they are and there is no end. Pure.
 *
 * What no sender can help: where there is no VLNEXT (IEXTEN off), special bytes act as if
 * they were typed; where there is no VEOF, lines are not pushed and there is no end.
 * ISTRIP, IUCLC and PARMRK change quoted bytes as well: the reader asked for that. With
 * IXON, Linux since 6.0 heeds also a quoted VSTOP that does not fit into its queue yet: a
 * VSTART goes behind each, and helps unless a write to the terminal ends between the two.
 */
#ifndef PTY_FEED_H
#define PTY_FEED_H

#include <stdbool.h>
#include <termios.h>

#include "base/buf.h"

enum { PTY_FEED_PUSH = 1024 };

struct pty_feed {
    size_t line_bytes; /* at least so many wait in the terminal for the end of the line */
    bool is_mid_line;  /* there may be some */
};

/* Appends what makes a terminal in this state take exactly `in`. The state may change
 * between calls: give little at a time. */
int pty_feed_put(struct pty_feed *f, const struct termios *state, struct view in,
                 struct buf *out);
/* The same for the end of the input. */
int pty_feed_end(struct pty_feed *f, const struct termios *state, struct buf *out);

#endif
