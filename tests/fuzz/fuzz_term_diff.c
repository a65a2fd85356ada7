/* SPDX-License-Identifier: MIT */
/*
 * A terminal that shows nothing, then one model, then another, by diff's bytes alone,
 * looks as they do. The bytes are of the allow-list.
 */
#include "fuzz/fuzz.h"
#include "fuzz/term_input.h"

static void
show(struct term *screen, const struct term *old, const struct term *now)
{
    AUTO(buf) bytes = { 0 };
    CHECK(!term_diff(old, now, &bytes));
    term_input_allowed(&bytes);
    term_feed(screen, bytes.p, bytes.n, 0);
    AUTO(buf) a = { 0 };
    AUTO(buf) b = { 0 };
    term_input_look(&a, now);
    term_input_look(&b, screen);
    term_input_same(old ? "diff" : "first diff", &a, &b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view in = { data, size }, same = in, half;
    struct term *a = term_input_new(&in), *b = term_input_new(&same);
    half = (struct view){ in.p, in.n / 2 };
    term_input_feed(a, half, 0);
    term_input_feed(b, in, 0);
    term_resize(b, term_cols(a), term_rows(a));

    struct term_options opt = term_options_default();
    opt.cols = term_cols(a);
    opt.rows = term_rows(a);
    struct term *screen = term_new(&opt);
    CHECK(screen);
    show(screen, NULL, a);
    show(screen, a, b);
    show(screen, b, a);
    term_free(a);
    term_free(b);
    term_free(screen);
    return 0;
}
