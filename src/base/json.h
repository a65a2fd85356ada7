/* SPDX-License-Identifier: MIT */
/*
 * json.h -- JSON output into a buf.
 *
 * The writer sets the commas; the caller keeps the order (key before value inside an
 * object). Bytes that are no UTF-8 come out as U+FFFD, so that the result is always valid
 * JSON. Failures are remembered in the buf.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>

#include "base/buf.h"

struct json {
    struct buf *out; /* borrowed */
    bool comma;      /* the next element needs one before it */
};

void json_open(struct json *j, char bracket); /* '{' or '[' */
void json_close(struct json *j, char bracket);
void json_key(struct json *j, const char *key);
void json_key_bytes(struct json *j, struct view key);
void json_str(struct json *j, const char *s);
/* As null where there is none. */
void json_str_or_none(struct json *j, const char *s);
void json_bytes(struct json *j, struct view s);
void json_u64(struct json *j, uint64_t v);
void json_bool(struct json *j, bool v);
void json_none(struct json *j);
/* A value that is JSON already. */
void json_raw(struct json *j, struct view value);
/* A number past 2^53 that JavaScript must not round: written as a string. */
void json_u64_str(struct json *j, uint64_t v);

#endif
