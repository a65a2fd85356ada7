/* SPDX-License-Identifier: MIT */
/*
 * style.h -- how a cell looks, apart from its text.
 *
 * A style is four words, comparable by memcmp; all zero is the default one.
 */
#ifndef TERM_STYLE_H
#define TERM_STYLE_H

#include <stdbool.h>
#include <stdint.h>

/* A colour: its kind in the top byte, then an index (0..255) or 0xrrggbb. */
enum term_colour_kind {
    TERM_COLOUR_DEFAULT = 0,
    TERM_COLOUR_INDEX = 1,
    TERM_COLOUR_RGB = 2,
};

#define TERM_COLOUR(kind, value) ((uint32_t)(kind) << 24 | (value))

static inline enum term_colour_kind
term_colour_kind(uint32_t colour)
{
    return (enum term_colour_kind)(colour >> 24);
}

static inline uint32_t
term_colour_value(uint32_t colour)
{
    return colour & 0xffffff;
}

enum {
    TERM_BOLD = 1 << 0,
    TERM_DIM = 1 << 1,
    TERM_ITALIC = 1 << 2,
    TERM_BLINK = 1 << 3,
    TERM_RAPID_BLINK = 1 << 4,
    TERM_INVERSE = 1 << 5,
    TERM_HIDDEN = 1 << 6,
    TERM_STRIKE = 1 << 7,
    TERM_OVERLINE = 1 << 8,
    TERM_PROTECTED = 1 << 9, /* DECSCA: selective erase leaves it alone */
    TERM_UNDERLINE_SHIFT = 10,
    TERM_UNDERLINE_MASK = 7 << TERM_UNDERLINE_SHIFT, /* enum term_underline */
};

enum term_underline {
    TERM_UNDERLINE_NONE,
    TERM_UNDERLINE_SINGLE,
    TERM_UNDERLINE_DOUBLE,
    TERM_UNDERLINE_CURLY,
    TERM_UNDERLINE_DOTTED,
    TERM_UNDERLINE_DASHED,
};

struct term_style {
    uint32_t fg, bg, underline_colour;
    uint16_t attrs;
    uint16_t link; /* 0: none; else for term_link_uri() of the model it came from */
};

static inline enum term_underline
term_style_underline(const struct term_style *s)
{
    return (enum term_underline)((s->attrs & TERM_UNDERLINE_MASK) >>
                                 TERM_UNDERLINE_SHIFT);
}

#endif
