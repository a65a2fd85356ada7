/* SPDX-License-Identifier: MIT */
/* ascii.h -- letters in either case, whatever the locale. */
#ifndef BASE_ASCII_H
#define BASE_ASCII_H

#include <stdint.h>

static inline uint8_t
ascii_fold(uint8_t c)
{
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c | 0x20) : c;
}

#endif
