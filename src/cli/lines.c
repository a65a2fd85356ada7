/* SPDX-License-Identifier: MIT */
#include "cli/lines.h"

/* -- JSON -- */

/* In the order in which they are printed. */
static const struct {
    uint16_t attr;
    uint8_t sgr; /* 0: SGR has none */
    const char *name;
} attr_names[] = {
    { TERM_BOLD, 1, "bold" },
    { TERM_DIM, 2, "dim" },
    { TERM_ITALIC, 3, "italic" },
    { TERM_UNDERLINE_MASK, 4, NULL }, /* underline_names */
    { TERM_BLINK, 5, "blink" },
    { TERM_RAPID_BLINK, 6, "rapid_blink" },
    { TERM_INVERSE, 7, "inverse" },
    { TERM_HIDDEN, 8, "hidden" },
    { TERM_STRIKE, 9, "strike" },
    { TERM_OVERLINE, 53, "overline" },
    { TERM_PROTECTED, 0, "protected" },
};

enum { ATTR_NAMES = sizeof(attr_names) / sizeof(attr_names[0]) };

static const char *const underline_names[8] = {
    [TERM_UNDERLINE_SINGLE] = "underline",
    [TERM_UNDERLINE_DOUBLE] = "double_underline",
    [TERM_UNDERLINE_CURLY] = "curly_underline",
    [TERM_UNDERLINE_DOTTED] = "dotted_underline",
    [TERM_UNDERLINE_DASHED] = "dashed_underline",
};

static void
json_colour(struct json *j, uint32_t colour)
{
    char text[8];
    switch (term_colour_kind(colour)) {
    case TERM_COLOUR_DEFAULT:
        json_null(j);
        break;
    case TERM_COLOUR_INDEX:
        json_u64(j, term_colour_value(colour));
        break;
    case TERM_COLOUR_RGB:
        snprintf(text, sizeof(text), "#%06x", term_colour_value(colour));
        json_str(j, text);
        break;
    }
}

static void
json_attrs(struct json *j, const struct term_style *style)
{
    json_open(j, '[');
    for (size_t i = 0; i < ATTR_NAMES; i++) {
        const char *name = attr_names[i].name;
        if (!name)
            name = underline_names[term_style_underline(style)];
        if (style->attrs & attr_names[i].attr && name)
            json_str(j, name);
    }
    json_close(j, ']');
}

static void
json_span(struct json *j, const struct term_span *span)
{
    json_open(j, '{');
    json_key(j, "start"), json_u64(j, span->start);
    json_key(j, "end"), json_u64(j, span->end);
    json_key(j, "fg"), json_colour(j, span->style.fg);
    json_key(j, "bg"), json_colour(j, span->style.bg);
    json_key(j, "attrs"), json_attrs(j, &span->style);
    json_key(j, "link");
    if (span->uri)
        json_str(j, span->uri);
    else
        json_null(j);
    if (span->style.underline_colour)
        json_key(j, "underline_color"), json_colour(j, span->style.underline_colour);
    json_close(j, '}');
}

void
cli_line_json(struct json *j, const struct term_line *line)
{
    json_open(j, '{');
    json_key(j, "text"), json_bytes(j, (struct view){ line->text.p, line->text.n });
    json_key(j, "wrapped"), json_bool(j, line->is_wrapped);
    json_key(j, "last_write_byte"), json_u64(j, line->last_write_byte);
    json_key(j, "spans"), json_open(j, '[');
    for (size_t i = 0; i < line->n_spans; i++)
        json_span(j, &line->spans[i]);
    json_close(j, ']');
    json_close(j, '}');
}

/* -- for a terminal -- */

/* base is 30 (foreground), 40 (background) or 50 (underline, which has no short forms).
 */
static void
put_colour(struct buf *out, unsigned base, uint32_t colour)
{
    uint32_t v = term_colour_value(colour);
    switch (term_colour_kind(colour)) {
    case TERM_COLOUR_DEFAULT:
        break;
    case TERM_COLOUR_INDEX:
        if (v < 8 && base < 50)
            buf_printf(out, ";%u", base + v);
        else if (v < 16 && base < 50)
            buf_printf(out, ";%u", base + 60 + v - 8);
        else
            buf_printf(out, ";%u;5;%u", base + 8, v);
        break;
    case TERM_COLOUR_RGB:
        buf_printf(out, ";%u;2;%u;%u;%u", base + 8, v >> 16, v >> 8 & 255, v & 255);
        break;
    }
}

