/* SPDX-License-Identifier: MIT */
/*
 * lines.h -- a terminal's lines for people and programs.
 *
 * Nothing of the recording's bytes gets through but text: the only control sequences in
 * the ansi form are SGR and OSC 8, made here. Failures are remembered in the buf.
 */
#ifndef CLI_LINES_H
#define CLI_LINES_H

#include "base/json.h"
#include "term/term.h"

/* An object: text, wrapped, last_write_byte, spans. */
void cli_line_json(struct json *j, const struct term_line *line);

/* Zeroed it is ready for use; it keeps what it needs from line to line. */
struct cli_ansi {
    struct term *ruler; /* private: tells where a line's columns begin in its text */
};

void cli_ansi_release(struct cli_ansi *a);
/* The text with its looks and links, without a newline; at its end all is reset. */
void cli_ansi_line(struct cli_ansi *a, struct buf *out, const struct term_line *line);

#endif
