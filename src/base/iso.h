/* SPDX-License-Identifier: MIT */
/* iso.h -- moments as people and programs write them: ISO 8601, UTC, milliseconds. */
#ifndef BASE_ISO_H
#define BASE_ISO_H

#include "base/buf.h"

/* Appends it: "2026-11-16T02:13:05.123Z". ns since 1970. */
void iso_time(uint64_t ts_ns, struct buf *out);

#endif
