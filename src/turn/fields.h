/* SPDX-License-Identifier: MIT */
/*
 * fields.h -- some fields of a JSON object, found in one pass over it.
 *
 *     struct view type = { 0 }, message = { 0 };
 *     const struct turn_field wanted[] = { { "type", &type }, { "message", &message } };
 *     if (!turn_fields(object, wanted, 2))
 *         return …; // no object, or malformed
 *
 * Values are raw JSON, borrowed; what is missing stays as it was.
 */
#ifndef TURN_FIELDS_H
#define TURN_FIELDS_H

#include <stdbool.h>

#include "base/buf.h"

struct turn_field {
    const char *key;
    struct view *value;
};

/* False for what is no object, or malformed anywhere in it. Of a key that comes twice the
 * last counts. Keys written with escapes are not found. */
bool turn_fields(struct view object, const struct turn_field *fields, size_t count);
/* The same for an object that is known to be good JSON, and faster; still safe with any.
 */
bool turn_known_fields(struct view object, const struct turn_field *fields, size_t count);
/* … of the next element of such an array, if that is an object; others: nothing is set.
 * As turn_next(). */
bool turn_known_next(struct view *rest, const struct turn_field *fields, size_t count);
/* The next element of an array whose bracket and what was taken so far are gone from
 * *rest (at first: the whole array). False at its end, or where it is none. */
bool turn_next(struct view *rest, struct view *ret_element);
/* A raw value as text: a string without its quotes and escapes, appended to out;
 * otherwise, also for null, false and nothing. */
bool turn_str(struct view value, struct buf *out);
/* A string as text without a copy where there is no escape in it; else it is put into
 * out, which is cleared first. Nothing for what is no string. */
struct view turn_text(struct view value, struct buf *out);
/* Is it this string (without escapes)? */
bool turn_is(struct view value, const char *text);
/* Does it begin with that, and have more; does it end in that? */
bool turn_starts(struct view value, const char *with);
bool turn_ends_in(struct view value, const char *end);
bool turn_is_true(struct view value);
/* Is there anything but null? */
bool turn_is_there(struct view value);
/* A number that is whole and not negative; else `otherwise`. */
uint64_t turn_u64(struct view value, uint64_t otherwise);
/* The same for a count of tokens: what no model can have used (above NUM_EXACT_MAX) is
 * `otherwise`, too. */
uint64_t turn_tokens(struct view value, uint64_t otherwise);

#endif
