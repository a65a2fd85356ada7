/* SPDX-License-Identifier: MIT */
/*
 * show.h -- an event as people read it: on the terminal and in the iteration log.
 *
 * Pure; whole lines, each with its newline, of UTF-8 without control characters but tabs
 * (escape sequences are dropped, a lone CR ends a line, what is no UTF-8 becomes U+FFFD).
 * With colour the text between the sequences is the same as without.
 *
 *     [session] <id> model=<m>
 *     the text itself
 *     [thinking] …
 *     [tool] <name>
 *       key: value              (long ones cut: "… 1,234 more bytes")
 *     [result] <first lines>    (… "… 12 more lines")
 *     [error] …
 *     [done] <how> (<ms>ms, <n> turns, <n> in, <n> out tokens)
 *     [stderr] …   [warn] …
 */
#ifndef TURN_SHOW_H
#define TURN_SHOW_H

#include "turn/event.h"

struct turn_show {
    bool is_verbose; /* also TURN_USAGE, TURN_OTHER, TURN_ARTIFACT */
    bool is_coloured;
    bool is_whole; /* nothing is cut */
};

/* Appends it; nothing for events that are not shown. A piece (is_partial) is appended as
 * it is, cleaned, without a newline of ours. */
int turn_show(const struct turn_event *e, const struct turn_show *opt, struct buf *out);

#endif
