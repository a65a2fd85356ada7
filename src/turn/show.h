/* SPDX-License-Identifier: MIT */
/*
 * show.h -- an event as people read it: on the terminal and in the iteration log.
 *
 * Pure; whole lines, each with its newline, of UTF-8 without control characters but tabs
 * (clean.h says how). With colour the text between the sequences is the same as without.
 *
 *     [session] <id> model=<m>
 *     the text itself
 *     [user] …   [thinking] …
 *     [tool] <name>
 *       key: value              (long ones cut: "… 1,234 more bytes")
 *     [result] <first lines>    (… "… 12 more lines"; "failed: …", "exit 2: …")
 *     [error] …
 *     [done] <how> (<ms>ms, <n> turns, <n> in, <n> out tokens)
 *     [stderr] …   [warn] …
 *
 * What a sub-agent does has "sub" in its tag: [sub tool] Bash, [sub] its text. What is
 * said (text, the user's, thinking) stands there line by line as it was said, so that a
 * text may look like a tag; further lines of all else are indented by two blanks.
 */
#ifndef TURN_SHOW_H
#define TURN_SHOW_H

#include "turn/event.h"

struct turn_show {
    bool is_verbose; /* also TURN_USAGE, TURN_OTHER, TURN_ARTIFACT, TURN_EXIT */
    bool is_coloured;
    bool is_whole; /* nothing is cut */
};

/* Appends it; nothing for events that are not shown. A piece (is_partial) is appended as
 * it is, cleaned, without a newline of ours: for one piece alone. Who shows a message
 * piece by piece puts turn_show_tag() before the first and feeds all to one turn_clean;
 * what has then come out is the beginning of what turn_show() makes of the whole. */
int turn_show(const struct turn_event *e, const struct turn_show *opt, struct buf *out);
/* What a message is in io.log: its text, or all of what is shown of it, which is then put
 * into `room`. */
struct view turn_show_content(const struct turn_event *e, struct buf *room);
/* What stands before the text: "[thinking] "; nothing for what the assistant says. */
int turn_show_tag(const struct turn_event *e, const struct turn_show *opt,
                  struct buf *out);

#endif
