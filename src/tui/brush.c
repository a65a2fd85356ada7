/* SPDX-License-Identifier: MIT */
#include "tui/brush_priv.h"

#include <limits.h>

#include "term/term.h"
#include "term/text.h"

static bool
is_ascii(uint8_t byte)
{
    return byte >= 0x20 && byte < 0x7f;
}

void
tui_brush_row(struct tui_brush *b, unsigned row, unsigned left, unsigned cols,
              unsigned first)
{
    b->row = row;
    b->left = left;
    b->cols = cols;
    b->first = first;
    b->at = UINT_MAX;
}

size_t
tui_brush_next(struct view text, unsigned *ret_width)
{
    *ret_width = 1;
    if (is_ascii(text.p[0]) && (text.n == 1 || is_ascii(text.p[1])))
        return 1;
    return term_cluster_next(text, ret_width);
}

/* As this brush shows it. */
static struct term_style
look(const struct tui_brush *b, const struct term_style *style, bool is_hit)
{
    struct term_style s = *style;
    s.link = 0;
    s.attrs &= (uint16_t)~TERM_PROTECTED;
    if (b->is_dim)
        s.attrs = (uint16_t)((s.attrs & TERM_HIDDEN) | TERM_DIM);
    if (b->is_dim || !b->has_colours)
        s.fg = s.bg = s.underline_colour = 0;
    if (is_hit)
        s.attrs ^= TERM_INVERSE;
    return s;
}

static void
set_style(struct tui_brush *b, const struct term_style *style)
{
    static const struct term_style plain;
    if (!memcmp(style, &b->pen, sizeof(*style)))
        return;
    buf_puts(b->out, "\033[");
    if (memcmp(style, &plain, sizeof(plain)) != 0)
        term_style_to_sgr(style, b->out);
    buf_puts(b->out, "m");
    b->pen = *style;
}

static void
set_link(struct tui_brush *b, const char *uri)
{
    const char *old = b->uri ? b->uri : "", *now = uri ? uri : "";
    if (strcmp(old, now) != 0)
        buf_printf(b->out, "\033]8;;%s\033\\", now);
    b->uri = uri;
}

/* Where the cursor is not known, or something could join what stands before it, it is
 * put in its place anew. */
static void
go_to(struct tui_brush *b, unsigned col, bool is_plain)
{
    if (b->at == col && is_plain)
        return;
    buf_printf(b->out, "\033[%u;%uH", b->row + 1, col + 1);
}

static void
put(struct tui_brush *b, unsigned col, struct view text)
{
    bool is_plain = text.n == 1 && is_ascii(text.p[0]);
    go_to(b, col, is_plain);
    buf_append(b->out, text.p, text.n);
    b->at = is_plain ? col + 1 : UINT_MAX;
}

void
tui_brush_cell(struct tui_brush *b, unsigned col, unsigned width, struct view text,
               const struct term_style *style, const char *uri, bool is_hit)
{
    static const struct view blank = { (const uint8_t *)" ", 1 };
    uint64_t from = col, to = from + width, first = b->first, end = first + b->cols;
    bool is_whole = from >= first && to <= end;
    if (!width || to <= first || from >= end)
        return;
    struct term_style s = look(b, style, is_hit);
    set_style(b, &s);
    set_link(b, uri);
    if (is_whole && text.n) {
        put(b, b->left + (unsigned)(from - first), text);
        return;
    }
    for (uint64_t i = from; i < to; i++)
        if (i >= first && i < end)
            put(b, b->left + (unsigned)(i - first), blank);
}

unsigned
tui_brush_text(struct tui_brush *b, unsigned col, struct view text,
               const struct term_style *style)
{
    while (text.n && col < b->first + b->cols) {
        unsigned width;
        size_t n = tui_brush_next(text, &width);
        tui_brush_cell(b, col, width, (struct view){ text.p, n }, style, NULL, false);
        col += width;
        text.p += n;
        text.n -= n;
    }
    return col;
}

void
tui_brush_fill(struct tui_brush *b, unsigned from, unsigned to, const char *text,
               const struct term_style *style)
{
    unsigned end = b->first + b->cols;
    for (; from < to && from < end; from++)
        tui_brush_cell(b, from, 1, term_text(text), style, NULL, false);
}

void
tui_brush_end(struct tui_brush *b)
{
    set_link(b, NULL);
    set_style(b, &(struct term_style){ 0 });
}
