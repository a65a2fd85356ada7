/* SPDX-License-Identifier: MIT */
/*
 * moment.h -- moments of a session, spans of time and speeds, as people write them.
 *
 * A time is seconds with a fraction ("12.5"), m:ss or h:mm:ss, either with a fraction;
 * what lies below its smallest unit is cut. *err says what is allowed.
 */
#ifndef PLAY_MOMENT_H
#define PLAY_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct play_moment {
    bool is_byte;
    uint64_t value; /* a byte of the stream, else ns since the first record */
};

/* A time, or "@BYTE". */
int play_moment_parse(const char *text, struct play_moment *ret, struct err *err);
/* A time alone. */
int play_time_parse(const char *text, uint64_t *ret_ns, struct err *err);
/* A decimal number in thousandths, from min to max of them. */
int play_factor_parse(const char *text, uint32_t min, uint32_t max, uint32_t *ret,
                      struct err *err);

#endif
