/* SPDX-License-Identifier: MIT */
/*
 * line.h -- a terminal's line for a terminal.
 *
 * Nothing of the recording's bytes gets through but text: the only control sequences are
 * SGR and OSC 8, made here. Failures are remembered in the buf.
 */
#ifndef PLAY_LINE_H
#define PLAY_LINE_H

#include "term/term.h"

/* The text with its looks and links, without a newline; at its end all is reset. Blanks
 * at the end that look like something are part of it. */
void play_line_ansi(struct buf *out, const struct term_line *line);

#endif
