/* SPDX-License-Identifier: MIT */
/* However a body is cut, the same comes out; nothing that a header or a URL has said is
 * in it; and where nothing was masked, it is what came in. */
#include "base/json_in.h"
#include "calls/mask.h"
#include "fuzz/fuzz.h"

static struct view
view_of(const struct buf *b)
{
    return (struct view){ b->p, b->n };
}

static bool
is_same(struct view a, struct view b)
{
    return a.n == b.n && (!a.n || !memcmp(a.p, b.p, a.n));
}

/* In memory of its own, so that a sanitizer sees who reads behind it. */
static void
feed(struct calls_mask *m, struct calls_mask_stream *s, struct view v, struct buf *out)
{
    uint8_t *own = malloc(v.n ? v.n : 1);
    CHECK(own);
    if (v.n)
        memcpy(own, v.p, v.n);
    CHECK(calls_mask_feed(m, s, (struct view){ own, v.n }, out) == 0);
    free(own);
}

/* In pieces of `step` bytes; 0: whole. */
static void
stream(struct calls_mask *m, struct view body, size_t step, struct buf *out)
{
    struct calls_mask_stream s = { 0 };
    step = step ? step : body.n;
    for (size_t at = 0; at < body.n; at += step) {
        size_t n = step < body.n - at ? step : body.n - at;
        feed(m, &s, (struct view){ body.p + at, n }, out);
    }
    CHECK(calls_mask_flush(m, &s, out) == 0);
    calls_mask_stream_release(&s);
}

/* Could a mask, and what stands beside it, have said it by chance? */
static bool
is_odd(struct view said)
{
    for (size_t i = 0; i < said.n; i++)
        if (strchr("/.=+~", said.p[i]) && said.p[i])
            return false;
    return true;
}

static void
check_out(struct view in, const struct buf *out, struct view said)
{
    CHECK(!out->failed);
    if (!redact_has_mask(out->p, out->n))
        CHECK(is_same(view_of(out), in));
    if (said.n >= 8 && out->n && !is_odd(said))
        CHECK(!memmem(out->p, out->n, said.p, said.n));
}

/* Is it JSON, and still when it was searched as a text? */
static bool
is_json(struct calls_mask *m, struct view body)
{
    AUTO(buf) said = { 0 };
    AUTO(buf) text = { 0 };
    CHECK(calls_mask_said(m, body, &said) == 0);
    CHECK(redact_text(m->redact, said.p, said.n, &text) == 0);
    return said.n && text.n && json_in_is_one(view_of(&said)) &&
           json_in_is_one(view_of(&text));
}

static void
check_body(struct calls_mask *m, struct view body, size_t step, struct view said)
{
    AUTO(buf) whole = { 0 };
    AUTO(buf) pieces = { 0 };
    AUTO(buf) json = { 0 };
    stream(m, body, 0, &whole);
    stream(m, body, step, &pieces);
    CHECK(is_same(view_of(&whole), view_of(&pieces)));
    check_out(body, &whole, said);
    CHECK(calls_mask_body(m, body, &json) == 0);
    check_out(body, &json, said);
    if (body.n && (!memchr("{[ \t\r\n", body.p[0], 6) ||
                   (memchr("{[", body.p[0], 2) && is_json(m, body))))
        CHECK(is_same(view_of(&whole), view_of(&json)));
}

static void
check_heads(struct calls_mask *m, struct view text, const struct calls_header *h)
{
    AUTO(buf) url = { 0 };
    AUTO(buf) value = { 0 };
    CHECK(calls_mask_url(m, text, &url) == 0);
    if (!redact_has_mask(url.p, url.n))
        CHECK(is_same(view_of(&url), text));
    CHECK(calls_mask_header(m, h, &value) == 0);
    if (calls_mask_is_credential(h->name))
        CHECK(value.n == 17);
}

static struct view
trimmed(struct view v)
{
    while (v.n && (v.p[0] == ' ' || v.p[0] == '\t'))
        v = (struct view){ v.p + 1, v.n - 1 };
    while (v.n && (v.p[v.n - 1] == ' ' || v.p[v.n - 1] == '\t'))
        v.n--;
    return v;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct redact *r;
    static const char *const names[] = { "authorization", "cookie",   "Set-Cookie",
                                         "x-api-key",     "location", "accept" };
    if (!r)
        CHECK(redact_open(&r, NULL, NULL) == 0);
    struct view in = { data ? data : (const uint8_t *)"", size };
    struct calls_mask m = { .redact = r };
    const char *name = names[fuzz_byte(&in) % 6];
    size_t n = fuzz_byte(&in), step = fuzz_byte(&in);
    struct view value = { in.p, n < in.n ? n : in.n };
    in = (struct view){ in.p + value.n, in.n - value.n };
    const struct calls_header h = { { (const uint8_t *)name, strlen(name) }, value };
    calls_mask_learn(&m, &h);
    calls_mask_learn_url(&m, in);
    bool is_plain = !strcmp(name, "x-api-key") || !strcmp(name, "authorization");
    check_body(&m, in, step, is_plain ? trimmed(value) : (struct view){ 0 });
    check_heads(&m, in, &h);
    calls_mask_release(&m);
    return 0;
}
