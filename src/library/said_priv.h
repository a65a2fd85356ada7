/* SPDX-License-Identifier: MIT */
/*
 * said_priv.h -- the lines that the turns of a run have shown, to tell whether a row of
 * its recording says the same.
 *
 * Lines are the same when nothing but the blanks in them differs: a terminal makes blanks
 * of tabs, and has none at the end of a line.
 */
#ifndef LIBRARY_SAID_PRIV_H
#define LIBRARY_SAID_PRIV_H

#include <stdbool.h>

#include "base/buf.h"

enum { SAID_MAX = 1 << 22 }; /* lines that are remembered */

/* A line, piece by piece. */
struct said_line {
    uint64_t hash;
    bool has_text, is_blank; /* so far; the last was a blank */
};

struct said;

int said_new(struct said **ret);
void said_free(struct said *s);
struct said_line said_begin(void);
void said_more(struct said_line *line, struct view text);
/* Each line of a text. Those over SAID_MAX are forgotten. */
int said_add(struct said *s, struct view text);
/* Is it one of them? A line of nothing but blanks is none. */
bool said_has(const struct said *s, const struct said_line *line);

#endif
