/* SPDX-License-Identifier: MIT */
#include "support/term_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "support/rng.h"
#include "term/dump.h"

struct term *
term_check_new(unsigned cols, unsigned rows)
{
    struct term_options opt = term_options_default();
    opt.cols = cols;
    opt.rows = rows;
    struct term *t = term_new(&opt);
    assert_non_null(t);
    return t;
}

void
term_check_feed(struct term *t, struct view bytes, uint64_t byte_off, size_t most,
                uint32_t *rng)
{
    for (size_t at = 0, n; at < bytes.n; at += n) {
        n = most ? rng_between(rng, 1, (uint32_t)most) : bytes.n;
        n = n < bytes.n - at ? n : bytes.n - at;
        term_feed(t, bytes.p + at, n, byte_off + at);
    }
}

bool
term_check_same(const struct term *a, const struct term *b, struct buf *why)
{
    AUTO(buf) x = { 0 };
    AUTO(buf) y = { 0 };
    dump_all(&x, a);
    dump_all(&y, b);
    assert_int_equal(x.failed, 0);
    assert_int_equal(y.failed, 0);
    return dump_same(&x, &y, why);
}

static uint64_t
mix(uint64_t h, const void *p, size_t n)
{
    const uint8_t *s = p;
    for (size_t i = 0; i < n; i++)
        h = (h ^ s[i]) * UINT64_C(0x100000001b3);
    return h;
}

uint64_t
term_check_row(const struct term *t, unsigned row)
{
    static const struct term_style plain;
    uint64_t h = 0;
    for (unsigned col = 0; col < term_cols(t); col++) {
        struct term_cell cell;
        term_cell_at(t, row, col, &cell);
        bool is_blank = cell.text.n == 0 && cell.width == 1;
        if (is_blank && memcmp(&cell.style, &plain, sizeof(plain)) == 0)
            continue;
        h = mix(h + col + 1, &cell.width, sizeof(cell.width));
        h = mix(h, cell.text.p, cell.text.n);
        h = mix(h, &cell.style, sizeof(cell.style));
    }
    return h;
}
