/* SPDX-License-Identifier: MIT */
#include "cli/lines.h"

#include <unistd.h>

#include "base/file.h"
#include "play/line.h"

enum { FLUSH_AT = 64 << 10 };

/* -- JSON -- */

/* In the order in which they are printed. */
static const struct {
    uint16_t attr;
    const char *name;
} attr_names[] = {
    { TERM_BOLD, "bold" },           { TERM_DIM, "dim" },
    { TERM_ITALIC, "italic" },       { TERM_UNDERLINE_MASK, NULL }, /* underline_names */
    { TERM_BLINK, "blink" },         { TERM_RAPID_BLINK, "rapid_blink" },
    { TERM_INVERSE, "inverse" },     { TERM_HIDDEN, "hidden" },
    { TERM_STRIKE, "strike" },       { TERM_OVERLINE, "overline" },
    { TERM_PROTECTED, "protected" },
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
        json_none(j);
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
        json_none(j);
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

/* -- text -- */

int
cli_printer_flush(struct cli_printer *p, bool is_end)
{
    int e = p->out.failed;
    if (e >= 0 && p->out.n > (is_end ? 0 : FLUSH_AT)) {
        e = file_write_all(STDOUT_FILENO, p->out.p, p->out.n);
        buf_clear(&p->out);
    }
    return e;
}

int
cli_printer_line(void *ctx, const struct term_line *line)
{
    struct cli_printer *p = ctx;
    if (!line->text.n && !(p->is_ansi && line->n_spans)) {
        p->blank_lines++;
        return 0;
    }
    int e = 0;
    for (; p->blank_lines && e >= 0; p->blank_lines--) {
        buf_puts(&p->out, "\n");
        e = cli_printer_flush(p, false);
    }
    if (p->is_ansi)
        play_line_ansi(&p->out, line);
    else
        buf_append(&p->out, line->text.p, line->text.n);
    buf_puts(&p->out, "\n");
    return e < 0 ? e : cli_printer_flush(p, false);
}

void
cli_printer_release(struct cli_printer *p)
{
    buf_release(&p->out);
}
