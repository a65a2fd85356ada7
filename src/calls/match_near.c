/* SPDX-License-Identifier: MIT */
/*
 * match_near.c -- which of many recorded requests is most like one that was asked.
 *
 * An outline has a hash of each piece of a body, counted from its beginning and from its
 * end: so many that are the same at either end, so many bytes are. Pieces are small where
 * bodies are, and a hundredth of the body is enough for all of them.
 */
#include "calls/match.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/le.h"

/* Up to the first of these places pieces are of the size beside it, and so on. */
static const struct {
    size_t until, bytes;
} steps[] = { { 1 << 10, 16 }, { 4 << 10, 64 }, { SIZE_MAX, 1 << 10 } };

enum { STEP = 4096, SAME_HEAD = 500 }; /* STEP: bytes that are compared at once */

/* -- byte by byte -- */

static size_t
alike_at_start(struct view a, struct view b, size_t n)
{
    size_t i = 0;
    while (n - i >= STEP && !memcmp(a.p + i, b.p + i, STEP))
        i += STEP;
    while (i < n && a.p[i] == b.p[i])
        i++;
    return i;
}

static size_t
alike_at_end(struct view a, struct view b, size_t n)
{
    const uint8_t *p = a.p + a.n, *q = b.p + b.n;
    size_t i = 0;
    while (n - i >= STEP && !memcmp(p - i - STEP, q - i - STEP, STEP))
        i += STEP;
    while (i < n && p[-1 - (ptrdiff_t)i] == q[-1 - (ptrdiff_t)i])
        i++;
    return i;
}

unsigned
calls_match_likeness(struct view a, struct view b)
{
    size_t less = a.n < b.n ? a.n : b.n, more = a.n < b.n ? b.n : a.n;
    if (!less)
        return more ? 0 : 1000;
    size_t start = alike_at_start(a, b, less);
    size_t end = alike_at_end(a, b, less - start);
    return (unsigned)((uint64_t)(start + end) * 1000 / more);
}

/* Method and path, with the newline; *ret_body: what follows. */
static struct view
head_of(struct view normal, struct view *ret_body)
{
    const uint8_t *end = normal.n ? memchr(normal.p, '\n', normal.n) : NULL;
    size_t n = end ? (size_t)(end - normal.p) + 1 : normal.n;
    *ret_body = (struct view){ normal.n ? normal.p + n : NULL, normal.n - n };
    return (struct view){ normal.p, n };
}

unsigned
calls_match_nearness(struct view a, struct view b)
{
    struct view body_a, body_b;
    struct view head_a = head_of(a, &body_a), head_b = head_of(b, &body_b);
    bool is_same = head_a.n == head_b.n &&
                   (!head_a.n || !memcmp(head_a.p, head_b.p, head_a.n));
    return calls_match_likeness(body_a, body_b) + (is_same ? SAME_HEAD : 0);
}

/* -- by outlines -- */

/* A word at a time: all of a recording goes through it. */
static uint32_t
hash_of(const uint8_t *p, size_t n)
{
    uint64_t hash = n;
    if (!p)
        return 0;
    for (; n >= 8; p += 8, n -= 8)
        hash = (hash ^ get_le64(p)) * UINT64_C(0x9e3779b97f4a7c15);
    for (; n; p++, n--)
        hash = (hash ^ *p) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(hash >> 32);
}

/* The end of the piece that begins at `at`. */
static size_t
piece_end(size_t at)
{
    size_t i = 0;
    while (at >= steps[i].until)
        i++;
    return at + steps[i].bytes;
}

int
calls_outline_make(struct view normal, struct calls_outline *ret)
{
    struct view body, head = head_of(normal, &body);
    struct calls_outline o = { .head = hash_of(head.p, head.n), .bytes = body.n };
    for (size_t at = 0; (at = piece_end(at)) <= body.n;)
        o.pieces++;
    o.marks = calloc(2 * o.pieces + 1, sizeof(*o.marks));
    if (!o.marks)
        return -ENOMEM;
    for (size_t i = 0, at = 0, end; i < o.pieces; i++, at = end) {
        end = piece_end(at);
        o.marks[i] = hash_of(body.p + at, end - at);
        o.marks[o.pieces + i] = hash_of(body.p + body.n - end, end - at);
    }
    *ret = o;
    return 0;
}

void
calls_outline_release(struct calls_outline *o)
{
    free(o->marks);
    *o = (struct calls_outline){ 0 };
}

/* The bytes of the pieces that are the same, from either end. */
static size_t
alike(const struct calls_outline *a, const struct calls_outline *b, bool at_end)
{
    size_t n = a->pieces < b->pieces ? a->pieces : b->pieces, at = 0;
    const uint32_t *p = a->marks + (at_end ? a->pieces : 0);
    const uint32_t *q = b->marks + (at_end ? b->pieces : 0);
    for (size_t i = 0; i < n && p[i] == q[i]; i++)
        at = piece_end(at);
    return at;
}

unsigned
calls_outline_nearness(const struct calls_outline *a, const struct calls_outline *b)
{
    size_t less = a->bytes < b->bytes ? a->bytes : b->bytes;
    size_t more = a->bytes < b->bytes ? b->bytes : a->bytes;
    size_t both = alike(a, b, false) + alike(a, b, true);
    unsigned head = a->head == b->head ? SAME_HEAD : 0;
    if (!more)
        return head + 1000;
    return head + (unsigned)((uint64_t)(both < less ? both : less) * 1000 / more);
}
