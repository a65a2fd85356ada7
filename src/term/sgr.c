/* SPDX-License-Identifier: MIT */
/* sgr.c -- how characters look: SGR, to a style and back. */
#include "term/term_priv.h"

#define UNDERLINE(kind) ((kind) << TERM_UNDERLINE_SHIFT)

/* Parameters that only set and clear attributes. */
static const struct {
    uint16_t clear, set;
} attrs[] = {
    [1] = { 0, TERM_BOLD },
    [2] = { 0, TERM_DIM },
    [3] = { 0, TERM_ITALIC },
    [4] = { TERM_UNDERLINE_MASK, UNDERLINE(TERM_UNDERLINE_SINGLE) },
    [5] = { 0, TERM_BLINK },
    [6] = { 0, TERM_RAPID_BLINK },
    [7] = { 0, TERM_INVERSE },
    [8] = { 0, TERM_HIDDEN },
    [9] = { 0, TERM_STRIKE },
    [21] = { TERM_UNDERLINE_MASK, UNDERLINE(TERM_UNDERLINE_DOUBLE) },
    [22] = { TERM_BOLD | TERM_DIM, 0 },
    [23] = { TERM_ITALIC, 0 },
    [24] = { TERM_UNDERLINE_MASK, 0 },
    [25] = { TERM_BLINK | TERM_RAPID_BLINK, 0 },
    [27] = { TERM_INVERSE, 0 },
    [28] = { TERM_HIDDEN, 0 },
    [29] = { TERM_STRIKE, 0 },
    [53] = { 0, TERM_OVERLINE },
    [55] = { TERM_OVERLINE, 0 },
};

/* Is the i-th parameter there, behind a colon? */
static bool
is_sub(const struct term_op *op, unsigned i)
{
    return i < op->n_params && op->sub_params >> i & 1;
}

static uint32_t
rgb(uint32_t r, uint32_t g, uint32_t b)
{
    return TERM_COLOUR(TERM_COLOUR_RGB, (r & 0xff) << 16 | (g & 0xff) << 8 | (b & 0xff));
}

/*
 * 38, 48 and 58: "5;N", "2;R;G;B", or with colons "5:N", "2:R:G:B", "2:SPACE:R:G:B".
 * Returns the number of parameters that belong to it, itself included.
 */
static unsigned
extended_colour(const struct term_op *op, unsigned i, uint32_t *ret)
{
    const uint32_t *p = op->params + i;
    unsigned n = op->n_params - i;
    if (is_sub(op, i + 1)) {
        unsigned end = 1;
        while (is_sub(op, i + end))
            end++;
        if (p[1] == 5 && end >= 3)
            *ret = TERM_COLOUR(TERM_COLOUR_INDEX, p[2] & 0xff);
        else if (p[1] == 2 && end >= 5) {
            const uint32_t *c = p + (end >= 6 ? 3 : 2);
            *ret = rgb(c[0], c[1], c[2]);
        }
        return end;
    }
    if (n >= 3 && p[1] == 5) {
        *ret = TERM_COLOUR(TERM_COLOUR_INDEX, p[2] & 0xff);
        return 3;
    }
    if (n >= 5 && p[1] == 2) {
        *ret = rgb(p[2], p[3], p[4]);
        return 5;
    }
    return n; /* not to be understood: neither is what follows */
}

static void
underline_style(struct term_style *pen, uint32_t kind)
{
    if (kind > TERM_UNDERLINE_DASHED)
        return;
    uint32_t others = pen->attrs & ~(uint32_t)TERM_UNDERLINE_MASK;
    pen->attrs = (uint16_t)(others | UNDERLINE(kind));
}

/* A parameter that is no colour of the first sixteen and takes no more parameters. */
static void
set_attrs(struct term_style *pen, uint32_t v)
{
    if (v < sizeof(attrs) / sizeof(attrs[0]))
        pen->attrs = (uint16_t)((pen->attrs & ~attrs[v].clear) | attrs[v].set);
}

static unsigned
sgr_one(struct term_style *pen, const struct term_op *op, unsigned i)
{
    uint32_t v = op->params[i];
    if (v == 38)
        return extended_colour(op, i, &pen->fg);
    if (v == 48)
        return extended_colour(op, i, &pen->bg);
    if (v == 58)
        return extended_colour(op, i, &pen->underline_colour);
    if (v == 0)
        *pen = (struct term_style){ .link = pen->link,
                                    .attrs = pen->attrs & TERM_PROTECTED };
    else if (v >= 30 && v <= 37)
        pen->fg = TERM_COLOUR(TERM_COLOUR_INDEX, v - 30);
    else if (v >= 40 && v <= 47)
        pen->bg = TERM_COLOUR(TERM_COLOUR_INDEX, v - 40);
    else if (v >= 90 && v <= 97)
        pen->fg = TERM_COLOUR(TERM_COLOUR_INDEX, v - 90 + 8);
    else if (v >= 100 && v <= 107)
        pen->bg = TERM_COLOUR(TERM_COLOUR_INDEX, v - 100 + 8);
    else if (v == 39)
        pen->fg = 0;
    else if (v == 49)
        pen->bg = 0;
    else if (v == 59)
        pen->underline_colour = 0;
    else if (v == 4 && is_sub(op, i + 1))
        underline_style(pen, op->params[i + 1]);
    else
        set_attrs(pen, v);
    unsigned n = 1;
    while (is_sub(op, i + n))
        n++;
    return n;
}

void
term_sgr(struct term *t, const struct term_op *op)
{
    t->is_pen_known = false;
    if (!op->n_params) {
        t->at.pen = (struct term_style){ .link = t->at.pen.link,
                                         .attrs = t->at.pen.attrs & TERM_PROTECTED };
        return;
    }
    for (unsigned i = 0; i < op->n_params;)
        i += sgr_one(&t->at.pen, op, i);
}

/* -- and back -- */

static void
put_param(struct buf *out, const char *before, uint32_t v)
{
    buf_puts(out, before);
    buf_put_u64(out, v);
}

static void
put_colour(struct buf *out, uint32_t colour, unsigned base)
{
    uint32_t v = term_colour_value(colour);
    const char *colon = base == 58 ? ":" : ";"; /* underlines came after the semicolons */
    switch (term_colour_kind(colour)) {
    case TERM_COLOUR_DEFAULT:
        break;
    case TERM_COLOUR_INDEX:
        if (base != 58 && v < 16) {
            put_param(out, ";", v < 8 ? base - 8 + v : base + 52 + v - 8);
            break;
        }
        put_param(out, ";", base);
        put_param(out, colon, 5);
        put_param(out, colon, v);
        break;
    case TERM_COLOUR_RGB:
        put_param(out, ";", base);
        put_param(out, colon, 2);
        put_param(out, base == 58 ? "::" : ";", v >> 16);
        put_param(out, colon, v >> 8 & 0xff);
        put_param(out, colon, v & 0xff);
        break;
    }
}

void
term_style_to_sgr(const struct term_style *style, struct buf *out)
{
    static const uint8_t singles[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 53 };
    enum term_underline underline = term_style_underline(style);
    buf_puts(out, "0");
    for (unsigned i = 0; style->attrs && i < sizeof(singles); i++) {
        if (singles[i] == 4 && underline > TERM_UNDERLINE_SINGLE)
            put_param(out, ";4:", (uint32_t)underline);
        else if (singles[i] == 4 ? underline : style->attrs & attrs[singles[i]].set)
            put_param(out, ";", singles[i]);
    }
    put_colour(out, style->fg, 38);
    put_colour(out, style->bg, 48);
    put_colour(out, style->underline_colour, 58);
}
