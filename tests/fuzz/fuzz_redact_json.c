/* SPDX-License-Identifier: MIT */
/* Whatever comes in: where no escape is in it, it is masked as every text is; and where
 * it was JSON and nothing was hidden, it is JSON still. */
#include "base/json_in.h"
#include "fuzz/fuzz.h"
#include "redact/json.h"

static bool
is_json(const struct buf *b)
{
    struct json_in in = { .p = b->p, .end = b->p + b->n };
    return json_in_skip(&in) && !json_in_peek(&in) && in.p == in.end;
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
        CHECK(out.n == text.n && (!text.n || !memcmp(out.p, text.p, text.n)));
    return 0;
}
