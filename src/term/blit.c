/* SPDX-License-Identifier: MIT */
/*
 * blit.c -- a window of a screen as bytes that draw it somewhere else.
 *
 * Of diff.c's allow-list: text, CUP, CHA, SGR and OSC 8; CR and LF where it flows.
 */
#include "base/utf8.h"
#include "term/term_priv.h"

struct brush {
    const struct term *src;
    const struct term_window *window;
    struct buf *out;
    struct term_style pen;
    unsigned at; /* the window's column that the cursor stands in; UINT32_MAX: unknown */
};

static bool
is_ascii(const struct term_cell *cell)
{
    return cell->text.n == 1 && cell->text.p[0] >= 0x20 && cell->text.p[0] < 0x7f;
}

static bool
is_default(const struct term_style *style)
{
    static const struct term_style plain;
    return !memcmp(style, &plain, sizeof(plain));
}

/* As the window shows it. */
static struct term_style
look(const struct term_window *w, struct term_style style)
{
    style.attrs &= (uint16_t)~TERM_PROTECTED;
    if (w->is_inverted)
        style.attrs ^= TERM_INVERSE;
    if (w->is_colourless)
        style.fg = style.bg = style.underline_colour = 0;
    return style;
}

static void
set_style(struct brush *b, const struct term_style *style)
{
    if (!memcmp(style, &b->pen, sizeof(*style)))
        return;
    if (style->link != b->pen.link)
        buf_printf(b->out, "\033]8;;%s\033\\", term_link_uri(b->src, style->link));
    buf_puts(b->out, "\033[");
    if (!is_default(style))
        term_style_to_sgr(style, b->out);
    buf_puts(b->out, "m");
    b->pen = *style;
}

/* What of a cell's text takes no more columns than it does: what had no room to be wide
 * where it is would find it elsewhere. */
static size_t
fitting_size(const struct brush *b, const struct term_cell *cell)
{
    struct term_widths *widths = b->src->widths;
    struct view text = cell->text;
    uint32_t first, rune;
    if (cell->width != 1 || text.n < 2)
        return text.n;
    size_t at = (size_t)utf8_next(text.p, text.n, &first);
    if ((term_class(widths, first) & TERM_CLASS_WIDTH) == 2)
        return 0;
    while (at && at < text.n) {
        size_t n = (size_t)utf8_next(text.p + at, text.n - at, &rune);
        if (!n || term_class_widens(widths, first, rune, term_class(widths, rune)))
            break;
        at += n;
    }
    return at;
}

/* A character that the window's edge cuts is blank there. */
static void
put_cell(struct brush *b, const struct term_cell *cell, unsigned col, unsigned end)
{
    struct term_style style = look(b->window, cell->style);
    bool is_whole = cell->width && col + cell->width <= end;
    size_t n = is_whole ? fitting_size(b, cell) : 0;
    if (!cell->text.n && is_default(&style))
        return; /* so it is already */
    if (b->at != col || (n && !is_ascii(cell)))
        buf_printf(b->out, "\033[%uG", b->window->at_col + col + 1);
    set_style(b, &style);
    if (n)
        buf_append(b->out, cell->text.p, n);
    else
        buf_puts(b->out, " ");
    /* How far a cluster moves the cursor is not for us to know. */
    b->at = n && !is_ascii(cell) ? UINT32_MAX : col + 1;
}

/* To where a row begins. A line that comes from below has the pen's colour. */
static void
go_to_row(struct brush *b, unsigned row)
{
    static const struct term_style plain;
    const struct term_window *w = b->window;
    if (!w->flows) {
        buf_printf(b->out, "\033[%u;%uH", w->at_row + row + 1, w->at_col + 1);
    } else {
        set_style(b, &plain);
        buf_puts(b->out, row ? "\r\n" : "\r");
    }
    b->at = 0;
}

static void
put_row(struct brush *b, unsigned row, unsigned cols)
{
    const struct term_window *w = b->window;
    go_to_row(b, row);
    for (unsigned col = 0; col < cols; col++) {
        struct term_cell cell;
        term_cell_at(b->src, w->top + row, w->left + col, &cell);
        if (cell.width || !col) /* else the right half of the one before */
            put_cell(b, &cell, col, cols);
    }
}

static unsigned
cut(unsigned start, unsigned size, unsigned whole)
{
    if (start >= whole)
        return 0;
    return size < whole - start ? size : whole - start;
}

void
term_blit(const struct term *src, const struct term_window *w, struct buf *out)
{
    struct brush b = { .src = src, .window = w, .out = out };
    unsigned rows = cut(w->top, w->rows, term_rows(src));
    unsigned cols = cut(w->left, w->cols, term_cols(src));
    for (unsigned row = 0; row < rows; row++)
        put_row(&b, row, cols);
    set_style(&b, &(struct term_style){ 0 });
}
