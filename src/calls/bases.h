/* SPDX-License-Identifier: MIT */
/*
 * bases.h -- the bodies of late calls, as they were recorded: what a new one may be told
 * by.
 *
 * Bounded in bytes and number; the one that was not used for the longest time goes first.
 * Pure.
 */
#ifndef CALLS_BASES_H
#define CALLS_BASES_H

#include "calls/line.h"

struct calls_bases;

int calls_bases_new(struct calls_bases **ret, size_t max_bytes);
void calls_bases_free(struct calls_bases *b);
/* All of them: a line is lost, and what comes next is not told by it. */
void calls_bases_forget(struct calls_bases *b);
/*
 * Sets the line's bytes, or its base and ops, which are shorter then, for a body in one
 * piece of the call l->call; and the body is one of the bases itself. They are of calls
 * with lower numbers. `kind` tells apart what need not be compared (upstream and path).
 * ops are in `ret_ops`.
 */
int calls_bases_tell(struct calls_bases *b, struct calls_line *l, struct view kind,
                     struct view body, struct buf *ret_ops);

#endif
