/* SPDX-License-Identifier: MIT */
#include "support/term_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>
#include <string.h>

#include "support/rng.h"

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

static bool
is_same_line(const struct term_line *a, const struct term_line *b)
{
    if (a->text.n != b->text.n || a->cols != b->cols || a->n_spans != b->n_spans ||
        a->last_write_byte != b->last_write_byte || a->is_wrapped != b->is_wrapped ||
        a->is_alternate != b->is_alternate)
        return false;
    if (a->text.n && memcmp(a->text.p, b->text.p, a->text.n) != 0)
        return false;
    for (size_t i = 0; i < a->n_spans; i++) {
        const struct term_span *x = &a->spans[i], *y = &b->spans[i];
        struct term_style s = x->style, z = y->style;
        s.link = z.link = 0; /* numbers of their own in each model */
        if (x->start != y->start || x->end != y->end || memcmp(&s, &z, sizeof(s)) != 0 ||
            !x->uri != !y->uri || (x->uri && strcmp(x->uri, y->uri) != 0))
            return false;
    }
    return true;
}

static void
tell_line(struct buf *why, const char *who, size_t index, const struct term_line *line)
{
    buf_printf(why, "%s line %zu, stamp %" PRIu64 "%s%s, %zu spans: '%.*s'\n", who, index,
               line->last_write_byte, line->is_wrapped ? ", wrapped" : "",
               line->is_alternate ? ", alternate" : "", line->n_spans, (int)line->text.n,
               line->text.p ? (const char *)line->text.p : "");
}

/* The final lines as bytes, to be compared as such. */
static int
put_final(void *ctx, const struct term_line *line)
{
    struct buf *out = ctx;
    tell_line(out, "final", 0, line);
    for (size_t i = 0; i < line->n_spans; i++)
        buf_printf(out, " %u-%u", line->spans[i].start, line->spans[i].end);
    return 0;
}

static bool
is_same_final(const struct term *a, const struct term *b, struct buf *why)
{
    struct buf x = { 0 }, y = { 0 };
    term_final_lines(a, put_final, &x);
    term_final_lines(b, put_final, &y);
    bool is_same = x.n == y.n && (x.n == 0 || memcmp(x.p, y.p, x.n) == 0);
    if (!is_same)
        buf_printf(why, "final lines differ:\n%s\n%s\n", buf_str(&x), buf_str(&y));
    buf_release(&x);
    buf_release(&y);
    return is_same;
}

static bool
is_same_state(const struct term *a, const struct term *b, struct buf *why)
{
    struct term_cursor c = term_cursor(a), d = term_cursor(b);
    struct term_modes m = term_modes(a), n = term_modes(b);
    if (c.row != d.row || c.col != d.col || c.is_visible != d.is_visible ||
        c.is_wrap_pending != d.is_wrap_pending || c.is_blinking != d.is_blinking ||
        c.shape != d.shape) {
        buf_printf(why, "cursor %u,%u pending %d, or %u,%u pending %d\n", c.row, c.col,
                   c.is_wrap_pending, d.row, d.col, d.is_wrap_pending);
        return false;
    }
    if (m.is_alternate != n.is_alternate || m.is_synchronized != n.is_synchronized ||
        m.is_reverse != n.is_reverse || m.mouse != n.mouse ||
        m.mouse_encoding != n.mouse_encoding || m.kitty_keys != n.kitty_keys ||
        m.bracketed_paste != n.bracketed_paste ||
        strcmp(term_title(a), term_title(b)) != 0) {
        buf_puts(why, "modes or titles differ\n");
        return false;
    }
    return true;
}

bool
term_check_same(const struct term *a, const struct term *b, struct buf *why)
{
    struct term_line x = { 0 }, y = { 0 };
    size_t count = term_scrollback_count(a) + term_rows(a);
    bool is_same = count == term_scrollback_count(b) + term_rows(b) &&
                   term_scrollback_dropped(a) == term_scrollback_dropped(b);
    if (!is_same)
        buf_puts(why, "not as many lines\n");
    for (size_t i = 0; is_same && i < count; i++) {
        assert_int_equal(term_line_at(a, i, &x), 0);
        assert_int_equal(term_line_at(b, i, &y), 0);
        is_same = is_same_line(&x, &y);
        if (!is_same) {
            tell_line(why, "one", i, &x);
            tell_line(why, "other", i, &y);
        }
    }
    term_line_release(&x);
    term_line_release(&y);
    return is_same && is_same_state(a, b, why) && is_same_final(a, b, why);
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

void
term_check_escape(struct buf *out, struct view bytes)
{
    for (size_t i = 0; i < bytes.n; i++) {
        uint8_t c = bytes.p[i];
        if (c >= ' ' && c < 0x7f && c != '\\' && c != '\'' && c != '%')
            buf_printf(out, "%c", c);
        else
            buf_printf(out, "\\%03o", c);
    }
}
