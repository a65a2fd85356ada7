/* SPDX-License-Identifier: MIT */
/*
 * vendor.h -- usage as the vendor of an agent counts it.
 *
 * Pure. What we keep has each token once: input_tokens are those that were neither read
 * from a cache nor written to one. Others count them in. Where more came from a cache
 * than went in at all it was not in it: decoders leave both, and here is their sum.
 */
#ifndef TURN_VENDOR_H
#define TURN_VENDOR_H

#include "turn/event.h"

enum { TURN_VENDOR_NUMBERS = TURN_USAGE_FIELDS };

struct turn_vendor_number {
    const char *name;
    uint64_t n; /* TURN_UNKNOWN: nothing of it was told */
};

/* Of the agent of that name ("codex"); any other one, and NULL, counts as we do. How many
 * numbers there are. */
size_t turn_vendor_usage(const char *agent, struct turn_usage usage,
                         struct turn_vendor_number ret[TURN_VENDOR_NUMBERS]);

#endif
