/* SPDX-License-Identifier: MIT */
/* iso.h -- moments as people and programs write them: ISO 8601, UTC, milliseconds. */
#ifndef BASE_ISO_H
#define BASE_ISO_H

#include <stdbool.h>

#include "base/buf.h"

/* Appends it: "2026-11-16T02:13:05.123Z". ns since 1970. */
void iso_time(uint64_t ts_ns, struct buf *out);
/* "2026-11-16T02:13:05", with any fraction, and Z or an offset; nothing else. False:
 * that is none, or not since 1970. */
bool iso_time_read(struct view text, uint64_t *ret_ns);

#endif
