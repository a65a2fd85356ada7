/* SPDX-License-Identifier: MIT */
/* plain_scan.h -- how far a text is printable ASCII, sixteen bytes at a time with SSE2.
 */
#ifndef BASE_PLAIN_SCAN_H
#define BASE_PLAIN_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* in_json: quotes and backslashes end it too. */
static inline bool
plain_scan_byte(uint8_t c, bool in_json)
{
    return c >= 0x20 && c < 0x7f && !(in_json && (c == '"' || c == '\\'));
}

/* How many bytes of the n at p are plain, up to the first that is not. */
static inline size_t
plain_scan(const uint8_t *p, size_t n, bool in_json)
{
    size_t i = 0;
#ifdef __SSE2__
    const __m128i last_control = _mm_set1_epi8(0x1f), del = _mm_set1_epi8(0x7f);
    const __m128i quote = _mm_set1_epi8(in_json ? '"' : 0x7f);
    const __m128i slash = _mm_set1_epi8(in_json ? '\\' : 0x7f);
    for (; n - i >= 16; i += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
        __m128i bad = _mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, slash));
        bad = _mm_or_si128(bad, _mm_cmpeq_epi8(v, del));
        unsigned good = (unsigned)_mm_movemask_epi8(
            _mm_andnot_si128(bad, _mm_cmpgt_epi8(v, last_control))); /* high: negative */
        if (good != 0xffff)
            return i + (size_t)__builtin_ctz(~good);
    }
#endif
    while (i < n && plain_scan_byte(p[i], in_json))
        i++;
    return i;
}

#endif
