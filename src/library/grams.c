/* SPDX-License-Identifier: MIT */
/*
 * grams.c -- the words of a text.
 *
 * A bit for each gram tells whether it has been seen; it is unset by a second walk over
 * the text, so that a small text does not pay for the whole map.
 */
#include "library/grams_priv.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/ascii.h"

enum {
    GRAM_BITS = 8 * GRAM_BYTES,
    WORD_BYTES = 2 * GRAM_BYTES + 1, /* and a blank */
};

struct grams {
    uint64_t seen[(1 << GRAM_BITS) / 64];
};

int
grams_new(struct grams **ret)
{
    struct grams *g = calloc(1, sizeof(*g));
    if (!g)
        return -ENOMEM;
    *ret = g;
    return 0;
}

void
grams_free(struct grams *g)
{
    free(g);
}

static bool
has_newline(uint32_t gram)
{
    return (gram & 0xff) == '\n' || (gram >> 8 & 0xff) == '\n' || gram >> 16 == '\n';
}

static uint32_t
gram_at(const uint8_t *p)
{
    return (uint32_t)ascii_fold(p[0]) << 16 | (uint32_t)ascii_fold(p[1]) << 8 |
           ascii_fold(p[2]);
}

static uint8_t *
put_word(uint8_t *to, uint32_t gram)
{
    static const char digits[] = "0123456789abcdef";
    for (int shift = GRAM_BITS - 4; shift >= 0; shift -= 4)
        *to++ = (uint8_t)digits[gram >> shift & 15];
    *to++ = ' ';
    return to;
}

int
grams_word(uint32_t gram, struct buf *ret)
{
    uint8_t word[WORD_BYTES];
    put_word(word, gram);
    return buf_append(ret, word, sizeof(word));
}

int
grams_words(struct grams *g, struct view text, struct buf *ret)
{
    size_t count = text.n < GRAM_BYTES ? 0 : text.n - GRAM_BYTES + 1;
    if (!count)
        return 0;
    if (count > SIZE_MAX / WORD_BYTES)
        return ERR_LIMIT;
    int r = buf_reserve(ret, count * WORD_BYTES);
    if (r < 0)
        return r;
    uint8_t *to = ret->p + ret->n;
    for (size_t i = 0; i < count; i++) {
        uint32_t gram = gram_at(text.p + i);
        uint64_t bit = UINT64_C(1) << gram % 64;
        if (g->seen[gram / 64] & bit || has_newline(gram))
            continue;
        g->seen[gram / 64] |= bit;
        to = put_word(to, gram);
    }
    for (size_t i = 0; i < count; i++)
        g->seen[gram_at(text.p + i) / 64] = 0;
    ret->n = (size_t)(to - ret->p);
    return 0;
}

int
grams_asked(struct view text, struct buf *ret)
{
    size_t count = text.n < GRAM_BYTES ? 0 : text.n - GRAM_BYTES + 1;
    size_t taken = count < GRAMS_ASKED_MAX ? count : GRAMS_ASKED_MAX, kept = 0;
    uint32_t grams[GRAMS_ASKED_MAX];
    uint8_t words[GRAMS_ASKED_MAX * WORD_BYTES], *to = words;
    for (size_t i = 0; i < taken; i++) {
        size_t at = taken < 2 ? 0 : (count - 1) * i / (taken - 1);
        uint32_t gram = gram_at(text.p + at);
        bool is_new = !has_newline(gram);
        for (size_t k = 0; k < kept && is_new; k++)
            is_new = grams[k] != gram;
        if (!is_new)
            continue;
        grams[kept++] = gram;
        to = put_word(to, gram);
    }
    return buf_append(ret, words, (size_t)(to - words));
}
