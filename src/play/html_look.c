/* SPDX-License-Identifier: MIT */
/*
 * html_look.c -- a cell's looks as attributes.
 *
 * Colours 0..15 are classes of html.css, all others numbers. A colour that stands on the
 * page's own ground is moved, for each scheme, until it can be read there; one on a
 * ground that the recording gave is as it was, and where it gave none it is black or
 * white.
 */
#include "play/html_priv.h"

/* As html.css has them, light and dark. */
enum scheme { LIGHT, DARK };
static const uint32_t ground[] = { 0xffffff, 0x0d1117 };
static const uint32_t ink[] = { 0x1f2328, 0xe6edf3 };

/* -- contrast -- */

enum { READABLE = 480 }; /* WCAG asks for 450 by the exact curve */

/* How much light a part (0..255) of a colour is, 0..65025: sRGB's curve by three quarters
 * of a square and one of a cube. */
static uint64_t
light(uint32_t part)
{
    const uint64_t most = 255;
    return (uint64_t)part * part * (3 * most + part) / (4 * most);
}

/* How bright, 0..650250000. */
static uint64_t
brightness(uint32_t rgb)
{
    return 2126 * light(rgb >> 16 & 0xff) + 7152 * light(rgb >> 8 & 0xff) +
           722 * light(rgb & 0xff);
}

/* How many times as bright, in hundredths, the brighter of two is, with the twentieth of
 * white that a screen always has. */
static uint64_t
contrast(uint32_t a, uint32_t b)
{
    uint64_t x = brightness(a) + 32512500, y = brightness(b) + 32512500;
    return x > y ? 100 * x / y : 100 * y / x;
}

static bool
is_bright(uint32_t rgb)
{
    return contrast(rgb, 0x000000) > contrast(rgb, 0xffffff);
}

/* `part` 256ths of the way to another colour. */
static uint32_t
mix(uint32_t from, uint32_t to, uint32_t part)
{
    uint32_t rgb = 0;
    for (unsigned shift = 0; shift <= 16; shift += 8) {
        uint32_t a = from >> shift & 0xff, b = to >> shift & 0xff;
        rgb |= ((a * (256 - part) + b * part) / 256) << shift;
    }
    return rgb;
}

/* How grey, in 256ths. */
static uint64_t
greyness(uint32_t rgb)
{
    uint32_t most = 1, least = 255;
    for (unsigned shift = 0; shift <= 16; shift += 8) {
        uint32_t part = rgb >> shift & 0xff;
        most = part > most ? part : most;
        least = part < least ? part : least;
    }
    return 256 * least / most;
}

/* A colour on a ground. Where it cannot be read it is moved until it can, and a grey
 * until it stands out as from the other ground, which it was made for. */
static uint32_t
readable(uint32_t rgb, uint32_t on, uint32_t other)
{
    if (contrast(rgb, on) >= READABLE)
        return rgb;
    uint64_t want = READABLE;
    if (contrast(rgb, other) > READABLE)
        want += (contrast(rgb, other) - READABLE) * greyness(rgb) / 256;
    uint32_t to = is_bright(on) ? 0x000000 : 0xffffff, part = 0;
    while (part < 256 && contrast(mix(rgb, to, part), on) < want)
        part += 16;
    return mix(rgb, to, part);
}

/* -- colours -- */

/* What is seen: inverse is resolved, 0 is the page's own. */
struct colours {
    uint32_t fg, bg;
    bool is_swapped; /* the ground is the page's ink, if bg is 0 */
};

static struct colours
colours_of(const struct term_style *style)
{
    if (!(style->attrs & TERM_INVERSE))
        return (struct colours){ style->fg, style->bg, false };
    return (struct colours){ style->bg, style->fg, true };
}

/* The number of one that is a class; else -1. */
static int
class_of(uint32_t colour)
{
    bool is_class = term_colour_kind(colour) == TERM_COLOUR_INDEX &&
                    term_colour_value(colour) < 16;
    return is_class ? (int)term_colour_value(colour) : -1;
}

