/* SPDX-License-Identifier: MIT */
/* lines.h -- a terminal's lines, for programs and for people. */
#ifndef CLI_LINES_H
#define CLI_LINES_H

#include "base/json.h"
#include "term/term.h"

/* An object: text, wrapped, last_write_byte, spans. */
void cli_line_json(struct json *j, const struct term_line *line);

/* Lines on standard output, as they are made. */
struct cli_printer {
    bool is_ansi;         /* with looks and links */
    struct buf out;       /* not written yet */
    uint64_t blank_lines; /* held back: those at the end are not printed */
};

/* A term_line_fn; ctx is the struct. 0, or an error of memory or of a write. */
int cli_printer_line(void *ctx, const struct term_line *line);
/* Writes what there is; unless it is the end only when that is much. */
int cli_printer_flush(struct cli_printer *p, bool is_end);
void cli_printer_release(struct cli_printer *p);

#endif
