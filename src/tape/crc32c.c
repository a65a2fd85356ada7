/* SPDX-License-Identifier: MIT */
/*
 * crc32c.c -- CRC-32C.
 *
 * One instruction stream of the SSE4.2 instruction is bound by its latency (3 cycles for
 * 8 bytes), so long inputs go through three streams at once whose results are joined by
 * multiplying with x^(8*len) modulo the polynomial.
 */
#include "tape/crc32c.h"

#include <stdbool.h>
#include <string.h>

#define POLY 0x82f63b78U /* reflected */

/* Nibble table: 64 bytes, built by the compiler's constant folding; the fallback is rare.
 */
#define B1(c) ((c)&1 ? ((c) >> 1) ^ POLY : (c) >> 1)
#define N4(c) B1(B1(B1(B1((uint32_t)(c)))))

uint32_t
tape_crc32c_table(uint32_t crc, const void *data, size_t n)
{
    static const uint32_t nibble[16] = { N4(0),  N4(1),  N4(2),  N4(3), N4(4),  N4(5),
                                         N4(6),  N4(7),  N4(8),  N4(9), N4(10), N4(11),
                                         N4(12), N4(13), N4(14), N4(15) };
    const uint8_t *p = data;
    crc = ~crc;
    while (n--) {
        crc ^= *p++;
        crc = crc >> 4 ^ nibble[crc & 15];
        crc = crc >> 4 ^ nibble[crc & 15];
    }
    return ~crc;
}

#if defined(__x86_64__)

#include <nmmintrin.h>

enum { LANE = 1024 }; /* bytes a stream takes per round */

/* a * b modulo the polynomial, bit-reflected. */
static uint32_t
mul_mod(uint32_t a, uint32_t b)
{
    uint32_t r = 0;
    for (uint32_t bit = 1U << 31; bit; bit >>= 1) {
        if (a & bit)
            r ^= b;
        b = b & 1 ? b >> 1 ^ POLY : b >> 1;
    }
    return r;
}

/* x^(8*LANE): shifts a CRC over LANE zero bytes. */
static uint32_t
lane_shift(void)
{
    uint32_t r = 1U << 30; /* x^1 */
    for (unsigned bits = 1; bits < 8 * LANE; bits *= 2)
        r = mul_mod(r, r);
    return r;
}

__attribute__((target("sse4.2"))) static uint64_t
step(uint64_t crc, const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
    return _mm_crc32_u64(crc, v);
}

__attribute__((target("sse4.2"))) static uint32_t
hardware(uint32_t crc, const uint8_t *p, size_t n)
{
    uint64_t c0 = ~crc;
    if (n >= 3 * (size_t)LANE) {
        uint32_t shift = lane_shift();
        for (; n >= 3 * (size_t)LANE; n -= 3 * (size_t)LANE, p += 3 * (size_t)LANE) {
            uint64_t c1 = 0, c2 = 0;
            for (size_t i = 0; i < LANE; i += 8) {
                c0 = step(c0, p + i);
                c1 = step(c1, p + LANE + i);
                c2 = step(c2, p + 2 * (size_t)LANE + i);
            }
            c1 ^= mul_mod(shift, (uint32_t)c0);
            c0 = c2 ^ mul_mod(shift, (uint32_t)c1);
        }
    }
    for (; n >= 8; n -= 8, p += 8)
        c0 = step(c0, p);
    for (; n; n--, p++)
        c0 = _mm_crc32_u8((uint32_t)c0, *p);
    return ~(uint32_t)c0;
}

static bool
has_hardware(void)
{
    return __builtin_cpu_supports("sse4.2");
}

#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)

#include <arm_acle.h>

static uint32_t
hardware(uint32_t crc, const uint8_t *p, size_t n)
{
    crc = ~crc;
    for (; n >= 8; n -= 8, p += 8) {
        uint64_t v;
        memcpy(&v, p, 8);
        crc = __crc32cd(crc, v);
    }
    for (; n; n--, p++)
        crc = __crc32cb(crc, *p);
    return ~crc;
}

static bool
has_hardware(void)
{
    return true;
}

#else
#define hardware tape_crc32c_table

static bool
has_hardware(void)
{
    return false;
}
#endif

uint32_t
tape_crc32c(uint32_t crc, const void *p, size_t n)
{
    return has_hardware() ? hardware(crc, p, n) : tape_crc32c_table(crc, p, n);
}
