/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as events of a cast, cut in any way: one text comes of it, printable and
 * without a newline, and a reader gets back what UTF-8 there was.
 */
#include "base/json_in.h"
#include "base/utf8.h"
#include "fuzz/fuzz.h"
#include "play/cast_text_priv.h"

static void
put(struct view in, size_t piece, struct buf *ret, uint64_t *ret_bad)
{
    struct cast_text t = { 0 };
    CHECK(!buf_puts(ret, "\""));
    for (size_t at = 0; at < in.n; at += piece) {
        size_t n = in.n - at < piece ? in.n - at : piece;
        CHECK(!cast_text_put(&t, (struct view){ in.p + at, n }, ret));
    }
    CHECK(!cast_text_end(&t, ret));
    CHECK(!buf_puts(ret, "\""));
    *ret_bad = t.bad_bytes;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view in = { data ? data : (const uint8_t *)"", size };
    AUTO(buf) whole = { 0 };
    AUTO(buf) back = { 0 };
    uint64_t bad;
    put(in, size + 1, &whole, &bad);
    CHECK(utf8_is_line(whole.p, whole.n));
    for (size_t piece = 1; piece < 5; piece++) {
        AUTO(buf) cut = { 0 };
        uint64_t cut_bad;
        put(in, piece, &cut, &cut_bad);
        CHECK(cut_bad == bad && cut.n == whole.n && !memcmp(cut.p, whole.p, cut.n));
    }
    struct json_in json = { whole.p, whole.p + whole.n, false, false };
    CHECK(json_in_str(&json, &back) && !json.is_odd && json.p == json.end);
    CHECK(!bad == (utf8_is_text(in.p, in.n) || !in.n));
    if (!bad)
        CHECK(back.n == in.n && !memcmp(back.p ? back.p : in.p, in.p, in.n));
    return 0;
}
