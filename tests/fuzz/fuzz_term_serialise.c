/* SPDX-License-Identifier: MIT */
/* What serialise gives makes a fresh model look the same, scrollback, wraps and modes
 * included. */
#include "fuzz/fuzz.h"
#include "fuzz/term_input.h"

static void
check(struct term *t)
{
    AUTO(buf) bytes = { 0 };
    CHECK(!term_serialise(t, true, &bytes));
    struct term_options opt = term_options_default();
    opt.cols = term_cols(t);
    opt.rows = term_rows(t);
    struct term *copy = term_new(&opt);
    CHECK(copy);
    term_feed(copy, bytes.p, bytes.n, 0);
    AUTO(buf) a = { 0 };
    AUTO(buf) b = { 0 };
    term_input_lines(&a, t);
    term_input_lines(&b, copy);
    term_input_same("lines", &a, &b);
    buf_clear(&a);
    buf_clear(&b);
    term_input_look(&a, t);
    term_input_look(&b, copy);
    term_input_same("look", &a, &b);
    term_free(copy);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view in = { data, size };
    struct term *t = term_input_new(&in);
    term_input_feed(t, in, 0);
    check(t);
    /* The other screen, too. */
    static const char other[] = "\x18\x1b[?47l";
    term_feed(t, other, sizeof(other) - 1, 0);
    check(t);
    term_free(t);
    return 0;
}
