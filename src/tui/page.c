/* SPDX-License-Identifier: MIT */
#include "tui/page_priv.h"

#include <errno.h>
#include <stdlib.h>

#include "term/text.h"

static const struct term_style FAINT = { .attrs = TERM_DIM };

struct sheet {
    const struct tui_page *page;
    struct tui_review *review;
    unsigned gutter;
    struct tui_brush brush;
    struct tui_page_lines lines;
};

static void
put_older(struct tui_brush *b, const struct tui_review *r)
{
    AUTO(buf) text = { 0 };
    buf_printf(&text, "… older lines are being read (%u %%)", r->source->permille / 10);
    if (!text.failed)
        tui_brush_text(b, 0, (struct view){ text.p, text.n }, &FAINT);
}

static void
put_event(struct sheet *s, uint64_t number, uint64_t *ret_stamp)
{
    const struct play_events *events = s->review->source->events;
    if (!events || number >= events->count)
        return;
    struct play_event event = play_events_at(events, (size_t)number);
    tui_page_badge(&s->brush, s->review, &event);
    *ret_stamp = event.anchor_byte;
}

/* Of the text alone. *ret_stamp: what its gutter tells. */
static int
put_text(struct sheet *s, const struct tui_line *line, uint64_t *ret_stamp)
{
    switch (line->kind) {
    case TUI_LINE_ROW:
        return tui_page_row(&s->brush, s->review, line->number, &s->lines, ret_stamp);
    case TUI_LINE_EVENT:
        put_event(s, line->number, ret_stamp);
        break;
    case TUI_LINE_DRAFT:
        tui_page_draft(&s->brush, s->review, line->number);
        break;
    case TUI_LINE_OLDER:
        put_older(&s->brush, s->review);
        break;
    case TUI_LINE_BLANK:
        break;
    }
    return 0;
}

static void
put_sides(struct sheet *s, unsigned row)
{
    const struct tui_page *p = s->page;
    unsigned right = p->at_col + s->gutter + p->cols;
    if (!p->has_sides || !p->at_col)
        return;
    tui_brush_row(&s->brush, row, p->at_col - 1, 1, 0);
    tui_brush_fill(&s->brush, 0, 1, "│", &FAINT);
    tui_brush_row(&s->brush, row, right, 1, 0);
    tui_brush_fill(&s->brush, 0, 1, "│", &FAINT);
}

static int
put_line(struct sheet *s, unsigned y, const struct tui_line *line)
{
    const struct tui_page *p = s->page;
    struct tui_brush *b = &s->brush;
    unsigned row = p->at_row + y;
    uint64_t stamp = 0;
    b->is_dim = line->is_dim;
    tui_brush_row(b, row, p->at_col + s->gutter, p->cols,
                  line->kind == TUI_LINE_ROW ? s->review->left : 0);
    int e = put_text(s, line, &stamp);
    b->is_dim = false;
    if (s->gutter) {
        tui_brush_row(b, row, p->at_col, s->gutter, 0);
        tui_page_put_gutter(b, s->review, stamp);
    }
    put_sides(s, row);
    return e;
}

/* In the draft, where that is on the page; else on the current line. */
static void
put_cursor(struct sheet *s, const struct tui_line *line, unsigned at)
{
    struct tui_review *r = s->review;
    unsigned col = 0, number = 0;
    if (r->has_draft)
        tui_page_draft_cursor(r, &number, &col);
    for (unsigned y = 0; r->has_draft && y < r->rows; y++)
        if (line[y].kind == TUI_LINE_DRAFT && line[y].number == number)
            at = y;
    if (at >= r->rows)
        at = r->rows - 1;
    if (line[at].kind != TUI_LINE_DRAFT)
        col = 0;
    buf_printf(s->brush.out, "\033[%u;%uH", s->page->at_row + at + 1,
               s->page->at_col + s->gutter + col + 1);
}

int
tui_page_put(const struct tui_page *p, struct tui_review *r, struct buf *out)
{
    struct sheet s = { .page = p, .review = r, .gutter = tui_page_gutter(r) };
    s.brush.out = out;
    s.brush.has_colours = p->has_colours;
    unsigned at = 0;
    struct tui_line *line = calloc(r->rows, sizeof(line[0]));
    if (!line)
        return -ENOMEM;
    tui_review_page(r, line, &at);
    int e = 0;
    for (unsigned y = 0; !e && y < r->rows; y++)
        e = put_line(&s, y, &line[y]);
    tui_brush_end(&s.brush);
    put_cursor(&s, line, at);
    tui_page_lines_release(&s.lines);
    free(line);
    return e ? e : out->failed;
}
