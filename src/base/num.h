/* SPDX-License-Identifier: MIT */
/* num.h -- decimal numbers from text, whole and in range, or not at all; their order and
 * sum. */
#ifndef BASE_NUM_H
#define BASE_NUM_H

#include <stdint.h>

#include "base/buf.h"

/* Up to here all who read JSON keep a whole number as it is (RFC 8259, section 6). */
#define NUM_EXACT_MAX ((UINT64_C(1) << 53) - 1)

/* Digits only (no sign, no space), at most `max`; 0, -EINVAL or -ERANGE. */
int num_parse(struct view text, uint64_t max, uint64_t *ret);

/*
 * A decimal number, "12", "0.004526", "-0" or "1.5e3", times 10^places; digits behind
 * that are cut off. 0; -EINVAL for what is none; -ERANGE below zero or above `max`.
 */
int num_parse_decimal(struct view text, unsigned places, uint64_t max, uint64_t *ret);

/* A number of bytes: digits, and at most one of K, M, G, T (in either case) for so many
 * times 1024. As num_parse(). */
int num_parse_size(struct view text, uint64_t max, uint64_t *ret);

/* Two uint64_t for qsort() and bsearch(), at any address. */
int num_compare_u64(const void *a, const void *b);

/* Their sum, at most `top`: what is beyond all does not wrap. */
static inline uint64_t
num_plus_u64(uint64_t a, uint64_t b, uint64_t top)
{
    return a >= top || b >= top - a ? top : a + b;
}

#endif
