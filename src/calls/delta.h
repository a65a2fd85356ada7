/* SPDX-License-Identifier: MIT */
/*
 * delta.h -- a text told by another one: what is copied from it, and what is new.
 *
 * A conversation is sent again with each call; what is stored of it is what is new. Ops
 * are a JSON array: [offset,length] of the base, or a string. Both are cut at characters
 * only, so that new text is valid UTF-8 where the target is. Pure.
 */
#ifndef CALLS_DELTA_H
#define CALLS_DELTA_H

#include "base/buf.h"

/* Appends the ops that make `target` (UTF-8) of `base`. Time is linear in both. */
int calls_delta_make(struct view base, struct view target, struct buf *out);
/* Appends what the ops make of the base; ERR_DAMAGED for ops that are none, reach over
 * the base, or make more than `max` bytes. */
int calls_delta_apply(struct view base, struct view ops, size_t max, struct buf *out);

/*
 * The bodies of late calls, as they were recorded: what a new one may be told by. Bounded
 * in bytes and number; the oldest goes first.
 */
struct calls_bases;
int calls_bases_new(struct calls_bases **ret, size_t max_bytes);
void calls_bases_free(struct calls_bases *b);
/*
 * The line's base and ops, or its bytes, for a body in one piece, whichever is shorter;
 * then the body is one of the bases itself. `kind` tells apart what need not be compared
 * (upstream and path). ops are in `ret_ops`. Now and then a body is told whole though it
 * need not be, so that one damaged line costs no more than what came before the next
 * whole one: as often as it adds at most as much as the bodies themselves.
 */
struct calls_line;
int calls_bases_tell(struct calls_bases *b, struct calls_line *l, struct view kind,
                     struct view body, struct buf *ret_ops);

#endif
