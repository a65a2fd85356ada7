/* SPDX-License-Identifier: MIT */
/* json_priv.h -- the inside of a JSON string as units: a byte, or an escape. */
#ifndef REDACT_JSON_PRIV_H
#define REDACT_JSON_PRIV_H

#include <stdbool.h>

#include "base/buf.h"

/*
 * Decodes units, up to a quote or the end. Returns how many bytes they have; an escape
 * that has not all come is none, unless is_last. < 0: ERR_DAMAGED, there is something
 * else; what stands before it is decoded.
 */
ssize_t json_units(struct view inside, bool is_last, struct buf *ret_text);
/* How many bytes the units have that say the first n bytes of the text; one that says
 * more is none of them. *ret_says: how much they say. They have been decoded before. */
size_t json_units_of(struct view inside, size_t n, size_t *ret_says);
/* The text as JSON, without quotes. */
int json_put_inside(struct view text, struct buf *out);

#endif
