/* SPDX-License-Identifier: MIT */
/* fuzz.h -- what fuzz targets share: the entry point, and a check that is always on. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(x)                                                                   \
    do {                                                                           \
        if (!(x)) {                                                                \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #x); \
            abort();                                                               \
        }                                                                          \
    } while (0)

/* The input, taken byte by byte; zeros behind its end. */
static inline uint8_t
fuzz_byte(struct view *in)
{
    if (!in->n)
        return 0;
    in->n--;
    return *in->p++;
}

#endif
