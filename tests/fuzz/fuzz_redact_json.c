/* SPDX-License-Identifier: MIT */
/* Whatever comes in: where no escape is in it, it is masked as every text is; and where
 * it was JSON and nothing was hidden, it is JSON still. In pieces the same comes out,
 * however they are cut. */
#include "base/json_in.h"
#include "fuzz/fuzz.h"
#include "redact/json.h"
#include "redact/json_pieces.h"

static bool
is_json(const struct buf *b)
{
    return json_in_is_one((struct view){ b->p, b->n });
}

static void
put_pieces(struct redact *r, const struct buf *text, size_t step, struct buf *out)
{
    struct redact_json_pieces s = { .redact = r };
    for (size_t at = 0; at < text->n; at += step) {
        size_t n = step < text->n - at ? step : text->n - at;
        CHECK(redact_json_pieces_feed(&s, (struct view){ text->p + at, n }, false, out) ==
              0);
    }
    CHECK(redact_json_pieces_feed(&s, (struct view){ 0 }, true, out) == 0);
    redact_json_pieces_release(&s);
}

static bool
is_same(const struct buf *a, const struct buf *b)
{
    return a->n == b->n && (!a->n || !memcmp(a->p, b->p, a->n));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct redact *r;
    AUTO(buf) out = { 0 };
    AUTO(buf) text = { 0 };
    if (!r)
        CHECK(redact_open(&r, NULL, NULL) == 0);
    struct view in = { data ? data : (const uint8_t *)"", size };
    CHECK(redact_json(r, in, &out) == 0);
    CHECK(redact_text(r, in.p, in.n, &text) == 0);
    if (is_json(&text))
        CHECK(is_json(&out));
    if (!memchr(in.p, '\\', in.n) || !is_json(&text))
        CHECK(is_same(&out, &text));
    AUTO(buf) whole = { 0 };
    AUTO(buf) pieces = { 0 };
    put_pieces(r, &text, text.n ? text.n : 1, &whole);
    put_pieces(r, &text, 1 + size % 7, &pieces);
    CHECK(is_same(&whole, &pieces));
    if (is_json(&text))
        CHECK(is_same(&whole, &out));
    return 0;
}
