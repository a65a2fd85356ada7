/* SPDX-License-Identifier: MIT */
#include "base/buf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

void
buf_release(struct buf *b)
{
    free(b->p);
    *b = (struct buf){ .ceiling = b->ceiling };
}

void
buf_clear(struct buf *b)
{
    b->n = 0;
    b->failed = 0;
}

void
buf_drop(struct buf *b, size_t n)
{
    b->n -= n;
    if (n && b->n)
        memmove(b->p, b->p + n, b->n);
}

void
buf_shrink(struct buf *b)
{
    uint8_t *p = b->n ? realloc(b->p, b->n) : NULL;
    if (p) {
        b->p = p;
        b->cap = b->n;
    }
}

int
buf_reserve(struct buf *b, size_t more)
{
    size_t ceiling = b->ceiling ? b->ceiling : (size_t)BUF_CEILING;
    if (more > ceiling || b->n > ceiling - more)
        return b->failed = ERR_LIMIT;
    size_t need = b->n + more;
    if (need <= b->cap && b->p)
        return 0;
    size_t cap = b->cap < 256 ? 256 : b->cap;
    while (cap < need)
        cap += cap / 2;
    if (cap > ceiling)
        cap = ceiling;
    uint8_t *p = realloc(b->p, cap);
    if (!p)
        return b->failed = -ENOMEM;
    b->p = p;
    b->cap = cap;
    return 0;
}

uint8_t *
buf_grow(struct buf *b, size_t n)
{
    if (buf_reserve(b, n) < 0)
        return NULL;
    uint8_t *p = b->p + b->n;
    b->n += n;
    return p;
}

int
buf_append(struct buf *b, const void *p, size_t n)
{
    if (!n)
        return 0;
    if (b->p && n <= b->cap - b->n) { /* most often there is room */
        memcpy(b->p + b->n, p, n);
        b->n += n;
        return 0;
    }
    uint8_t *dst = buf_grow(b, n);
    if (!dst)
        return b->failed;
    memcpy(dst, p, n);
    return 0;
}

int
buf_puts(struct buf *b, const char *s)
{
    return buf_append(b, s, strlen(s));
}

int
buf_put_u64(struct buf *b, uint64_t v)
{
    char digits[20];
    size_t at = sizeof(digits);
    do
        digits[--at] = (char)('0' + v % 10);
    while (v /= 10);
    return buf_append(b, digits + at, sizeof(digits) - at);
}

int
buf_put_grouped(struct buf *b, uint64_t v)
{
    char digits[26];
    size_t at = sizeof(digits);
    for (int count = 0; !count || v; count++, v /= 10) {
        if (count && count % 3 == 0)
            digits[--at] = ',';
        digits[--at] = (char)('0' + v % 10);
    }
    return buf_append(b, digits + at, sizeof(digits) - at);
}

int
buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    int r = n < 0 ? -EINVAL : buf_reserve(b, (size_t)n + 1);
    if (!r) {
        vsnprintf((char *)b->p + b->n, (size_t)n + 1, fmt, again);
        b->n += (size_t)n;
    }
    va_end(again);
    return r;
}

const char *
buf_str(struct buf *b)
{
    if (buf_reserve(b, 1) < 0)
        return "";
    b->p[b->n] = 0;
    return (const char *)b->p;
}

size_t
view_common(struct view a, struct view b)
{
    size_t most = a.n < b.n ? a.n : b.n, n = 0;
    while (most - n >= 64 && !memcmp(a.p + n, b.p + n, 64))
        n += 64;
    while (n < most && a.p[n] == b.p[n])
        n++;
    return n;
}

static bool
is_one_of(uint8_t c, const char *bytes)
{
    return c && strchr(bytes, c);
}

struct view
view_trim(struct view v, const char *bytes)
{
    while (v.n && is_one_of(v.p[0], bytes))
        v = (struct view){ v.p + 1, v.n - 1 };
    while (v.n && is_one_of(v.p[v.n - 1], bytes))
        v.n--;
    return v;
}
