/* SPDX-License-Identifier: MIT */
/*
 * json.h -- secrets out of a JSON value.
 *
 * It is masked as it stands, where names tell of values ("api_key":"…"), and then string
 * by string without their escapes, which may stand in a secret or around one
 * ("PASSWORD=\u0027…\u0027"). What had nothing to hide stays byte by byte.
 */
#ifndef REDACT_JSON_H
#define REDACT_JSON_H

#include "redact/redact.h"

/* Appends it. Where a mask reaches over more than one string, or what comes in is no
 * JSON, what comes out is none: only a text. */
int redact_json(struct redact *r, struct view json, struct buf *out);
/* A string with its quotes, by what it says without its escapes. ERR_DAMAGED: it is none.
 */
int redact_json_string(struct redact *r, struct view raw, struct buf *out);

#endif
