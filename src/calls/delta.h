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
/* How many bytes of the base such ops copy. */
size_t calls_delta_copied(struct view ops);
/* With how many bytes of the base what they make begins, at least. */
size_t calls_delta_first(struct view ops);
/* Appends what the ops make of the base; ERR_DAMAGED for ops that are none, reach over
 * the base, or make more than `max` bytes. */
int calls_delta_apply(struct view base, struct view ops, size_t max, struct buf *out);

#endif
