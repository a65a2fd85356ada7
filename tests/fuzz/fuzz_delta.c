/* SPDX-License-Identifier: MIT */
/* Ops that anybody has written make no more than they may; those that are made of two
 * texts are valid, and make the second of the first. */
#include "base/json_in.h"
#include "base/utf8.h"
#include "calls/delta.h"
#include "fuzz/fuzz.h"

/* In memory of its own, so that a sanitizer sees who reads behind it. */
static uint8_t *
own(struct view *v)
{
    uint8_t *p = malloc(v->n ? v->n : 1);
    CHECK(p);
    if (v->n)
        memcpy(p, v->p, v->n);
    v->p = p;
    return p;
}

static void
apply_any(struct view base, struct view ops, size_t max)
{
    AUTO(buf) out = { 0 };
    buf_puts(&out, "x");
    int r = calls_delta_apply(base, ops, max, &out);
    CHECK(r == 0 || r == ERR_DAMAGED);
    CHECK(out.p[0] == 'x' && (r || out.n - 1 <= max));
    CHECK(out.n - 1 <= max + ops.n);
}

static void
put_clean(struct buf *out, struct view text)
{
    uint32_t rune;
    for (size_t i = 0; i < text.n;) {
        int n = utf8_next(text.p + i, text.n - i, &rune);
        if (n)
            buf_append(out, text.p + i, (size_t)n);
        else
            buf_puts(out, "?");
        i += n ? (size_t)n : 1;
    }
}

static void
go_round(struct view base, struct view target)
{
    AUTO(buf) ops = { 0 };
    AUTO(buf) got = { 0 };
    CHECK(calls_delta_make(base, target, &ops) == 0);
    struct json_in in = { .p = ops.p, .end = ops.p + ops.n };
    CHECK(json_in_skip(&in) && in.p == in.end && !in.is_odd);
    CHECK(utf8_is_text(ops.p, ops.n));
    CHECK(calls_delta_apply(base, (struct view){ ops.p, ops.n }, target.n, &got) == 0);
    CHECK(got.n == target.n && (!got.n || !memcmp(got.p, target.p, got.n)));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view in = { data ? data : (const uint8_t *)"", size };
    size_t cut = fuzz_byte(&in), max = fuzz_byte(&in) * 8U;
    cut = in.n * cut / 255;
    struct view one = { in.p, cut }, two = { in.p + cut, in.n - cut };
    AUTO(buf) clean = { 0 };
    uint8_t *first = own(&one), *second = own(&two);
    apply_any(one, two, max);
    put_clean(&clean, two);
    go_round(one, (struct view){ clean.p, clean.n });
    free(first);
    free(second);
    return 0;
}
