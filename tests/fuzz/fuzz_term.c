/* SPDX-License-Identifier: MIT */
/*
 * Fed whole, byte by byte or in threes, with changes of size: the model's whole state is
 * the same, stamps and damage included. A snapshot has all of it but the damage.
 */
#include "fuzz/fuzz.h"
#include "fuzz/term_input.h"
#include "term/dump.h"

static struct term *
run(struct view in, size_t step, struct buf *out)
{
    struct term *t = term_input_new(&in);
    term_input_feed(t, in, step);
    for (unsigned row = 0; row < term_rows(t); row++)
        buf_puts(out, term_is_damaged(t, row) ? "!" : ".");
    CHECK(!term_snapshot(t, true, out));
    return t;
}

/* They are not the same: says what is first to be seen of it. */
static void
tell(const struct term *a, const struct term *b)
{
    AUTO(buf) x = { 0 };
    AUTO(buf) y = { 0 };
    dump_all(&x, a);
    dump_all(&y, b);
    term_input_same("cut", &x, &y);
    fprintf(stderr, "what differs is not to be seen\n");
    abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(buf) whole = { 0 };
    struct view in = { data, size };
    struct term *t = run(in, 0, &whole);
    for (size_t step = 1; step <= 3; step += 2) {
        AUTO(buf) cut = { 0 };
        struct term *other = run(in, step, &cut);
        if (cut.n != whole.n || memcmp(cut.p, whole.p, cut.n) != 0)
            tell(t, other);
        term_free(other);
    }
    term_free(t);
    return 0;
}
