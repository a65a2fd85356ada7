/* SPDX-License-Identifier: MIT */
#include "base/utf8.h"

#include <string.h>

int
utf8_next(const uint8_t *p, size_t n, uint32_t *ret_cp)
{
    static const struct {
        uint8_t mask, lead;
        uint32_t least;
    } form[] = { { 0x80, 0x00, 0 },
                 { 0xe0, 0xc0, 0x80 },
                 { 0xf0, 0xe0, 0x800 },
                 { 0xf8, 0xf0, 0x10000 } };

    for (size_t len = 1; len <= 4 && len <= n; len++) {
        if ((p[0] & form[len - 1].mask) != form[len - 1].lead)
            continue;
        uint32_t cp = p[0] & (uint8_t)~form[len - 1].mask;
        for (size_t i = 1; i < len; i++) {
            if ((p[i] & 0xc0) != 0x80)
                return 0;
            cp = cp << 6 | (p[i] & 0x3fU);
        }
        if (cp < form[len - 1].least || cp > 0x10ffff || (cp >= 0xd800 && cp < 0xe000))
            return 0;
        *ret_cp = cp;
        return (int)len;
    }
    return 0;
}

size_t
utf8_stump(const uint8_t *p, size_t n, bool *ret_is_open)
{
    uint8_t lead = p[0], least = 0x80, most = 0xbf;
    size_t size = lead < 0xc2 || lead > 0xf4 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (lead == 0xe0 || lead == 0xf0)
        least = lead == 0xe0 ? 0xa0 : 0x90; /* less would be overlong */
    if (lead == 0xed || lead == 0xf4)
        most = lead == 0xed ? 0x9f : 0x8f; /* surrogates; past U+10FFFF */
    size_t at = 1;
    for (; at < size && at < n && p[at] >= least && p[at] <= most; at++)
        least = 0x80, most = 0xbf;
    *ret_is_open = at == n && at < size;
    return at;
}

size_t
utf8_whole(const uint8_t *p, size_t n)
{
    size_t i = n;
    while (i && n - i < 3 && (p[i - 1] & 0xc0) == 0x80)
        i--;
    uint8_t lead = i ? p[i - 1] : 0;
    size_t wanted = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 0;
    return i && n - (i - 1) < wanted ? i - 1 : n;
}

static bool
is_ascii_word(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof(v));
    return !(v & 0x8080808080808080U);
}

/* 1 for ASCII, 3 for most of what is written in other scripts; 0: look closer. */
static int
common_size(const uint8_t *p, size_t n)
{
    if (n && p[0] < 0x80)
        return 1;
    bool is_three = n >= 3 && p[0] > 0xe0 && p[0] < 0xf0 && p[0] != 0xed &&
                    (p[1] & 0xc0) == 0x80 && (p[2] & 0xc0) == 0x80;
    return is_three ? 3 : 0;
}

static bool
is_all(const uint8_t *p, size_t n, bool may_control)
{
    uint32_t cp;
    for (int len; n; p += len, n -= (size_t)len) {
        while (may_control && n >= 8 && is_ascii_word(p))
            p += 8, n -= 8;
        len = may_control ? common_size(p, n) : 0;
        if (len)
            continue;
        if (!n)
            break;
        len = utf8_next(p, n, &cp);
        if (!len || (!may_control && utf8_is_control(cp)))
            return false;
    }
    return true;
}

bool
utf8_is_text(const void *p, size_t n)
{
    return is_all(p, n, true);
}

bool
utf8_is_line(const void *p, size_t n)
{
    return is_all(p, n, false);
}
