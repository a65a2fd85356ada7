/* SPDX-License-Identifier: MIT */
/* Fed whole, byte by byte or in threes, with changes of size: all that can be asked of
 * the model is the same, stamps and damage included. */
#include "fuzz/fuzz.h"
#include "fuzz/term_input.h"
#include "term/dump.h"

static void
run(struct view in, size_t step, struct buf *out)
{
    struct term *t = term_input_new(&in);
    term_input_feed(t, in, step);
    dump_all(out, t);
    term_free(t);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(buf) whole = { 0 };
    struct view in = { data, size };
    run(in, 0, &whole);
    for (size_t step = 1; step <= 3; step += 2) {
        AUTO(buf) cut = { 0 };
        run(in, step, &cut);
        term_input_same("cut", &whole, &cut);
    }
    return 0;
}
