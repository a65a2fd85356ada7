/* SPDX-License-Identifier: MIT */
/* What comes out is one value of JSON without control characters, and comes to itself; of
 * what is none nothing comes out. Blanks around a value change nothing. */
#include "base/json_in.h"
#include "base/utf8.h"
#include "fuzz/fuzz.h"
#include "play/sorted_json_priv.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view in = { data ? data : (const uint8_t *)"", size };
    AUTO(buf) once = { 0 };
    AUTO(buf) twice = { 0 };
    AUTO(buf) spaced = { 0 };
    CHECK(buf_puts(&once, "x") >= 0); /* what is there stays */
    bool is_json = play_sorted_json(in, &once);
    CHECK(once.p[0] == 'x');
    struct view out = { once.p + 1, once.n - 1 };
    CHECK(is_json ? out.n > 0 : !out.n);
    if (!is_json)
        return 0;
    CHECK(json_in_is_one(out) && utf8_is_text(out.p, out.n));
    for (size_t i = 0; i < out.n; i++)
        CHECK(out.p[i] >= 0x20 && out.p[i] != 0x7f);
    CHECK(play_sorted_json(out, &twice));
    CHECK(twice.n == out.n && !memcmp(twice.p, out.p, out.n));
    buf_puts(&spaced, " \n");
    buf_append(&spaced, data, size);
    buf_puts(&spaced, "\t ");
    buf_clear(&twice);
    CHECK(play_sorted_json((struct view){ spaced.p, spaced.n }, &twice));
    CHECK(twice.n == out.n && !memcmp(twice.p, out.p, out.n));
    return 0;
}
