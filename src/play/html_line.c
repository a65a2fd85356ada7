/* SPDX-License-Identifier: MIT */
#include <strings.h>

#include "play/html_priv.h"

/* A line while it is put. */
struct put {
    struct buf *out;
    struct view text;
    size_t at;    /* of the text: so far it is out */
    unsigned col; /* columns of the line that are out, blanks behind the text included */
    const char *uri; /* of the link that is open; NULL: none */
};

/* Where only the web is reached. */
static bool
is_web(const char *uri)
{
    size_t n = !uri                               ? 0
               : !strncasecmp(uri, "http://", 7)  ? 7
               : !strncasecmp(uri, "https://", 8) ? 8
                                                  : 0;
    return n && uri[n];
}

static void
set_link(struct put *p, const char *uri)
{
    if (!is_web(uri))
        uri = NULL;
    if (p->uri == uri || (p->uri && uri && !strcmp(p->uri, uri)))
        return;
    if (p->uri)
        buf_puts(p->out, "</a>");
    if (uri) {
        buf_puts(p->out, "<a href=\"");
        play_html_text(p->out, (struct view){ (const uint8_t *)uri, strlen(uri) });
        buf_puts(p->out, "\">");
    }
    p->uri = uri;
}

/* Text up to `end`, if that is farther. */
static void
put_text(struct put *p, size_t end)
{
    if (end > p->text.n)
        end = p->text.n;
    if (end <= p->at)
        return;
    play_html_cells(p->out, (struct view){ p->text.p + p->at, end - p->at });
    p->at = end;
}

/* Columns behind the text up to `col`. */
static void
put_blanks(struct put *p, unsigned col)
{
    if (col <= p->col || p->at < p->text.n)
        return;
    play_html_blanks(p->out, col - p->col);
    p->col = col;
}

static void
put_span(struct put *p, const struct term_span *span)
{
    bool has_ground = play_html_has_ground(&span->style);
    if (span->text_start > p->at)
        set_link(p, NULL);
    put_text(p, span->text_start);
    if (has_ground)
        put_blanks(p, span->start);
    if (span->text_end <= p->at && !has_ground)
        return;
    set_link(p, span->uri);
    bool has_look = play_html_look(p->out, &span->style);
    put_text(p, span->text_end);
    if (has_ground)
        put_blanks(p, span->end);
    if (has_look)
        buf_puts(p->out, "</i>");
}

void
play_html_line(struct buf *out, struct view text, const struct term_line *line)
{
    struct put p = { .out = out, .text = text, .col = line->cols };
    for (size_t i = 0; i < line->n_spans; i++)
        put_span(&p, &line->spans[i]);
    set_link(&p, NULL);
    put_text(&p, text.n);
}
