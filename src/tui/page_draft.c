/* SPDX-License-Identifier: MIT */
/*
 * page_draft.c -- the box in which an instruction is written.
 *
 * At least one line of the page stays above it. On a page of few rows it has no frame,
 * and on one of few columns no sides.
 */
#include <inttypes.h>

#include "term/text.h"
#include "tui/page_priv.h"

enum {
    FRAME_ROWS = 4, /* a page with fewer has no room for a frame */
    SIDE_COLS = 8,  /* … for its sides, with blanks inside of them */
    WORD_COLS = 40, /* … for all words of its title */
};

#define HINTS "Ctrl-S submit  Esc cancel  Ctrl-E editor"

static const struct term_style PLAIN, BOLD = { .attrs = TERM_BOLD };

static bool
has_frame(unsigned rows)
{
    return rows >= FRAME_ROWS;
}

static bool
has_sides(unsigned cols)
{
    return cols >= SIDE_COLS;
}

unsigned
tui_page_draft_rows(struct tui_review *r, unsigned rows)
{
    struct tui_draft *d = &r->draft;
    size_t lines, line;
    unsigned col, frame = has_frame(rows) ? 2 : 0;
    unsigned above = rows / 3 ? rows / 3 : 1;
    unsigned most = rows > above + frame ? rows - above - frame : 1;
    d->cols = has_sides(r->cols) ? r->cols - 4 : r->cols;
    lines = tui_draft_lines(d, &r->widths);
    tui_draft_cursor(d, &r->widths, &line, &col);
    lines = lines ? lines : 1;
    most = lines < most ? (unsigned)lines : most;
    if (d->top + most > lines)
        d->top = lines - most;
    if (line < d->top)
        d->top = line;
    if (line >= d->top + most)
        d->top = line - most + 1;
    return most + frame;
}

/* -- its frame -- */

static void
put_title(struct tui_review *r, struct buf *out)
{
    const struct play_event *snapshot = &r->draft_snapshot;
    if (r->draft_is_now)
        buf_puts(out, "instruction for now");
    else
        buf_printf(out, "%safter line %" PRIu64,
                   r->cols < WORD_COLS ? "" : "instruction ", r->draft_line + 1);
    if (r->draft_snapshot_id == PLAY_NONE) {
        buf_puts(out, ", no snapshot yet");
        return;
    }
    if (snapshot->text.n) {
        buf_puts(out, ", at \"");
        term_text_put(&r->widths, snapshot->text, UINT16_MAX, out);
        buf_puts(out, "\"");
    }
    buf_printf(out, ", %ssnapshot %" PRIu64, snapshot->text.n ? "" : "at ",
               r->draft_snapshot_id);
}

static void
put_hints(const struct tui_review *r, struct buf *out)
{
    if (r->draft.was_escape)
        buf_puts(out, "Esc again gives it up");
    else if (r->draft.is_full)
        buf_puts(out, "there is no room for more");
    else
        buf_puts(out, HINTS);
}

/* A line with a text in it, if there is room. */
static void
put_border(struct tui_brush *b, struct tui_review *r, const char *left, const char *right,
           const struct buf *text)
{
    AUTO(buf) cut = { 0 };
    unsigned from = has_sides(b->cols) ? 1 : 0, to = b->cols - from;
    tui_brush_fill(b, from, to, "─", &PLAIN);
    if (from) {
        tui_brush_fill(b, 0, 1, left, &PLAIN);
        tui_brush_fill(b, to, to + 1, right, &PLAIN);
    }
    if (b->cols < SIDE_COLS)
        return;
    buf_puts(&cut, " ");
    term_text_put(&r->widths, (struct view){ text->p, text->n }, b->cols - 6, &cut);
    buf_puts(&cut, " ");
    if (!cut.failed)
        tui_brush_text(b, 2, (struct view){ cut.p, cut.n }, &BOLD);
}

/* -- its text -- */

static void
put_line(struct tui_brush *b, struct tui_review *r, size_t line)
{
    AUTO(buf) text = { 0 };
    AUTO(buf) clean = { 0 };
    bool is_boxed = has_sides(b->cols);
    unsigned right = b->cols - 1;
    if (line < tui_draft_lines(&r->draft, &r->widths))
        tui_draft_put(&r->draft, line, &r->widths, &text);
    term_text_put(&r->widths, (struct view){ text.p, text.n }, UINT16_MAX, &clean);
    if (!clean.failed)
        tui_brush_text(b, is_boxed ? 2 : 0, (struct view){ clean.p, clean.n }, &PLAIN);
    if (!is_boxed)
        return;
    tui_brush_fill(b, 0, 1, "│", &PLAIN);
    tui_brush_fill(b, right - 1, right, " ", &PLAIN);
    tui_brush_fill(b, right, right + 1, "│", &PLAIN);
}

void
tui_page_draft(struct tui_brush *b, struct tui_review *r, uint64_t number)
{
    unsigned rows = tui_page_draft_rows(r, r->rows);
    bool is_framed = has_frame(r->rows);
    AUTO(buf) text = { 0 };
    if (is_framed && !number) {
        put_title(r, &text);
        put_border(b, r, "┌", "┐", &text);
    } else if (is_framed && number + 1 >= rows) {
        put_hints(r, &text);
        put_border(b, r, "└", "┘", &text);
    } else {
        put_line(b, r, r->draft.top + (size_t)number - is_framed);
    }
}

void
tui_page_draft_cursor(struct tui_review *r, unsigned *ret_number, unsigned *ret_col)
{
    size_t line;
    unsigned col, last = r->cols - 1;
    tui_page_draft_rows(r, r->rows);
    tui_draft_cursor(&r->draft, &r->widths, &line, &col);
    col += has_sides(r->cols) ? 2 : 0;
    *ret_number = (unsigned)(line - r->draft.top) + has_frame(r->rows);
    *ret_col = col < last ? col : last;
}
