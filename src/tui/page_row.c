/* SPDX-License-Identifier: MIT */
/* page_row.c -- a line of the session in its colours, what was searched for in reverse.
 */
#include <errno.h>

#include "tui/page_priv.h"

struct place {
    size_t start, end; /* bytes */
};

/* The cells of a line, from left to right. */
struct walk {
    struct tui_brush *brush;
    struct view text;
    size_t at; /* byte of it */
    unsigned col;
    const struct place *hit;
    size_t n_hits;
    uint16_t more_attrs;
};

void
tui_page_lines_release(struct tui_page_lines *l)
{
    term_line_release(&l->line);
    term_line_release(&l->before);
    term_line_release(&l->behind);
    buf_release(&l->joined);
    buf_release(&l->hits);
}

/* -- hits -- */

/* With the blanks that were written at the end of a row that goes on. */
static void
join(struct buf *out, const struct term_line *line)
{
    buf_append(out, line->text.p, line->text.n);
    if (!line->is_wrapped || line->row_cols < line->cols)
        return;
    unsigned blanks = line->row_cols - line->cols;
    for (blanks -= line->has_pad && blanks; blanks; blanks--)
        buf_puts(out, " ");
}

/* A text may begin in the row before, and end in the one behind. */
static int
join_neighbours(const struct tui_review *r, uint64_t number, struct tui_page_lines *l,
                size_t *ret_start)
{
    int e = 0;
    buf_clear(&l->joined);
    if (number > term_book_first(&r->book)) {
        e = term_book_line(&r->book, number - 1, &l->before);
        if (!e && l->before.is_wrapped)
            join(&l->joined, &l->before);
    }
    *ret_start = l->joined.n;
    join(&l->joined, &l->line);
    if (!e && l->line.is_wrapped && number + 1 < term_book_end(&r->book)) {
        e = term_book_line(&r->book, number + 1, &l->behind);
        if (!e)
            join(&l->joined, &l->behind);
    }
    return e ? e : l->joined.failed;
}

static int
find_hits(const struct tui_review *r, uint64_t number, struct tui_page_lines *l)
{
    struct term_needle needle = tui_review_needle(
        (struct view){ r->needle.p, r->needle.n });
    size_t start = 0, at = 0;
    struct place hit;
    buf_clear(&l->hits);
    if (!r->has_highlights || !needle.text.n)
        return 0;
    int e = join_neighbours(r, number, l, &start);
    if (e)
        return e;
    struct view text = { l->joined.p, l->joined.n };
    size_t end = start + l->line.text.n;
    while (at < end && term_needle_next(&needle, text, at, &hit.start, &hit.end) &&
           hit.start < end && hit.end > at) {
        at = hit.end;
        if (hit.end <= start)
            continue;
        hit.start = hit.start > start ? hit.start - start : 0;
        hit.end -= start;
        buf_append(&l->hits, &hit, sizeof(hit));
    }
    return l->hits.failed;
}

static bool
is_hit(struct walk *w, size_t n)
{
    while (w->n_hits && w->hit->end <= w->at) {
        w->hit++;
        w->n_hits--;
    }
    return w->n_hits && w->hit->start < w->at + n;
}

/* -- cells -- */

/* Up to this byte and this column, in one style; blanks are at its end. */
static void
put_piece(struct walk *w, size_t end, unsigned end_col, struct term_style style,
          const char *uri)
{
    style.attrs |= w->more_attrs;
    while (w->col < end_col) {
        struct view cell = { NULL, 0 };
        unsigned width = 1;
        if (w->at < end) {
            cell.p = w->text.p + w->at;
            cell.n = tui_brush_next((struct view){ cell.p, end - w->at }, &width);
        }
        bool has_hit = cell.n && is_hit(w, cell.n);
        w->at += cell.n;
        if (width > end_col - w->col) { /* it had no room there, either */
            width = end_col - w->col;
            cell.n = 0;
        }
        tui_brush_cell(w->brush, w->col, width, cell, &style, uri, has_hit);
        w->col += width;
    }
    w->at = end;
}

/* What is on the alternate screen now looks as it does there; what once was is told from
 * what has scrolled by. */
static bool
is_on_screen(const struct tui_review *r, uint64_t number)
{
    return term_modes(r->book.term).is_alternate && number >= term_book_screen(&r->book);
}

int
tui_page_row(struct tui_brush *b, const struct tui_review *r, uint64_t number,
             struct tui_page_lines *l, uint64_t *ret_stamp)
{
    static const struct term_style plain;
    struct term_line *line = &l->line;
    int e = term_book_line(&r->book, number, line);
    if (!e)
        e = find_hits(r, number, l);
    if (e)
        return e;
    struct walk w = { .brush = b, .text = { line->text.p, line->text.n } };
    w.hit = (const void *)l->hits.p;
    w.n_hits = l->hits.n / sizeof(struct place);
    if (line->is_alternate && !is_on_screen(r, number))
        w.more_attrs = TERM_ITALIC;
    for (size_t i = 0; i < line->n_spans; i++) {
        const struct term_span *span = &line->spans[i];
        put_piece(&w, span->text_start, span->start, plain, NULL);
        put_piece(&w, span->text_end, span->end, span->style, span->uri);
    }
    put_piece(&w, line->text.n, line->cols, plain, NULL);
    *ret_stamp = line->last_write_byte;
    return 0;
}

int
tui_page_text(const struct tui_review *r, uint64_t line, struct buf *out)
{
    struct term_line found = { 0 };
    int e = term_book_line(&r->book, line, &found);
    if (!e)
        e = buf_append(out, found.text.p, found.text.n);
    term_line_release(&found);
    return e;
}
