/* SPDX-License-Identifier: MIT */
/* lines.h -- a terminal's lines for programs. Failures are remembered in the buf. */
#ifndef CLI_LINES_H
#define CLI_LINES_H

#include "base/json.h"
#include "term/term.h"

/* An object: text, wrapped, last_write_byte, spans. */
void cli_line_json(struct json *j, const struct term_line *line);

#endif
