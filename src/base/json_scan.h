/* SPDX-License-Identifier: MIT */
/*
 * json_scan.h -- the end of a run of plain bytes in a JSON string, many bytes at a time.
 *
 * Sixteen with SSE2, else eight in a word.
 */
#ifndef BASE_JSON_SCAN_H
#define BASE_JSON_SCAN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

struct json_scan {
    const uint8_t *end; /* the next quote or backslash, or the end */
    bool has_control;   /* bytes below 0x20 stand before it */
    bool has_high;      /* … of 0x80 and above */
};

static inline struct json_scan
json_scan_bytes(const uint8_t *p, const uint8_t *end, bool has_control, bool has_high)
{
    for (; p < end && *p != '"' && *p != '\\'; p++) {
        has_control |= *p < 0x20;
        has_high |= *p >= 0x80;
    }
    return (struct json_scan){ p, has_control, has_high };
}

#ifdef __SSE2__

static inline struct json_scan
json_scan(const uint8_t *p, const uint8_t *end)
{
    const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\');
    const __m128i last_control = _mm_set1_epi8(0x1f);
    unsigned controls = 0, highs = 0;
    for (; end - p >= 16; p += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        unsigned stop = (unsigned)_mm_movemask_epi8(
            _mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, slash)));
        unsigned control = (unsigned)_mm_movemask_epi8(
            _mm_cmpeq_epi8(_mm_min_epu8(v, last_control), v));
        unsigned high = (unsigned)_mm_movemask_epi8(v);
        if (stop) {
            unsigned before = (stop & -stop) - 1;
            return (struct json_scan){ p + __builtin_ctz(stop),
                                       controls || (control & before),
                                       highs || (high & before) };
        }
        controls |= control;
        highs |= high;
    }
    return json_scan_bytes(p, end, controls != 0, highs != 0);
}

#else

/* In a word: the high bit of each byte that is zero, and perhaps of one above it. */
static inline uint64_t
json_scan_zeros(uint64_t v)
{
    return (v - 0x0101010101010101U) & ~v & 0x8080808080808080U;
}

static inline struct json_scan
json_scan(const uint8_t *p, const uint8_t *end)
{
    bool has_control = false, has_high = false;
    for (; end - p >= 8; p += 8) {
        uint64_t v;
        memcpy(&v, p, sizeof(v));
        if (json_scan_zeros(v ^ 0x2222222222222222U) |
            json_scan_zeros(v ^ 0x5c5c5c5c5c5c5c5cU))
            break;
        has_high |= (v & 0x8080808080808080U) != 0;
        has_control |= json_scan_zeros(v & 0xe0e0e0e0e0e0e0e0U) != 0;
    }
    return json_scan_bytes(p, end, has_control, has_high);
}

#endif

#endif
