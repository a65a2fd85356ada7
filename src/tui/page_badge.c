/* SPDX-License-Identifier: MIT */
/* page_badge.c -- a line that tells of a snapshot or an instruction at this place. */
#include <inttypes.h>

#include "term/text.h"
#include "tui/page_priv.h"
#include "tui/status_priv.h"

enum { CYAN = 6, YELLOW = 3 };

static bool
has_time(const struct tui_review *r, const struct play_event *event)
{
    return r->source->start_ts_ns && event->ts_ns >= r->source->start_ts_ns;
}

/* What stands behind a text; it stays when there is little room, but for a number that
 * tells people nothing. */
static void
put_tail(const struct tui_review *r, const struct play_event *event, bool has_id,
         struct buf *out)
{
    bool is_snapshot = event->kind == PLAY_SNAPSHOT;
    buf_puts(out, "\"");
    if (is_snapshot && has_time(r, event)) {
        buf_puts(out, "  ");
        tui_status_time(event->ts_ns - r->source->start_ts_ns, false, out);
    }
    if (is_snapshot && has_id)
        buf_printf(out, "  snapshot %" PRIu64, event->id);
    if (!is_snapshot && event->is_delivered)
        buf_puts(out, " (typed)");
    buf_puts(out, " ──");
}

static unsigned
cols_of(struct tui_review *r, const struct buf *text)
{
    return term_text_cols(&r->widths, (struct view){ text->p, text->n });
}

/* The text in its quotes, with what stands around it, on so many columns. */
static void
put_text(struct tui_review *r, const struct play_event *event, unsigned cols,
         struct buf *out)
{
    AUTO(buf) tail = { 0 };
    unsigned text = term_text_cols(&r->widths, event->text);
    buf_puts(out, event->kind == PLAY_SNAPSHOT ? "── ◆ \"" : "── ✎ \"");
    unsigned used = cols_of(r, out);
    put_tail(r, event, true, &tail);
    if (used + text + cols_of(r, &tail) > cols) {
        buf_clear(&tail);
        put_tail(r, event, false, &tail);
    }
    used += cols_of(r, &tail);
    if (cols > used)
        term_text_put(&r->widths, event->text, cols - used, out);
    else
        buf_puts(out, "…");
    buf_append(out, tail.p, tail.n);
}

/* A snapshot that nobody has named. */
static void
put_number(const struct tui_review *r, const struct play_event *event, struct buf *out)
{
    buf_printf(out, "── ◆ snapshot %" PRIu64, event->id);
    if (has_time(r, event)) {
        buf_puts(out, " ");
        tui_status_time(event->ts_ns - r->source->start_ts_ns, false, out);
    }
    buf_puts(out, " ──");
}

void
tui_page_badge(struct tui_brush *b, struct tui_review *r, const struct play_event *event)
{
    bool is_snapshot = event->kind == PLAY_SNAPSHOT;
    struct term_style style = { .fg = TERM_COLOUR(TERM_COLOUR_INDEX,
                                                  is_snapshot ? CYAN : YELLOW) };
    AUTO(buf) text = { 0 };
    if (is_snapshot && !event->text.n)
        put_number(r, event, &text);
    else
        put_text(r, event, b->cols, &text);
    if (!text.failed)
        tui_brush_text(b, 0, (struct view){ text.p, text.n }, &style);
}
