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

/* The text with its looks and links, without a newline; at its end all is reset. Blanks
 * at the end that look like something are part of it. */
void cli_line_ansi(struct buf *out, const struct term_line *line);

#endif
