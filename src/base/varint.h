/* SPDX-License-Identifier: MIT */
/* varint.h -- numbers of seven bits a byte, the low ones first. */
#ifndef BASE_VARINT_H
#define BASE_VARINT_H

#include <stdbool.h>

#include "base/buf.h"

enum { VARINT_MAX = 10 };

static inline uint8_t *
put_varint(uint8_t *p, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        *p++ = (uint8_t)(v | 0x80);
    *p++ = (uint8_t)v;
    return p;
}

/* Takes it off the front of *in. False: there is none. */
static inline bool
get_varint(struct view *in, uint64_t *ret)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < in->n && i < VARINT_MAX; i++) {
        v |= (uint64_t)(in->p[i] & 0x7f) << (7 * i);
        if (in->p[i] < 0x80) {
            *in = (struct view){ in->p + i + 1, in->n - i - 1 };
            *ret = v;
            return true;
        }
    }
    return false;
}

static inline bool
get_varint32(struct view *in, uint32_t *ret)
{
    uint64_t v;
    if (!get_varint(in, &v) || v > UINT32_MAX)
        return false;
    *ret = (uint32_t)v;
    return true;
}

static inline uint64_t
zigzag(uint64_t difference)
{
    return difference << 1 ^ (0 - (difference >> 63));
}

static inline uint64_t
unzigzag(uint64_t v)
{
    return v >> 1 ^ (0 - (v & 1));
}

#endif
