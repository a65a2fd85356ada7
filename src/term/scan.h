/* SPDX-License-Identifier: MIT */
/* scan.h -- how many printable ASCII bytes are there? Sixteen at a time. */
#ifndef TERM_SCAN_H
#define TERM_SCAN_H

#include <stddef.h>
#include <stdint.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

static inline size_t
term_scan_printable(const uint8_t *p, size_t n)
{
    size_t i = 0;
#ifdef __SSE2__
    const __m128i space = _mm_set1_epi8(0x20), del = _mm_set1_epi8(0x7f);
    for (; i + 16 <= n; i += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
        /* Compared with their sign, bytes from 0x80 on are below the space, too. */
        __m128i bad = _mm_or_si128(_mm_cmplt_epi8(v, space), _mm_cmpeq_epi8(v, del));
        unsigned mask = (unsigned)_mm_movemask_epi8(bad);
        if (mask)
            return i + (size_t)__builtin_ctz(mask);
    }
#endif
    while (i < n && p[i] >= 0x20 && p[i] < 0x7f)
        i++;
    return i;
}

#endif
