/* SPDX-License-Identifier: MIT */
/*
 * A screen drawn somewhere on a larger, blank one has the same cells there, and nothing
 * beside it. The bytes are of diff's allow-list. Any window is drawn without harm.
 */
#include "fuzz/fuzz.h"
#include "fuzz/term_input.h"

enum { BELOW = 1, BESIDE = 3 };

static struct term *
drawn(const struct term *t, const struct term_window *w)
{
    AUTO(buf) bytes = { 0 };
    struct term_options opt = term_options_default();
    opt.cols = w->at_col + term_cols(t) + BESIDE;
    opt.rows = w->at_row + term_rows(t) + BELOW;
    struct term *screen = term_new(&opt);
    CHECK(screen);
    term_blit(t, w, &bytes);
    CHECK(!bytes.failed);
    term_input_allowed(&bytes);
    if (bytes.n)
        term_feed(screen, bytes.p, bytes.n, 0);
    return screen;
}

static bool
is_blank(const struct term *t, unsigned row, unsigned col)
{
    static const struct term_style plain;
    struct term_cell cell;
    term_cell_at(t, row, col, &cell);
    return !cell.text.n && !memcmp(&cell.style, &plain, sizeof(plain));
}

static void
check_whole(const struct term *t)
{
    AUTO(buf) a = { 0 };
    AUTO(buf) b = { 0 };
    unsigned rows = term_rows(t), cols = term_cols(t);
    struct term_window all = { .rows = rows, .cols = cols, .at_row = 2, .at_col = 5 };
    struct term *screen = drawn(t, &all);
    /* In the last column a cluster may have been kept from being wide. */
    term_input_cells(&a, t, 0, 0, rows, cols - 1);
    term_input_cells(&b, screen, all.at_row, all.at_col, rows, cols - 1);
    term_input_same("blit", &a, &b);
    for (unsigned row = 0; row < term_rows(screen); row++)
        for (unsigned col = 0; col < term_cols(screen); col++) {
            bool is_inside = row - all.at_row < rows && col - all.at_col < cols;
            CHECK(is_inside || is_blank(screen, row, col));
        }
    term_free(screen);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view in = { data, size };
    struct term *t = term_input_new(&in);
    term_input_feed(t, in, 0);
    check_whole(t);
    unsigned n = (unsigned)(size % 65536);
    struct term_window some = { .top = n % 5,
                                .left = n % 7,
                                .rows = n % 9,
                                .cols = n % 11,
                                .is_inverted = n % 2,
                                .is_colourless = n % 3 };
    term_free(drawn(t, &some));
    term_free(t);
    return 0;
}
