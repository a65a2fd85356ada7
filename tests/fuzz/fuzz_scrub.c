/* SPDX-License-Identifier: MIT */
/* A text that is to be masked is not there any more, as a text or in any string of JSON;
 * what was JSON still is; what holds none stays as it was; and a second time nothing is
 * found. */
#include "base/json_in.h"
#include "fuzz/fuzz.h"
#include "library/scrub_priv.h"
#include "redact/only.h"

typedef int (*scrub_fn)(struct scrub *s, struct view in, struct buf *out,
                        struct scrub_count *count);

static bool
is_json(struct view in)
{
    struct json_in at = { .p = in.p, .end = in.p + in.n };
    while (!at.failed && (json_in_peek(&at), at.p < at.end))
        json_in_skip(&at);
    return !at.failed;
}

static void
check(struct scrub *s, scrub_fn fn, struct view in)
{
    AUTO(buf) once = { 0 };
    AUTO(buf) twice = { 0 };
    struct scrub_count count = { 0 };
    int r = fn(s, in, &once, &count);
    CHECK(r == 0 || r == ERR_LIMIT);
    if (r)
        return;
    struct view out = { once.p, once.n };
    if (!count.places)
        CHECK(out.n == in.n && (!in.n || !memcmp(out.p, in.p, in.n)));
    if (fn == scrub_json && is_json(in))
        CHECK(is_json(out));
    if (fn == scrub_text)
        CHECK(!out.n || !memmem(out.p, out.n, "needle", 6));
    count = (struct scrub_count){ 0 };
    CHECK(fn(s, out, &twice, &count) == 0 && !count.places);
    CHECK(twice.n == out.n && (!out.n || !memcmp(twice.p, out.p, out.n)));
}

static void
check_stars(struct scrub *s, struct view in)
{
    AUTO(buf) out = { 0 };
    struct scrub_count count = { 0 };
    CHECK(scrub_stars(s, in, &out, &count) == 0);
    CHECK(out.n == in.n);
    CHECK(!out.n || !memmem(out.p, out.n, "needle", 6));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct scrub *s; /* made once: it is the same for all inputs */
    static struct redact *secrets;
    static const char texts[] = "needle\nin the hay\nREDACTED\n";
    struct view in = { data ? data : (const uint8_t *)"", size };
    if (!s) {
        struct view v = { (const uint8_t *)texts, sizeof(texts) - 1 };
        CHECK(redact_only_texts(&secrets, v, NULL) == 0);
        CHECK(scrub_new(&s, secrets) == 0);
    }
    check(s, scrub_text, in);
    check(s, scrub_json, in);
    check(s, scrub_json_lines, in);
    check(s, scrub_io, in);
    check_stars(s, in);
    return 0;
}
