/* SPDX-License-Identifier: MIT */
/* page_badge.c -- a line that tells of a snapshot or an instruction at this place. */
#include <inttypes.h>

#include "term/text.h"
#include "tui/page_priv.h"
#include "tui/status_priv.h"

enum {
    CYAN = 6,
    YELLOW = 3,
    TEXT_MIN = 12, /* columns of a text that is cut: with fewer, the number goes */
};

/* What stands behind the text; it stays when there is little room. */
static void
put_tail(const struct tui_review *r, const struct play_event *event, struct buf *out)
{
    uint64_t start = r->source->start_ts_ns;
    buf_puts(out, "\"");
    if (event->kind == PLAY_SNAPSHOT && start && event->ts_ns >= start) {
        buf_puts(out, " ");
        tui_status_time(event->ts_ns - start, false, out);
    }
    buf_puts(out, " ──");
}

/* Its columns. */
static unsigned
put_head(struct tui_review *r, const struct play_event *event, bool has_number,
         struct buf *out)
{
    bool is_snapshot = event->kind == PLAY_SNAPSHOT;
    buf_puts(out, is_snapshot ? "── ◆ " : "── ✎ ");
    if (is_snapshot && has_number)
        buf_printf(out, "snapshot %" PRIu64 " ", event->id);
    buf_puts(out, "\"");
    return term_text_cols(&r->widths, (struct view){ out->p, out->n });
}

void
tui_page_badge(struct tui_brush *b, struct tui_review *r, const struct play_event *event)
{
    bool is_snapshot = event->kind == PLAY_SNAPSHOT;
    struct term_style style = { .fg = TERM_COLOUR(TERM_COLOUR_INDEX,
                                                  is_snapshot ? CYAN : YELLOW) };
    AUTO(buf) text = { 0 };
    AUTO(buf) tail = { 0 };
    put_tail(r, event, &tail);
    unsigned behind = term_text_cols(&r->widths, (struct view){ tail.p, tail.n });
    unsigned used = put_head(r, event, true, &text) + behind;
    unsigned want = term_text_cols(&r->widths, event->text);
    if (want && b->cols < used + (want < TEXT_MIN ? want : TEXT_MIN)) {
        buf_clear(&text);
        used = put_head(r, event, false, &text) + behind;
    }
    if (b->cols > used)
        term_text_put(&r->widths, event->text, b->cols - used, &text);
    else
        buf_puts(&text, "…");
    buf_append(&text, tail.p, tail.n);
    if (!text.failed)
        tui_brush_text(b, 0, (struct view){ text.p, text.n }, &style);
}
