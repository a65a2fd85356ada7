/* SPDX-License-Identifier: MIT */
/* utf8.h -- UTF-8 as Unicode defines it: no overlong forms, no surrogates, up to
 * U+10FFFF. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The length (1..4) of the sequence at p, with its code point in *ret_cp; 0 when the
 * bytes at p are no UTF-8. n > 0 is what may be read.
 */
int utf8_next(const uint8_t *p, size_t n, uint32_t *ret_cp);
/* Of bytes that utf8_next() refuses: how many are the beginning of one character (one
 * or more). That is what becomes one U+FFFD. *ret_is_open: all n are, and it may go
 * on. */
size_t utf8_stump(const uint8_t *p, size_t n, bool *ret_is_open);
/* How many bytes stand before a character at their end that has not all come. */
size_t utf8_whole(const uint8_t *p, size_t n);
/* Is all of it UTF-8? And without control characters (C0, DEL, C1)? */
bool utf8_is_text(const void *p, size_t n);
bool utf8_is_line(const void *p, size_t n);

/* C0, DEL, C1. */
static inline bool
utf8_is_control(uint32_t rune)
{
    return rune < 0x20 || (rune >= 0x7f && rune < 0xa0);
}

static inline bool
utf8_is_line_end(uint32_t rune)
{
    return rune == '\n' || rune == '\r' || rune == 0x85 || rune == 0x2028 ||
           rune == 0x2029;
}

/* How many bytes a code point takes. */
static inline size_t
utf8_size(uint32_t rune)
{
    return rune < 0x80 ? 1 : rune < 0x800 ? 2 : rune < 0x10000 ? 3 : 4;
}

/* Writes them, at most four; returns how many. */
static inline size_t
utf8_put(uint8_t *p, uint32_t rune)
{
    if (rune < 0x80) {
        p[0] = (uint8_t)rune;
        return 1;
    }
    if (rune < 0x800) {
        p[0] = (uint8_t)(0xc0 | rune >> 6);
        p[1] = (uint8_t)(0x80 | (rune & 0x3f));
        return 2;
    }
    if (rune < 0x10000) {
        p[0] = (uint8_t)(0xe0 | rune >> 12);
        p[1] = (uint8_t)(0x80 | (rune >> 6 & 0x3f));
        p[2] = (uint8_t)(0x80 | (rune & 0x3f));
        return 3;
    }
    p[0] = (uint8_t)(0xf0 | rune >> 18);
    p[1] = (uint8_t)(0x80 | (rune >> 12 & 0x3f));
    p[2] = (uint8_t)(0x80 | (rune >> 6 & 0x3f));
    p[3] = (uint8_t)(0x80 | (rune & 0x3f));
    return 4;
}

#endif
