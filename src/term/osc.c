/* SPDX-License-Identifier: MIT */
/* osc.c -- titles, colours, links and marks. */
#include <stdio.h>

#include "base/num.h"
#include "base/utf8.h"
#include "term/handlers_priv.h"

enum { LINK_MAX = 4096, COLOURS = TERM_COLOUR_CURSOR + 1 };
#define COLOUR_IS_SET (1U << 24)

/* Cuts off what stands before the next `c`, or all. False: there is nothing. */
static bool
next_field(struct view *in, char c, struct view *ret)
{
    if (!in->p)
        return false;
    const uint8_t *end = memchr(in->p, c, in->n);
    size_t n = end ? (size_t)(end - in->p) : in->n;
    *ret = (struct view){ in->p, n };
    *in = end ? (struct view){ end + 1, in->n - n - 1 } : (struct view){ 0 };
    return true;
}

/* -- titles -- */

static void
set_title(char dst[TERM_TITLE_MAX], struct view text)
{
    dst[term_clean_copy(dst, TERM_TITLE_MAX - 1, text)] = 0;
}

void
term_set_title(struct term *t, struct view text, bool is_title, bool is_icon)
{
    if (is_title)
        set_title(t->titles.title, text);
    if (is_icon)
        set_title(t->titles.icon, text);
}

void
term_titles_release(struct term_titles *titles)
{
    for (unsigned i = 0; i < titles->n; i++) {
        free(titles->stack[i][0]);
        free(titles->stack[i][1]);
    }
    *titles = (struct term_titles){ 0 };
}

/* which: 0 both, 1 the icon's, 2 the window's. The stack is one: what was not asked for
 * is a NULL on it. */
void
term_push_title(struct term *t, unsigned which)
{
    struct term_titles *s = &t->titles;
    if (which > 2)
        return;
    if (s->n == TERM_TITLE_STACK) {
        free(s->stack[0][0]);
        free(s->stack[0][1]);
        memmove(s->stack, s->stack + 1, sizeof(s->stack) - sizeof(s->stack[0]));
        s->n--;
    }
    s->stack[s->n][0] = which != 1 ? strdup(s->title) : NULL;
    s->stack[s->n][1] = which != 2 ? strdup(s->icon) : NULL;
    if ((which != 1 && !s->stack[s->n][0]) || (which != 2 && !s->stack[s->n][1]))
        term_no_memory(t);
    s->n++;
}

void
term_pop_title(struct term *t, unsigned which)
{
    struct term_titles *s = &t->titles;
    if (!s->n || which > 2)
        return;
    char **top = s->stack[--s->n];
    if (top[0] && which != 1)
        snprintf(s->title, sizeof(s->title), "%s", top[0]);
    if (top[1] && which != 2)
        snprintf(s->icon, sizeof(s->icon), "%s", top[1]);
    free(top[0]);
    free(top[1]);
}

static void
osc_both_titles(struct term *t, unsigned number, struct view rest, uint8_t by)
{
    (void)by;
    term_set_title(t, rest, number != 1, number != 2);
}

/* -- colours -- */

