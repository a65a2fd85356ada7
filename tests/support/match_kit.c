/* SPDX-License-Identifier: MIT */
#include "support/match_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "support/text_view.h"

enum { LINE_BYTES_MAX = 700 };

struct calls_asked
match_post(const char *url, struct view body)
{
    return (struct calls_asked){ text_view("POST"), text_view(url), body };
}

struct calls_asked
match_message(const char *body)
{
    return match_post("/v1/messages", text_view(body));
}

void
match_normal(struct calls_asked q, struct buf *out)
{
    assert_int_equal(calls_match_normal(&q, out), 0);
}

void
match_normal_body(struct calls_asked q, struct buf *out)
{
    AUTO(buf) all = { .ceiling = SIZE_MAX };
    match_normal(q, &all);
    const uint8_t *line = memchr(all.p, '\n', all.n);
    assert_non_null(line);
    size_t start = (size_t)(line - all.p) + 1;
    buf_append(out, all.p + start, all.n - start);
}

void
match_difference(struct calls_asked a, struct calls_asked b, struct buf *out)
{
    assert_int_equal(calls_match_difference(&a, &b, out), 0);
    assert_true(out->n <= LINE_BYTES_MAX);
    assert_true(utf8_is_line(out->p, out->n));
}

bool
match_is_same(struct calls_asked a, struct calls_asked b)
{
    AUTO(buf) x = { .ceiling = SIZE_MAX };
    AUTO(buf) y = { .ceiling = SIZE_MAX };
    AUTO(buf) line = { 0 };
    match_normal(a, &x);
    match_normal(b, &y);
    bool same = x.n == y.n && !memcmp(x.p, y.p, x.n);
    unsigned alike = calls_match_likeness((struct view){ x.p, x.n },
                                          (struct view){ y.p, y.n });
    match_difference(a, b, &line);
    assert_int_equal(same, !line.n);
    assert_int_equal(same, alike == 1000);
    return same;
}
