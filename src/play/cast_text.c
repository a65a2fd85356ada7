/* SPDX-License-Identifier: MIT */
#include "play/cast_text_priv.h"

#include <stdbool.h>

#include "base/utf8.h"

enum {
    PIECE_MAX = 16 << 10,
    GROWTH = 6, /* "\u001b" for one byte */
};

static bool
is_unseen(uint32_t cp)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {
        { 0x00, 0x1f },     { 0x7f, 0x9f },     { 0x61c, 0x61c },
        { 0x200e, 0x200f }, { 0x2028, 0x202e }, { 0x2066, 0x2069 },
        { 0xfeff, 0xfeff }, { 0xfff9, 0xfffb }, { 0xe0000, 0xe007f },
    };
    if (cp >= 0xa0 && cp < 0x61c)
        return false;
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
        if (cp >= ranges[i].first && cp <= ranges[i].last)
            return true;
    return false;
}

static uint8_t *
put_code(uint8_t *w, uint32_t unit)
{
    static const char digits[] = "0123456789abcdef";
    *w++ = '\\';
    *w++ = 'u';
    for (int shift = 12; shift >= 0; shift -= 4)
        *w++ = (uint8_t)digits[unit >> shift & 15];
    return w;
}

static uint8_t *
put_unseen(uint8_t *w, uint32_t cp)
{
    static const char names[] = {
        ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'
    };
    if (cp < sizeof(names) && names[cp]) {
        *w++ = '\\';
        *w++ = (uint8_t)names[cp];
        return w;
    }
    if (cp < 0x10000)
        return put_code(w, cp);
    w = put_code(w, 0xd800 + ((cp - 0x10000) >> 10));
    return put_code(w, 0xdc00 + ((cp - 0x10000) & 0x3ff));
}

/* One character of one byte. */
static inline uint8_t *
put_ascii(uint8_t *w, uint8_t c)
{
    if (c < 0x20 || c == 0x7f)
        return put_unseen(w, c);
    if (c == '"' || c == '\\')
        *w++ = '\\';
    *w++ = c;
    return w;
}

static uint8_t *
put_replacement(uint8_t *w)
{
    *w++ = 0xef;
    *w++ = 0xbf;
    *w++ = 0xbd;
    return w;
}

/* Writes to w what p is, up to a character that may go on behind n: returns how much of p
 * it took. */
static size_t
put(struct cast_text *t, const uint8_t *p, size_t n, uint8_t **w)
{
    uint8_t *to = *w;
    size_t at = 0;
    while (at < n) {
        uint32_t cp;
        bool is_open;
        if (p[at] < 0x80) {
            to = put_ascii(to, p[at++]);
            continue;
        }
        size_t size = (size_t)utf8_next(p + at, n - at, &cp);
        if (size && is_unseen(cp)) {
            to = put_unseen(to, cp);
        } else if (size) {
            memcpy(to, p + at, size);
            to += size;
        } else {
            size = utf8_stump(p + at, n - at, &is_open);
            if (is_open)
                break;
            to = put_replacement(to);
            t->bad_bytes += size;
        }
        at += size;
    }
    *w = to;
    return at;
}

/* Some bytes that were not carried. */
static int
put_fresh(struct cast_text *t, struct view piece, struct buf *out)
{
    while (piece.n) {
        size_t n = piece.n < PIECE_MAX ? piece.n : PIECE_MAX;
        int r = buf_reserve(out, n * GROWTH);
        if (r < 0)
            return r;
        uint8_t *w = out->p + out->n;
        size_t took = put(t, piece.p, n, &w);
        out->n = (size_t)(w - out->p);
        if (took < n && n == piece.n) { /* the rest begins a character */
            t->carried = piece.n - took;
            memcpy(t->carry, piece.p + took, t->carried);
            return 0;
        }
        piece.p += took;
        piece.n -= took;
    }
    return 0;
}

/* The character that was begun before, with the first bytes of the piece, which are taken
 * off it. */
static void
put_carried(struct cast_text *t, struct view *piece, struct buf *out)
{
    uint8_t joined[sizeof(t->carry) + 4], *w = out->p + out->n;
    size_t had = t->carried, more = piece->n < 4 ? piece->n : 4;
    bool is_open = false;
    uint32_t cp;
    memcpy(joined, t->carry, had);
    memcpy(joined + had, piece->p, more);
    t->carried = 0;
    size_t size = (size_t)utf8_next(joined, had + more, &cp);
    if (size) {
        (void)put(t, joined, size, &w);
    } else {
        size = utf8_stump(joined, had + more, &is_open);
        if (is_open) {
            memcpy(t->carry, joined, size);
            t->carried = size;
        } else {
            w = put_replacement(w);
            t->bad_bytes += size;
        }
    }
    out->n = (size_t)(w - out->p);
    piece->p += size - had;
    piece->n -= size - had;
}

int
cast_text_put(struct cast_text *t, struct view piece, struct buf *out)
{
    if (t->carried && piece.n) {
        int r = buf_reserve(out, (size_t)4 * GROWTH);
        if (r < 0)
            return r;
        put_carried(t, &piece, out);
    }
    return put_fresh(t, piece, out);
}

int
cast_text_end(struct cast_text *t, struct buf *out)
{
    if (!t->carried)
        return 0;
    t->bad_bytes += t->carried;
    t->carried = 0;
    return buf_puts(out, "\xef\xbf\xbd");
}
