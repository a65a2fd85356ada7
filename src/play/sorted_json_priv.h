/* SPDX-License-Identifier: MIT */
/* sorted_json_priv.h -- JSON of which two that say the same are the same bytes; pure. */
#ifndef PLAY_SORTED_JSON_PRIV_H
#define PLAY_SORTED_JSON_PRIV_H

#include <stdbool.h>

#include "base/buf.h"

/* Appends one value without blanks, the members of objects by their keys, strings as
 * turn/clean.h leaves them; numbers as they are written. False, and nothing is appended,
 * for what is no JSON, or is nested deep. */
bool play_sorted_json(struct view json, struct buf *out);

#endif
