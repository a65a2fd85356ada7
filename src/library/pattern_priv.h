/* SPDX-License-Identifier: MIT */
/*
 * pattern_priv.h -- what is looked for, in lines.
 *
 * A text, byte for byte, or a regex (PCRE2, over UTF-8). ASCII letters match in either
 * case unless what is looked for has a capital; a capital right behind a backslash of a
 * regex is none. Whatever the lines and the regex are, a line costs no more than some
 * milliseconds: one that would is passed over, and counted.
 */
#ifndef LIBRARY_PATTERN_PRIV_H
#define LIBRARY_PATTERN_PRIV_H

#include <stdbool.h>

#include "base/buf.h"

enum {
    PATTERN_REGEX_MAX = 64 << 10, /* its bytes */
    PATTERN_HARD_MAX = 500,       /* lines that are passed over */
};

struct pattern;

/* Where in the text a line is, and in it the first match. */
struct pattern_hit {
    size_t line, line_end; /* without its newline */
    size_t start, end;
};

/* ERR_USAGE: no regex, with where and why; nothing at all. */
int pattern_new(struct pattern **ret, struct view query, bool is_regex, struct err *err);
void pattern_free(struct pattern *p);
/* What each line with a match holds, in one case or another; may be empty: not known. */
struct view pattern_literal(const struct pattern *p);
/* Can no line ever match? */
bool pattern_is_hopeless(const struct pattern *p);

/* Lines with a newline behind each, borrowed for the walk. */
int pattern_begin(struct pattern *p, struct view text);
/* The next line that matches: 1; 0: there is none. ERR_LIMIT: PATTERN_HARD_MAX lines were
 * too hard for the regex, since it was made. */
int pattern_next(struct pattern *p, struct pattern_hit *ret);
/* Lines that were passed over so far. */
uint64_t pattern_hard_lines(const struct pattern *p);

#endif
