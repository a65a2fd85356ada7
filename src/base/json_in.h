/* SPDX-License-Identifier: MIT */
/*
 * json_in.h -- JSON read value by value, whoever wrote it.
 *
 * Pure, without memory of its own: a cursor goes over bytes that the caller holds, and
 * each call takes one thing or fails; after a failure the cursor stands where it was met.
 * Numbers are handed out as they are written, so that no digit is lost. Strings may hold
 * what JSON forbids (bytes that are no UTF-8, control characters, halves of surrogates):
 * they are taken, and `is_odd` tells.
 *
 *     bool is_first = true;
 *     if (json_in_take(in, '['))
 *         while (json_in_each(in, ']', &is_first))
 *             json_in_skip(in);
 */
#ifndef BASE_JSON_IN_H
#define BASE_JSON_IN_H

#include <stdbool.h>

#include "base/buf.h"

enum { JSON_IN_DEPTH = 256 }; /* of values in each other that are skipped */

struct json_in {
    const uint8_t *p, *end;
    bool failed;
    bool is_odd;
};

/* The next byte that is no blank, which stays; 0 at the end. */
uint8_t json_in_peek(struct json_in *in);
/* That byte; false, without a failure, when it is another. */
bool json_in_take(struct json_in *in, char byte);
/* In an object or array whose bracket was taken: is there one more in it? Takes the comma
 * before it, or the closing bracket. */
bool json_in_each(struct json_in *in, char close, bool *is_first);
/* A string, appended to out as UTF-8; out NULL: passed over. */
bool json_in_str(struct json_in *in, struct buf *out);
/* A key and its colon; out is cleared first. */
bool json_in_key(struct json_in *in, struct buf *out);
/* A number, as it is written; borrowed. */
bool json_in_number(struct json_in *in, struct view *ret);
/* Any value. */
bool json_in_skip(struct json_in *in);
/* The same for one that was skipped before and is good: only its end is looked for. Stays
 * within the bytes whatever they are. */
void json_in_pass(struct json_in *in);
/* Is it one value, with nothing but blanks around it? */
bool json_in_is_one(struct view bytes);
/* Of such a value: from behind a string's first quote to behind its last. */
size_t json_in_string_end(struct view json, size_t i);

#endif