static int
hex_digit(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* 1 to 4 hexadecimal digits, as a part of the whole, to 8 bits. */
static bool
hex_part(struct view v, uint32_t *ret)
{
    uint32_t value = 0;
    if (!v.n || v.n > 4)
        return false;
    for (size_t i = 0; i < v.n; i++) {
        int digit = hex_digit(v.p[i]);
        if (digit < 0)
            return false;
        value = value << 4 | (uint32_t)digit;
    }
    uint32_t most = (1U << (4 * v.n)) - 1;
    *ret = (value * 255 + most / 2) / most;
    return true;
}

/* "rgb:R/G/B", or "#" and 3, 6, 9 or 12 digits, of which the first of each part count. */
static bool
parse_colour(struct view spec, uint32_t *ret)
{
    struct view part[3];
    if (spec.n > 4 && !memcmp(spec.p, "rgb:", 4)) {
        struct view rest = { spec.p + 4, spec.n - 4 };
        for (unsigned i = 0; i < 3; i++)
            if (!next_field(&rest, '/', &part[i]))
                return false;
        if (rest.p)
            return false;
    } else if (spec.n > 1 && spec.p[0] == '#' && (spec.n - 1) % 3 == 0) {
        size_t n = (spec.n - 1) / 3;
        for (unsigned i = 0; i < 3; i++)
            part[i] = (struct view){ spec.p + 1 + i * n, n };
    } else {
        return false;
    }
    uint32_t r, g, b;
    if (!hex_part(part[0], &r) || !hex_part(part[1], &g) || !hex_part(part[2], &b))
        return false;
    *ret = r << 16 | g << 8 | b;
    return true;
}

uint32_t
term_default_colour(unsigned which)
{
    static const uint32_t first[16] = {
        0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5,
        0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff,
    };
    static const uint32_t step[6] = { 0, 95, 135, 175, 215, 255 };
    if (which < 16)
        return first[which];
    if (which < 232) {
        unsigned i = which - 16;
        return step[i / 36] << 16 | step[i / 6 % 6] << 8 | step[i % 6];
    }
    if (which < 256)
        return (8 + 10 * (which - 232)) * 0x010101U;
    return which == TERM_COLOUR_BG ? 0x000000 : 0xe5e5e5;
}

bool
term_colour(const struct term *t, unsigned which, uint32_t *ret_rgb)
{
    if (!t->colours || which >= COLOURS || !(t->colours[which] & COLOUR_IS_SET))
        return false;
    *ret_rgb = t->colours[which] & 0xffffff;
    return true;
}

static void
set_colour(struct term *t, unsigned which, uint32_t rgb)
{
    if (!t->colours)
        t->colours = calloc(COLOURS, sizeof(t->colours[0]));
    if (!t->colours) {
        term_no_memory(t);
        return;
    }
    t->colours[which] = rgb | COLOUR_IS_SET;
    term_damage_all(t);
}

static void
reset_colour(struct term *t, unsigned which)
{
    if (t->colours && which < COLOURS)
        t->colours[which] = 0;
    term_damage_all(t);
}

static void
set_or_tell(struct term *t, unsigned which, const char *prefix, struct view spec,
            uint8_t by)
{
    uint32_t rgb;
    if (spec.n != 1 || spec.p[0] != '?') {
        if (parse_colour(spec, &rgb))
            set_colour(t, which, rgb);
        return;
    }
    if (!term_colour(t, which, &rgb))
        rgb = term_default_colour(which);
    uint32_t r = rgb >> 16, g = rgb >> 8 & 0xff, b = rgb & 0xff;
    term_reply(t, "\x1b]%s;rgb:%02x%02x/%02x%02x/%02x%02x%s", prefix, r, r, g, g, b, b,
               by == '\\' ? "\x1b\\" : "\a");
}

static void
osc_palette(struct term *t, unsigned number, struct view rest, uint8_t by)
{
    (void)number;
    struct view index, spec;
    while (next_field(&rest, ';', &index) && next_field(&rest, ';', &spec)) {
        uint64_t which;
        if (num_parse(index, 255, &which) < 0)
            continue;
        char prefix[16];
        snprintf(prefix, sizeof(prefix), "4;%u", (unsigned)which);
        set_or_tell(t, (unsigned)which, prefix, spec, by);
    }
}

static void
osc_reset_palette(struct term *t, unsigned number, struct view rest, uint8_t by)
{
    (void)number;
    (void)by;
    struct view index;
    uint64_t which;
    if (!rest.n) {
        for (unsigned i = 0; i < 256; i++)
            reset_colour(t, i);
        return;
    }
    while (next_field(&rest, ';', &index))
        if (!num_parse(index, 255, &which))
            reset_colour(t, (unsigned)which);
}

/* 10, 11, 12, each further colour for the next of them. */
static void
osc_dynamic(struct term *t, unsigned number, struct view rest, uint8_t by)
{
    struct view spec;
    for (; number <= 12 && next_field(&rest, ';', &spec); number++) {
        char prefix[16];
        snprintf(prefix, sizeof(prefix), "%u", number);
        set_or_tell(t, TERM_COLOUR_FG + number - 10, prefix, spec, by);
    }
}

static void
osc_reset_dynamic(struct term *t, unsigned number, struct view rest, uint8_t by)
{
    (void)rest;
    (void)by;
    reset_colour(t, TERM_COLOUR_FG + number - 110);
}

/* -- links -- */

/* A URI has none but printable ASCII without blanks; what else is text is written as
 * such. False: it is no text. */
static bool
clean_uri(struct buf *out, struct view text)
{
    for (size_t i = 0; i < text.n;) {
        uint32_t rune;
        int len = utf8_next(text.p + i, text.n - i, &rune);
        if (!len || rune < 0x20 || (rune >= 0x7f && rune < 0xa0))
            return false;
        for (int k = 0; k < len; k++)
            buf_printf(out, len > 1 || rune == ' ' ? "%%%02X" : "%c",
                       text.p[i + (size_t)k]);
        i += (size_t)len;
    }
    return !out->failed;
}

static uint16_t
link_id(struct term *t, struct view uri)
{
    uint16_t id = term_link_id(&t->tables, uri);
    if (!id && uri.n) {
        term_collect(t); /* the table may be full of old ones */
        id = term_link_id(&t->tables, uri);
    }
    if (!id && uri.n)
        term_no_memory(t);
    return id;
}

/* "PARAMS;URI"; an empty URI ends the link. */
static void
osc_link(struct term *t, unsigned number, struct view rest, uint8_t by)
{
    (void)number;
    (void)by;
    struct view params;
    if (!next_field(&rest, ';', &params) || !rest.p)
        return;
    AUTO(buf) uri = { .ceiling = LINK_MAX };
    bool is_good = clean_uri(&uri, rest);
    t->at.pen.link = is_good ? link_id(t, (struct view){ uri.p, uri.n }) : 0;
    t->is_pen_known = false;
}

/* -- marks -- */

static void
osc_mark(struct term *t, unsigned number, struct view rest, uint8_t by)
{
    (void)by;
    struct term_mark mark = {
        .kind = number == 52    ? TERM_MARK_CLIPBOARD
                : number == 133 ? TERM_MARK_PROMPT
                                : TERM_MARK_VSCODE,
        .byte_off = t->byte_off,
        .line = t->scrollback.end + t->at.row,
        .text = rest,
    };
    term_add_mark(t, &mark);
}

/* -- the table -- */

static const struct osc {
    unsigned number;
    void (*run)(struct term *t, unsigned number, struct view rest, uint8_t by);
    const char *what;
} oscs[] = {
    { 0, osc_both_titles, "title and icon title" },
    { 1, osc_both_titles, "icon title" },
    { 2, osc_both_titles, "title" },
    { 4, osc_palette, "palette colours, set or asked for" },
    { 8, osc_link, "link: `PARAMS;URI`, an empty URI ends it" },
    { 10, osc_dynamic, "default foreground, set or asked for" },
    { 11, osc_dynamic, "default background, set or asked for" },
    { 12, osc_dynamic, "cursor colour, set or asked for" },
    { 52, osc_mark, "clipboard: recorded, never acted on" },
    { 104, osc_reset_palette, "palette colours as they were" },
    { 110, osc_reset_dynamic, "default foreground as it was" },
    { 111, osc_reset_dynamic, "default background as it was" },
    { 112, osc_reset_dynamic, "cursor colour as it was" },
    { 133, osc_mark, "prompt marks: recorded" },
    { 633, osc_mark, "shell integration marks: recorded" },
};

enum { N_OSCS = sizeof(oscs) / sizeof(oscs[0]) };

void
term_osc(struct term *t, const struct term_op *op)
{
    struct view rest = op->string, field;
    uint64_t number;
    if (!next_field(&rest, ';', &field) || num_parse(field, 9999, &number) < 0)
        return;
    for (unsigned i = 0; i < N_OSCS; i++)
        if (oscs[i].number == number)
            oscs[i].run(t, oscs[i].number, rest, op->final);
}

const char *
term_osc_name(unsigned i, unsigned *ret_number)
{
    if (i >= N_OSCS)
        return NULL;
    *ret_number = oscs[i].number;
    return oscs[i].what;
}
