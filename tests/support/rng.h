/* SPDX-License-Identifier: MIT */
/* rng.h -- numbers that look random and are the same everywhere. */
#ifndef RNG_H
#define RNG_H

#include <stdint.h>

/* A state for this seed; any number will do. */
static inline uint32_t
rng_seed(uint32_t seed)
{
    return seed * 2654435761U | 1;
}

static inline uint32_t
rng_next(uint32_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 17;
    *s ^= *s << 5;
    return *s;
}

/* 0 … n-1 */
static inline uint32_t
rng_below(uint32_t *s, uint32_t n)
{
    return (uint32_t)(((uint64_t)rng_next(s) * n) >> 32);
}

/* first … last */
static inline uint32_t
rng_between(uint32_t *s, uint32_t first, uint32_t last)
{
    return first + rng_below(s, last - first + 1);
}

#endif
