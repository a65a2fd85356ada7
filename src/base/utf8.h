/* SPDX-License-Identifier: MIT */
/* utf8.h -- UTF-8 as Unicode defines it: no overlong forms, no surrogates, up to
 * U+10FFFF. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/*
 * The length (1..4) of the sequence at p, with its code point in *ret_cp; 0 when the
 * bytes at p are no UTF-8. n > 0 is what may be read.
 */
int utf8_next(const uint8_t *p, size_t n, uint32_t *ret_cp);

#endif
