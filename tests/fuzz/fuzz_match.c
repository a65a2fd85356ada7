/* SPDX-License-Identifier: MIT */
/* Two requests to one address: their normal forms are the same if no difference is told
 * and if they are wholly alike; a difference is one line of bounded length; a body in its
 * normal form stays as it is; what is UTF-8 stays so. The input is an address, a newline,
 * and two bodies with a byte 0xff between them. */
#include "base/utf8.h"
#include "calls/match.h"
#include "fuzz/fuzz.h"

enum { LINE_BYTES_MAX = 700 };

static struct view
take_until(struct view *rest, uint8_t end)
{
    const uint8_t *p = rest->n ? memchr(rest->p, end, rest->n) : NULL;
    size_t n = p ? (size_t)(p - rest->p) : rest->n, more = p ? 1 : 0;
    struct view v = { rest->p, n };
    *rest = (struct view){ rest->p + n + more, rest->n - n - more };
    return v;
}

static struct view
bytes_of(const struct buf *b)
{
    return (struct view){ b->p, b->n };
}

static bool
is_same(const struct buf *a, const struct buf *b)
{
    return a->n == b->n && !memcmp(a->p, b->p, a->n);
}

static void
check_normal(const struct calls_asked *q, struct buf *ret)
{
    CHECK(buf_puts(ret, "x") >= 0); /* what is there stays */
    CHECK(calls_match_normal(q, ret) == 0 && ret->p[0] == 'x');
    memmove(ret->p, ret->p + 1, --ret->n);
    CHECK(ret->n <= 6 * (q->method.n + q->url.n + q->body.n) + 64);
    if (utf8_is_text(q->url.p, q->url.n) && utf8_is_text(q->body.p, q->body.n))
        CHECK(utf8_is_text(ret->p, ret->n));
}

static bool
differ(const struct calls_asked *a, const struct calls_asked *b)
{
    AUTO(buf) line = { 0 };
    CHECK(calls_match_difference(a, b, &line) == 0);
    CHECK(line.n <= LINE_BYTES_MAX && utf8_is_line(line.p, line.n));
    return line.n > 0;
}

/* The body of a normal form, asked again. */
static void
check_again(struct calls_asked q)
{
    AUTO(buf) once = { 0 };
    AUTO(buf) twice = { 0 };
    q.url = (struct view){ (const uint8_t *)"/", 1 }; /* no ids of its own */
    check_normal(&q, &once);
    struct view rest = bytes_of(&once);
    take_until(&rest, '\n');
    struct calls_asked again = { q.method, q.url, rest };
    check_normal(&again, &twice);
    CHECK(is_same(&once, &twice));
    CHECK(!differ(&q, &again));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view rest = { data ? data : (const uint8_t *)"", size };
    struct view url = take_until(&rest, '\n'), first = take_until(&rest, 0xff);
    struct view method = { (const uint8_t *)"POST", 4 };
    struct calls_asked a = { method, url, first }, b = { method, url, rest };
    AUTO(buf) normal_a = { 0 };
    AUTO(buf) normal_b = { 0 };
    check_normal(&a, &normal_a);
    check_normal(&b, &normal_b);
    bool are_same = is_same(&normal_a, &normal_b);
    CHECK(differ(&a, &b) == !are_same && differ(&b, &a) == !are_same && !differ(&a, &a));
    unsigned alike = calls_match_likeness(bytes_of(&normal_a), bytes_of(&normal_b));
    CHECK(alike <= 1000 && (alike == 1000) == are_same);
    check_again(a);
    check_again(b);
    return 0;
}
