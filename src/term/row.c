/* SPDX-License-Identifier: MIT */
#include "term/row_priv.h"

#include <stdlib.h>
#include <string.h>

void
term_row_release(struct term_row *r)
{
    free(r->text);
    *r = (struct term_row){ 0 };
}

bool
term_row_grow(struct term_row *r, uint32_t n)
{
    uint32_t cap = r->cap * 2 > n ? r->cap * 2 : n;
    cap = (cap + 31) & ~31U;
    uint32_t *text = malloc((size_t)cap * 2 * sizeof(uint32_t));
    if (!text)
        return false;
    if (r->used) {
        memcpy(text, r->text, r->used * sizeof(uint32_t));
        memcpy(text + cap, r->style, r->used * sizeof(uint32_t));
    }
    free(r->text);
    r->text = text;
    r->style = text + cap;
    r->cap = cap;
    return true;
}

void
term_row_split(struct term_row *r, uint32_t col)
{
    if (!r->has_wide || col >= r->used || r->text[col] != TERM_CELL_TAIL)
        return;
    r->text[col] = 0;
    if (col)
        r->text[col - 1] = 0;
}

static void
fill(uint32_t *p, uint32_t value, size_t n)
{
    if (!value) {
        memset(p, 0, n * sizeof(*p));
        return;
    }
    for (size_t i = 0; i < n; i++)
        p[i] = value;
}

bool
term_row_extend(struct term_row *r, uint32_t n)
{
    if (n <= r->used)
        return true;
    if (!term_row_reserve(r, n))
        return false;
    fill(r->text + r->used, 0, n - r->used);
    fill(r->style + r->used, 0, n - r->used);
    r->used = n;
    return true;
}

bool
term_row_blank(struct term_row *r, uint32_t from, uint32_t to, uint32_t style)
{
    if (from >= to)
        return true;
    term_row_split(r, from);
    term_row_split(r, to);
    if (!style && to >= r->used) {
        if (from < r->used)
            r->used = from;
        return true;
    }
    if (!term_row_extend(r, to))
        return false;
    fill(r->text + from, 0, to - from);
    fill(r->style + from, style, to - from);
    return true;
}

bool
term_row_insert(struct term_row *r, uint32_t at, uint32_t to, uint32_t n, uint32_t style)
{
    term_row_split(r, at);
    if (at < r->used) {
        term_row_split(r, to - n);
        term_row_split(r, to);
        if (!term_row_extend(r, r->used + n < to ? r->used + n : to))
            return false;
        uint32_t end = r->used < to ? r->used : to;
        size_t bytes = (end - at - n) * sizeof(uint32_t);
        if (end > at + n) {
            memmove(r->text + at + n, r->text + at, bytes);
            memmove(r->style + at + n, r->style + at, bytes);
        }
        /* What was cut in two by the move is blank already; do not look at it again. */
        uint32_t opened = at + n < end ? at + n : end;
        fill(r->text + at, 0, opened - at);
        fill(r->style + at, 0, opened - at);
    }
    return term_row_blank(r, at, at + n, style);
}

bool
term_row_delete(struct term_row *r, uint32_t at, uint32_t to, uint32_t n, uint32_t style)
{
    term_row_split(r, at);
    term_row_split(r, at + n);
    term_row_split(r, to);
    if (at < r->used) {
        uint32_t end = r->used < to ? r->used : to;
        if (end > at + n) {
            size_t bytes = (end - at - n) * sizeof(uint32_t);
            memmove(r->text + at, r->text + at + n, bytes);
            memmove(r->style + at, r->style + at + n, bytes);
        }
        /* From here to the end nothing is left; only so can a tail not be split off. */
        uint32_t kept = end > at + n ? end - n : at;
        fill(r->text + kept, 0, end - kept);
        fill(r->style + kept, 0, end - kept);
    }
    return term_row_blank(r, to - n, to, style);
}

bool
term_row_copy(struct term_row *dst, const struct term_row *src, uint32_t from,
              uint32_t to)
{
    if (!term_row_blank(dst, from, to, 0))
        return false;
    uint32_t end = src->used < to ? src->used : to;
    if (from >= end)
        return true;
    if (!term_row_extend(dst, end))
        return false;
    memcpy(dst->text + from, src->text + from, (end - from) * sizeof(uint32_t));
    memcpy(dst->style + from, src->style + from, (end - from) * sizeof(uint32_t));
    dst->has_wide |= src->has_wide;
    if (!src->has_wide)
        return true;
    /* Halves whose other half was not copied. */
    if (dst->text[from] == TERM_CELL_TAIL)
        dst->text[from] = 0;
    if (to < src->used && src->text[to] == TERM_CELL_TAIL)
        dst->text[to - 1] = 0;
    return true;
}

uint32_t
term_row_length(const struct term_row *r)
{
    uint32_t n = r->used;
    while (n && !r->text[n - 1] && !r->style[n - 1])
        n--;
    return n;
}