static void
put_style(struct buf *out, const struct term_style *style)
{
    enum term_underline underline = term_style_underline(style);
    buf_puts(out, "\033[0");
    for (size_t i = 0; i < ATTR_NAMES; i++)
        if (style->attrs & attr_names[i].attr && attr_names[i].sgr)
            buf_printf(out, ";%u", attr_names[i].sgr);
    if (underline > TERM_UNDERLINE_SINGLE)
        buf_printf(out, ";4:%u", (unsigned)underline);
    put_colour(out, 30, style->fg);
    put_colour(out, 40, style->bg);
    put_colour(out, 50, style->underline_colour);
    buf_puts(out, "m");
}

/* OSC 8 takes printable ASCII only. */
static bool
is_linkable(const char *uri)
{
    for (; uri && *uri; uri++)
        if (*uri < 0x21 || *uri > 0x7e)
            return false;
    return uri;
}

/* Where the walk along a line's columns has come to. */
struct walk {
    const struct term *ruler; /* NULL: each byte is a column */
    struct view text;
    size_t at;
    unsigned col;
};

/* Bytes of the cell in column col, and how many columns it takes. */
static size_t
cell_size(const struct walk *w, unsigned *ret_width)
{
    struct term_cell cell;
    *ret_width = 1;
    if (!w->ruler)
        return 1;
    term_cell_at(w->ruler, 0, w->col, &cell);
    *ret_width = cell.width ? cell.width : 1;
    return cell.text.n ? cell.text.n : 1;
}

/* Appends the text up to column end; behind the text there are blanks. */
static void
put_columns(struct buf *out, struct walk *w, unsigned end)
{
    while (w->col < end) {
        unsigned width = 1;
        size_t left = w->text.n - w->at, n = left ? cell_size(w, &width) : 0;
        if (n)
            buf_append(out, w->text.p + w->at, n < left ? n : left);
        else
            buf_puts(out, " ");
        w->at += n < left ? n : left;
        w->col += width;
    }
}

static bool
is_ascii(struct view text)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] >= 0x80)
            return false;
    return true;
}

/* The text is written to a terminal of its own, whose cells then tell its columns. */
static bool
measure(struct cli_ansi *a, const struct term_line *line)
{
    struct term_options opt = term_options_default();
    opt.rows = 1;
    opt.cols = line->cols;
    opt.scrollback_rows = opt.alternate_rows = 0;
    if (!a->ruler)
        a->ruler = term_new(&opt);
    if (!a->ruler)
        return false;
    if (term_cols(a->ruler) < line->cols)
        term_resize(a->ruler, line->cols, 1);
    term_feed(a->ruler, "\033[?7l\r\033[2K", 10, 0);
    term_feed(a->ruler, line->text.p, line->text.n, 0);
    return true;
}

void
cli_ansi_release(struct cli_ansi *a)
{
    if (a->ruler)
        term_free(a->ruler);
    a->ruler = NULL;
}

void
cli_ansi_line(struct cli_ansi *a, struct buf *out, const struct term_line *line)
{
    struct walk w = { .text = { line->text.p, line->text.n } };
    bool has_looks = line->n_spans;
    if (has_looks && !is_ascii(w.text)) {
        has_looks = measure(a, line);
        w.ruler = a->ruler;
    }
    for (size_t i = 0; has_looks && i < line->n_spans; i++) {
        const struct term_span *span = &line->spans[i];
        bool is_link = is_linkable(span->uri);
        put_columns(out, &w, span->start);
        put_style(out, &span->style);
        if (is_link)
            buf_printf(out, "\033]8;;%s\033\\", span->uri);
        put_columns(out, &w, span->end);
        buf_puts(out, is_link ? "\033]8;;\033\\\033[m" : "\033[m");
    }
    if (w.at < w.text.n)
        buf_append(out, w.text.p + w.at, w.text.n - w.at);
}
