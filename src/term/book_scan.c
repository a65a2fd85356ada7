/* SPDX-License-Identifier: MIT */
/*
 * book_scan.c -- a text in bytes, found sixteen at a time by the two of its own that are
 * the least common.
 *
 * A byte of the text is met by x when (x | mask) == (byte | mask). With a mask of 0x20 a
 * letter meets both cases, and a space also the 0 of a cell that was never written.
 */
#include "term/book_priv.h"
#ifdef __SSE2__
#include <emmintrin.h>
#endif

static bool
is_letter(uint8_t c)
{
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

uint8_t
term_probe_mask(const struct term_probe *p, uint8_t c)
{
    return c == ' ' || (p->ignores_case && is_letter(c)) ? 0x20 : 0;
}

static bool
is_met(const struct term_probe *p, const uint8_t *at)
{
    for (size_t i = 0; i < p->text.n; i++) {
        uint8_t mask = term_probe_mask(p, p->text.p[i]);
        if ((at[i] | mask) != (p->text.p[i] | mask))
            return false;
    }
    return true;
}

static size_t
commonness(uint8_t c)
{
    static const char order[] = "jqzxkvwybgfhpmucdl/._-9876543210rsnioate ";
    const char *at = strchr(order, is_letter(c) ? c | 0x20 : c);
    return c && at ? (size_t)(at - order) + 1 : 0;
}

struct term_probe
term_probe(struct view text, bool ignores_case)
{
    struct term_probe p = { .text = text, .ignores_case = ignores_case };
    for (size_t i = 1; i < text.n; i++)
        if (commonness(text.p[i]) < commonness(text.p[p.at[0]]))
            p.at[0] = i;
    p.at[1] = p.at[0] ? 0 : text.n - 1;
    for (size_t i = 1; i < text.n; i++)
        if (i != p.at[0] && commonness(text.p[i]) < commonness(text.p[p.at[1]]))
            p.at[1] = i;
    return p;
}

const uint8_t *
term_probe_scan(const struct term_probe *p, const uint8_t *at, const uint8_t *end)
{
    size_t n = p->text.n;
    if (!n || (size_t)(end - at) < n)
        return NULL;
    const uint8_t *last = end - n;
#ifdef __SSE2__
    uint8_t a = p->text.p[p->at[0]], b = p->text.p[p->at[1]];
    const __m128i mask_a = _mm_set1_epi8((char)term_probe_mask(p, a));
    const __m128i mask_b = _mm_set1_epi8((char)term_probe_mask(p, b));
    const __m128i want_a = _mm_set1_epi8((char)(a | term_probe_mask(p, a)));
    const __m128i want_b = _mm_set1_epi8((char)(b | term_probe_mask(p, b)));
    for (; last - at >= 15; at += 16) {
        const void *p_a = at + p->at[0], *p_b = at + p->at[1];
        __m128i is_a = _mm_cmpeq_epi8(_mm_or_si128(_mm_loadu_si128(p_a), mask_a), want_a);
        __m128i is_b = _mm_cmpeq_epi8(_mm_or_si128(_mm_loadu_si128(p_b), mask_b), want_b);
        unsigned bits = (unsigned)_mm_movemask_epi8(_mm_and_si128(is_a, is_b));
        for (; bits; bits &= bits - 1)
            if (is_met(p, at + __builtin_ctz(bits)))
                return at + __builtin_ctz(bits);
    }
#endif
    for (; at <= last; at++)
        if (is_met(p, at))
            return at;
    return NULL;
}

bool
term_needle_next(const struct term_needle *needle, struct view text, size_t at,
                 size_t *ret_start, size_t *ret_end)
{
    struct term_probe p = term_probe(needle->text, needle->ignores_case);
    if (at > text.n || !text.n)
        return false;
    const uint8_t *hit = term_probe_scan(&p, text.p + at, text.p + text.n);
    if (!hit)
        return false;
    *ret_start = (size_t)(hit - text.p);
    *ret_end = *ret_start + needle->text.n;
    return true;
}
