/* SPDX-License-Identifier: MIT */
#include "base/base64.h"

static const char digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void
base64_put(struct view bytes, struct buf *out)
{
    uint8_t *to = buf_grow(out, (bytes.n + 2) / 3 * 4);
    for (size_t i = 0; to && i < bytes.n; i += 3, to += 4) {
        size_t left = bytes.n - i;
        uint32_t three = (uint32_t)bytes.p[i] << 16;
        three |= left > 1 ? (uint32_t)bytes.p[i + 1] << 8 : 0;
        three |= left > 2 ? bytes.p[i + 2] : 0;
        to[0] = (uint8_t)digits[three >> 18];
        to[1] = (uint8_t)digits[three >> 12 & 63];
        to[2] = left > 1 ? (uint8_t)digits[three >> 6 & 63] : '=';
        to[3] = left > 2 ? (uint8_t)digits[three & 63] : '=';
    }
}

/* Its six bits; 64: no digit. */
static uint32_t
value(uint8_t c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A' + 0U;
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26U;
    if (c >= '0' && c <= '9')
        return c - '0' + 52U;
    return c == '+' ? 62 : c == '/' ? 63 : 64;
}

/* `count` of the three bytes that four digits stand for. */
static bool
take_four(const uint8_t *four, size_t count, struct buf *out)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < 4; i++) {
        uint32_t six = i <= count ? value(four[i]) : 0;
        if (six > 63)
            return false;
        bits = bits << 6 | six;
    }
    uint8_t bytes[3] = { (uint8_t)(bits >> 16), (uint8_t)(bits >> 8), (uint8_t)bits };
    for (size_t i = count; i < 3; i++)
        if (bytes[i])
            return false;
    return buf_append(out, bytes, count) >= 0;
}

bool
base64_take(struct view text, struct buf *out)
{
    size_t before = out->n;
    if (text.n % 4)
        return false;
    for (size_t i = 0; i < text.n; i += 4) {
        size_t count = 3;
        if (i + 4 == text.n && text.p[i + 3] == '=')
            count = text.p[i + 2] == '=' ? 1 : 2;
        if (!take_four(text.p + i, count, out)) {
            out->n = before;
            return false;
        }
    }
    return true;
}
