/* SPDX-License-Identifier: MIT */
#include "play/line.h"

static void
put_style(struct buf *out, const struct term_style *style)
{
    buf_puts(out, "\033[");
    term_style_to_sgr(style, out);
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

/* The line's text from *at up to `end`, then blanks from column `from` up to `to`, as far
 * as they are behind the text: there they were cut. */
static void
put_part(struct buf *out, const struct term_line *line, size_t *at, size_t end,
         unsigned from, unsigned to)
{
    if (end > *at)
        buf_append(out, line->text.p + *at, end - *at);
    *at = end;
    from = from > line->cols ? from : line->cols;
    uint8_t *blanks = to > from ? buf_grow(out, to - from) : NULL;
    if (blanks)
        memset(blanks, ' ', to - from);
}

void
play_line_ansi(struct buf *out, const struct term_line *line)
{
    size_t at = 0;
    unsigned col = 0;
    for (size_t i = 0; i < line->n_spans; i++) {
        const struct term_span *span = &line->spans[i];
        bool is_link = is_linkable(span->uri);
        put_part(out, line, &at, span->text_start, col, span->start);
        put_style(out, &span->style);
        if (is_link)
            buf_printf(out, "\033]8;;%s\033\\", span->uri);
        put_part(out, line, &at, span->text_end, span->start, span->end);
        buf_puts(out, is_link ? "\033]8;;\033\\\033[m" : "\033[m");
        col = span->end;
    }
    put_part(out, line, &at, line->text.n, col, col);
}
