/* SPDX-License-Identifier: MIT */
#include "fuzz/term_input.h"

#include "fuzz/fuzz.h"
#include "term/dump.h"
#include "term/parser.h"

enum { COLS = 16, ROWS = 5, SCROLLBACK = 40, RESIZE = 0xff };

struct term *
term_input_new(struct view *in)
{
    struct term_options opt = term_options_default();
    opt.cols = 1 + fuzz_byte(in) % COLS;
    opt.rows = 1 + fuzz_byte(in) % ROWS;
    opt.scrollback_rows = SCROLLBACK;
    opt.alternate_rows = SCROLLBACK;
    struct term *t = term_new(&opt);
    CHECK(t);
    return t;
}

/* A wide character has both its halves, on any screen that has room for them. */
static void
check_halves(const struct term *t)
{
    for (unsigned row = 0; row < term_rows(t); row++) {
        unsigned before = 1;
        for (unsigned col = 0; col < term_cols(t); col++) {
            struct term_cell cell;
            term_cell_at(t, row, col, &cell);
            CHECK((cell.width == 0) == (before == 2));
            before = cell.width;
        }
        CHECK(before != 2);
    }
}

void
term_input_feed(struct term *t, struct view in, size_t step)
{
    uint64_t off = 0;
    while (in.n) {
        if (in.p[0] == RESIZE) {
            fuzz_byte(&in);
            unsigned cols = 1 + fuzz_byte(&in) % COLS;
            term_resize(t, cols, 1 + fuzz_byte(&in) % ROWS);
            continue;
        }
        const uint8_t *end = memchr(in.p, RESIZE, in.n);
        size_t n = end ? (size_t)(end - in.p) : in.n;
        if (step && n > step)
            n = step;
        term_feed(t, in.p, n, off);
        off += n;
        in = (struct view){ in.p + n, in.n - n };
    }
    check_halves(t);
    struct term_cursor c = term_cursor(t);
    CHECK(c.row < term_rows(t) && c.col < term_cols(t));
    CHECK(!term_error(t));
}

void
term_input_cells(struct buf *out, const struct term *t, unsigned top, unsigned left,
                 unsigned rows, unsigned cols)
{
    for (unsigned row = 0; row < rows; row++) {
        for (unsigned col = 0; col < cols; col++) {
            struct term_cell cell;
            term_cell_at(t, top + row, left + col, &cell);
            cell.style.attrs &= (uint16_t)~TERM_PROTECTED;
            buf_printf(out, "%u,%u %u ", row, col, cell.width);
            if (cell.text.n)
                buf_append(out, cell.text.p, cell.text.n);
            else if (cell.width)
                buf_puts(out, " ");
            buf_puts(out, " ");
            dump_style(out, &cell.style);
            buf_printf(out, " %s\n", term_link_uri(t, cell.style.link));
        }
    }
}

void
term_input_look(struct buf *out, const struct term *t)
{
    term_input_cells(out, t, 0, 0, term_rows(t), term_cols(t));
    struct term_cursor c = term_cursor(t);
    struct term_modes m = term_modes(t);
    buf_printf(out, "cursor %u %u %d %d\n", c.row, c.col, c.is_visible, (int)c.shape);
    buf_printf(out, "modes %d %d %d %d %d %d %u %u %u\n", m.is_reverse, m.app_cursor_keys,
               m.app_keypad, m.bracketed_paste, m.focus_events, m.alternate_scroll,
               m.mouse, m.mouse_encoding, m.kitty_keys);
}

void
term_input_lines(struct buf *out, const struct term *t)
{
    struct term_line line = { 0 };
    size_t count = term_scrollback_count(t) + term_rows(t);
    for (size_t i = 0; i < count; i++) {
        CHECK(!term_line_at(t, i, &line));
        /* Behind the last row nothing can go on. */
        buf_printf(out, "line %zu %d ", i, line.is_wrapped && i + 1 < count);
        buf_append(out, line.text.p, line.text.n);
        buf_puts(out, "\n");
    }
    term_line_release(&line);
    struct term_cursor c = term_cursor(t);
    /* Not at the edge it may be CBT's doing, which nobody can ask for again. */
    bool is_pending = c.is_wrap_pending && c.col + 1 == term_cols(t);
    buf_printf(out, "pending %d alternate %d sync %d '%s' '%s'\n", is_pending,
               term_modes(t).is_alternate, term_modes(t).is_synchronized, term_title(t),
               term_icon_title(t));
}

void
term_input_same(const char *what, const struct buf *a, const struct buf *b)
{
    if (a->n == b->n && (!a->n || !memcmp(a->p, b->p, a->n)))
        return;
    size_t i = 0, line = 0;
    for (; i < a->n && i < b->n && a->p[i] == b->p[i]; i++)
        if (a->p[i] == '\n')
            line = i + 1;
    fprintf(stderr, "%s: not the same:\n<%.*s\n>%.*s\n", what,
            (int)(a->n - line < 90 ? a->n - line : 90), a->p + line,
            (int)(b->n - line < 90 ? b->n - line : 90), b->p + line);
    abort();
}

/* Of the modes that a viewer mirrors. */
static bool
is_allowed_mode(const struct term_op *csi)
{
    static const unsigned modes[] = { 1,    5,    9,    25,   66,   1000, 1002, 1003,
                                      1004, 1005, 1006, 1007, 1015, 1016, 2004 };
    for (size_t i = 0; csi->n_params == 1 && i < sizeof(modes) / sizeof(modes[0]); i++)
        if (csi->params[0] == modes[i])
            return csi->final == 'h' || csi->final == 'l';
    return false;
}

static bool
is_allowed(const struct term_op *csi)
{
    if (csi->marker == '?')
        return is_allowed_mode(csi);
    if (csi->marker)
        return csi->marker == '=' && csi->final == 'u';
    if (csi->intermediate)
        return csi->intermediate == ' ' && csi->final == 'q';
    return strchr("HGCJKSm", csi->final) != NULL;
}

static void
check_op(const struct term_op *op)
{
    switch (op->kind) {
    case TERM_OP_ASCII:
        break;
    case TERM_OP_RUNES:
        for (size_t i = 0; i < op->n; i++)
            CHECK(op->runes[i] >= 0xa0);
        break;
    case TERM_OP_EXECUTE:
        CHECK(op->final == '\r' || op->final == '\n');
        break;
    case TERM_OP_ESC:
        CHECK(op->final == '\\' && !op->intermediate);
        break;
    case TERM_OP_CSI:
        CHECK(is_allowed(op));
        break;
    case TERM_OP_OSC:
        CHECK(op->string.n >= 3 && !memcmp(op->string.p, "8;;", 3));
        for (size_t i = 0; i < op->string.n; i++)
            CHECK(op->string.p[i] < 0x7f);
        break;
    case TERM_OP_DCS:
        CHECK(op->kind != TERM_OP_DCS);
    }
}

void
term_input_allowed(const struct buf *diff)
{
    struct term_parser p = { 0 };
    struct term_op op;
    size_t pos = 0;
    while (term_parser_next(&p, (struct view){ diff->p, diff->n }, &pos, &op))
        check_op(&op);
    CHECK(p.state == TERM_STATE_GROUND);
    term_parser_release(&p);
}
