/* SPDX-License-Identifier: MIT */
/* marked.h -- how lines of marked_stream.c say when they were written. */
#ifndef BENCH_MARKED_H
#define BENCH_MARKED_H

#include <stdint.h>

#define MARK_BEGIN "<F "

/* A line of which only a part was drawn yet does not have it. */
static inline uint64_t
mark_check(uint64_t number, uint64_t stamp_us)
{
    return (number * 31 + stamp_us * 7) % 9973;
}

#endif
