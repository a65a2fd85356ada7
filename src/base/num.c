/* SPDX-License-Identifier: MIT */
#include "base/num.h"

#include <string.h>

#include <errno.h>
#include <stdbool.h>

int
num_parse(struct view text, uint64_t max, uint64_t *ret)
{
    uint64_t v = 0;
    if (!text.n)
        return -EINVAL;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9')
            return -EINVAL;
        uint64_t digit = (uint64_t)(text.p[i] - '0');
        if (v > (max - digit) / 10 || digit > max)
            return -ERANGE;
        v = v * 10 + digit;
    }
    *ret = v;
    return 0;
}

int
num_parse_size(struct view text, uint64_t max, uint64_t *ret)
{
    static const char units[] = "KMGT";
    unsigned shift = 0;
    for (unsigned i = 0; text.n && units[i]; i++)
        if ((text.p[text.n - 1] & ~0x20) == units[i])
            shift = 10 * (i + 1);
    text.n -= shift != 0;
    uint64_t v;
    int r = num_parse(text, max >> shift, &v);
    if (!r)
        *ret = v << shift;
    return r;
}

/* Digits at *at, into *mantissa as long as they fit. Returns how many there were;
 * *ret_taken of them are in it. */
static size_t
take_digits(struct view text, size_t *at, uint64_t *mantissa, size_t *ret_taken)
{
    size_t start = *at, taken = 0;
    for (; *at < text.n && text.p[*at] >= '0' && text.p[*at] <= '9'; ++*at) {
        if (*mantissa > UINT64_MAX / 10 - 1)
            continue;
        *mantissa = *mantissa * 10 + (uint64_t)(text.p[*at] - '0');
        taken++;
    }
    *ret_taken = taken;
    return *at - start;
}

static bool
take_one(struct view text, size_t *at, uint8_t a, uint8_t b)
{
    if (*at == text.n || (text.p[*at] != a && text.p[*at] != b))
        return false;
    ++*at;
    return true;
}

/* The exponent behind the digits, if there is one; false when it is none. */
static bool
take_exponent(struct view text, size_t *at, int64_t *exponent)
{
    uint64_t v = 0;
    size_t taken;
    if (!take_one(text, at, 'e', 'E'))
        return true;
    bool is_minus = take_one(text, at, '-', '-');
    if (!is_minus)
        (void)take_one(text, at, '+', '+');
    if (!take_digits(text, at, &v, &taken))
        return false;
    int64_t ten = v > 100000 ? 100000 : (int64_t)v;
    *exponent += is_minus ? -ten : ten;
    return true;
}

static int
scale(uint64_t v, int64_t exponent, uint64_t max, uint64_t *ret)
{
    for (; v && exponent < 0; exponent++)
        v /= 10;
    for (; v && exponent > 0; exponent--) {
        if (v > max / 10)
            return -ERANGE;
        v *= 10;
    }
    if (v > max)
        return -ERANGE;
    *ret = v;
    return 0;
}

int
num_parse_decimal(struct view text, unsigned places, uint64_t max, uint64_t *ret)
{
    uint64_t v = 0;
    size_t at = 0, taken, behind = 0;
    bool is_minus = take_one(text, &at, '-', '-');
    size_t before = take_digits(text, &at, &v, &taken);
    int64_t exponent = (int64_t)places + (int64_t)(before - taken);
    if (!before)
        return -EINVAL;
    if (take_one(text, &at, '.', '.')) {
        if (!take_digits(text, &at, &v, &behind))
            return -EINVAL;
        exponent -= (int64_t)behind;
    }
    if (!take_exponent(text, &at, &exponent) || at != text.n)
        return -EINVAL;
    return is_minus && v ? -ERANGE : scale(v, exponent, max, ret);
}

int
num_compare_u64(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof(x));
    memcpy(&y, b, sizeof(y));
    return (x > y) - (x < y);
}