static uint32_t
rgb_of(uint32_t colour)
{
    uint32_t value = term_colour_value(colour);
    return term_colour_kind(colour) == TERM_COLOUR_INDEX
               ? term_default_colour(value <= 255 ? value : 0)
               : value;
}

bool
play_html_has_ground(const struct term_style *style)
{
    struct colours c = colours_of(style);
    return c.bg || c.is_swapped;
}

/* Are both of it classes of html.css that go together? */
static bool
is_by_class(const struct colours *c)
{
    if (c->is_swapped && !c->bg)
        return !c->fg;
    return (!c->fg || class_of(c->fg) >= 0) && (!c->bg || class_of(c->bg) >= 0);
}

/* -- attributes -- */

/* One that is begun with its first value. */
struct attribute {
    struct buf *out;
    const char *begin, *between;
    bool is_begun;
};

static void
next(struct attribute *a)
{
    buf_puts(a->out, a->is_begun ? a->between : a->begin);
    a->is_begun = true;
}

static void
add_class(struct attribute *a, const char *prefix, int number)
{
    next(a);
    buf_puts(a->out, prefix);
    if (number >= 0)
        buf_put_u64(a->out, (uint64_t)number);
}

static void
add_colour(struct attribute *a, const char *property, uint32_t rgb)
{
    next(a);
    buf_printf(a->out, "%s:#%06x", property, rgb);
}

static void
end(struct attribute *a)
{
    if (a->is_begun)
        buf_puts(a->out, "\"");
}

static void
put_classes(struct buf *out, const struct term_style *style, const struct colours *c)
{
    static const struct {
        uint16_t attr;
        const char *name;
    } names[] = {
        { TERM_BOLD, "B" },   { TERM_DIM, "D" },    { TERM_ITALIC, "I" },
        { TERM_HIDDEN, "H" }, { TERM_STRIKE, "S" }, { TERM_OVERLINE, "O" },
    };
    struct attribute a = { .out = out, .begin = " class=\"", .between = " " };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (style->attrs & names[i].attr)
            add_class(&a, names[i].name, -1);
    enum term_underline underline = term_style_underline(style);
    if (underline)
        add_class(&a, "U", -1);
    if (underline > TERM_UNDERLINE_SINGLE)
        add_class(&a, "U", (int)underline);
    if (c->is_swapped && !c->bg)
        add_class(&a, "i", -1);
    if (!is_by_class(c) && !c->bg)
        add_class(&a, "c", -1);
    if (is_by_class(c) && c->bg)
        add_class(&a, "b", class_of(c->bg));
    if (is_by_class(c) && c->fg)
        add_class(&a, c->bg ? "g" : "f", class_of(c->fg));
    end(&a);
}

static void
put_style(struct buf *out, const struct term_style *style, const struct colours *c)
{
    struct attribute a = { .out = out, .begin = " style=\"", .between = ";" };
    if (!is_by_class(c) && c->bg) {
        uint32_t bg = rgb_of(c->bg);
        add_colour(&a, "color",
                   c->fg           ? rgb_of(c->fg)
                   : is_bright(bg) ? 0x000000
                                   : 0xffffff);
        add_colour(&a, "background", bg);
    } else if (!is_by_class(c)) {
        const uint32_t *on = c->is_swapped ? ink : ground;
        add_colour(&a, "--l", readable(rgb_of(c->fg), on[LIGHT], on[DARK]));
        add_colour(&a, "--d", readable(rgb_of(c->fg), on[DARK], on[LIGHT]));
    }
    if (style->underline_colour)
        add_colour(&a, "text-decoration-color", rgb_of(style->underline_colour));
    end(&a);
}

bool
play_html_look(struct buf *out, const struct term_style *style)
{
    enum { NOT_SEEN = TERM_PROTECTED | TERM_BLINK | TERM_RAPID_BLINK };
    struct colours c = colours_of(style);
    if (!c.fg && !c.bg && !(style->attrs & ~NOT_SEEN))
        return false;
    buf_puts(out, "<i");
    put_classes(out, style, &c);
    put_style(out, style, &c);
    buf_puts(out, ">");
    return true;
}
