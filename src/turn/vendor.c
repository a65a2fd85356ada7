/* SPDX-License-Identifier: MIT */
/* vendor.c -- usage as the vendor of an agent counts it: the way back of its decoder. */
#include "turn/vendor.h"

#include <string.h>

#include "base/num.h"

/* In the order of turn_usage_field(). */
enum { IN = 1, OUT = 2, WRITTEN = 4, READ = 8 };

struct number {
    const char *name;
    unsigned of; /* so many of ours are in it */
};

static const struct vendor {
    const char *agent; /* NULL: all others */
    struct number numbers[TURN_VENDOR_NUMBERS];
} vendors[] = {
    { "codex",
      { { "input_tokens", IN | WRITTEN | READ },
        { "cached_input_tokens", READ },
        { "output_tokens", OUT } } },
    { "gemini",
      { { "input_tokens", IN | WRITTEN | READ },
        { "cached", READ },
        { "output_tokens", OUT } } },
    { NULL,
      { { "input_tokens", IN },
        { "output_tokens", OUT },
        { "cache_creation_input_tokens", WRITTEN },
        { "cache_read_input_tokens", READ } } },
};

static uint64_t
sum(struct turn_usage u, unsigned of)
{
    uint64_t all = TURN_UNKNOWN;
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++) {
        uint64_t n = *turn_usage_field(&u, i), before = all == TURN_UNKNOWN ? 0 : all;
        if (of >> i & 1 && n != TURN_UNKNOWN)
            all = num_plus_u64(before, n, TURN_UNKNOWN - 1);
    }
    return all;
}

size_t
turn_vendor_usage(const char *agent, struct turn_usage usage,
                  struct turn_vendor_number ret[TURN_VENDOR_NUMBERS])
{
    const struct vendor *v = vendors;
    while (v->agent && (!agent || strcmp(v->agent, agent) != 0))
        v++;
    size_t n = 0;
    for (; n < TURN_VENDOR_NUMBERS && v->numbers[n].name; n++)
        ret[n] = (struct turn_vendor_number){ v->numbers[n].name,
                                              sum(usage, v->numbers[n].of) };
    return n;
}
