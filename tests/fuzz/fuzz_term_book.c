/* SPDX-License-Identifier: MIT */
/* A book has the model's final lines, and finds what is in them; kept up from piece to
 * piece it is the same as one that was made at the end. */
#include "fuzz/fuzz.h"
#include "fuzz/term_input.h"
#include "support/book_check.h"
#include "support/rng.h"

enum { COLS = 16, ROWS = 5, RESIZE = 0xff, PIECES = 40 };

static void
check(const struct term_book *b, uint32_t *rng)
{
    AUTO(buf) why = { 0 };
    struct term_book fresh = { 0 };
    bool is_ok = book_check(b, rng, &why);
    CHECK(term_book_update(&fresh, b->term) == 0);
    is_ok = is_ok && book_check_same(b, &fresh, &why);
    term_book_release(&fresh);
    if (!is_ok)
        fprintf(stderr, "%s\n", buf_str(&why));
    CHECK(is_ok);
}

static void
keep_up(struct term *t, struct view in, struct term_book *b, uint32_t *rng)
{
    size_t step = in.n / PIECES + 1;
    uint64_t off = 0;
    while (in.n) {
        if (in.p[0] == RESIZE) {
            fuzz_byte(&in);
            unsigned cols = 1 + fuzz_byte(&in) % COLS;
            term_resize(t, cols, 1 + fuzz_byte(&in) % ROWS);
        } else {
            const uint8_t *end = memchr(in.p, RESIZE, in.n);
            size_t n = end ? (size_t)(end - in.p) : in.n;
            n = n < step ? n : step;
            term_feed(t, in.p, n, off);
            off += n;
            in = (struct view){ in.p + n, in.n - n };
        }
        if (rng_below(rng, 4))
            CHECK(term_book_update(b, t) == 0);
        if (!rng_below(rng, 8)) {
            CHECK(term_book_update(b, t) == 0);
            check(b, rng);
        }
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view in = { data, size };
    uint32_t rng = rng_seed((uint32_t)size);
    struct term *t = term_input_new(&in);
    struct term_book b = { 0 };
    keep_up(t, in, &b, &rng);
    CHECK(term_book_update(&b, t) == 0);
    check(&b, &rng);
    term_book_release(&b);
    term_free(t);
    return 0;
}
