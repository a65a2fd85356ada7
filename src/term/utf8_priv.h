/* SPDX-License-Identifier: MIT */
/* utf8_priv.h -- code points to bytes. */
#ifndef TERM_UTF8_PRIV_H
#define TERM_UTF8_PRIV_H

#include <stddef.h>
#include <stdint.h>

static inline size_t
term_utf8_size(uint32_t rune)
{
    return rune < 0x80 ? 1 : rune < 0x800 ? 2 : rune < 0x10000 ? 3 : 4;
}

/* At most four bytes; returns how many. */
static inline size_t
term_utf8_put(uint8_t *p, uint32_t rune)
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
