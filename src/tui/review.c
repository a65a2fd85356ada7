/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>

#include "tui/review_rows_priv.h"

int
tui_review_init(struct tui_review *r, const struct tui_source *source)
{
    *r = (struct tui_review){ .source = source,
                              .cols = 80,
                              .rows = 24,
                              .follows = true,
                              .has_highlights = true,
                              .draft_snapshot_id = PLAY_NONE };
    tui_review_update(r);
    if (!source->term || r->book.term)
        return 0;
    tui_review_release(r);
    return -ENOMEM;
}

void
tui_review_release(struct tui_review *r)
{
    term_book_release(&r->book);
    term_widths_release(&r->widths);
    tui_prompt_release(&r->prompt);
    tui_draft_release(&r->draft);
    buf_release(&r->needle);
    buf_release(&r->old_needle);
    buf_release(&r->filter);
    buf_release(&r->filtered);
    buf_release(&r->draft_label);
    buf_release(&r->event_places);
}

/* -- what changes around it -- */

/* The last column is never further left than the page's right edge. */
static void
keep_left(struct tui_review *r)
{
    unsigned cols = r->source->term ? term_cols(r->source->term) : 0;
    unsigned most = cols > r->cols ? cols - r->cols : 0;
    if (r->left > most)
        r->left = most;
}

static void
stay(struct tui_review *r)
{
    keep_left(r);
    if (r->follows && !r->has_draft)
        tui_review_go_end(r);
    else
        tui_rows_settle(r, tui_rows_top(r));
}

void
tui_review_resize(struct tui_review *r, unsigned cols, unsigned rows)
{
    uint64_t top = tui_rows_top(r);
    r->cols = cols ? cols : 1;
    r->rows = rows ? rows : 1;
    tui_rows_settle(r, top);
    stay(r);
}

/* The line at a place, under the number that it has now. */
static uint64_t
again(const struct tui_review *r, const struct tui_place *place, bool is_anew)
{
    const struct term_book *b = &r->book;
    uint64_t first = term_book_first(b), end = term_book_end(b);
    if (is_anew) {
        uint64_t back = r->seen_end > place->line ? r->seen_end - place->line : 0;
        return tui_rows_again(r, place, end - first > back ? end - back : first);
    }
    if (place->line >= b->same_from || place->line < r->seen_first)
        return place->line;
    return tui_rows_again(r, place, place->line + (first - r->seen_first));
}

/* All that is known by its number is looked up, where lines have moved. */
static void
renumber(struct tui_review *r, bool is_anew)
{
    r->at = again(r, &r->at_place, is_anew);
    r->last_place.line = again(r, &r->last_place, is_anew);
    r->from_place.line = again(r, &r->from_place, is_anew);
    for (unsigned i = 0; i < TUI_REVIEW_MARKS; i++)
        if (r->marks[i].is_set)
            r->marks[i].place.line = again(r, &r->marks[i].place, is_anew);
}

/* What is known of a line is what was last written there. */
static void
note_places(struct tui_review *r)
{
    r->last_place = tui_rows_place(r, r->last_place.line);
    r->from_place = tui_rows_place(r, r->from_place.line);
    for (unsigned i = 0; i < TUI_REVIEW_MARKS; i++)
        if (r->marks[i].is_set)
            r->marks[i].place = tui_rows_place(r, r->marks[i].place.line);
    r->seen_first = term_book_first(&r->book);
    r->seen_end = term_book_end(&r->book);
}

static int
update_book(struct tui_review *r, bool *ret_is_anew)
{
    uint32_t edition = r->book.edition;
    bool was_empty = !r->book.term;
    if (!r->source->term) {
        term_book_release(&r->book);
        r->book = (struct term_book){ .edition = edition };
        *ret_is_anew = !was_empty;
        return 0;
    }
    int e = term_book_update(&r->book, r->source->term);
    *ret_is_anew = was_empty || r->book.edition != edition;
    return e;
}

/* Its text is copied: events may be read anew while the box is open. */
static void
find_snapshot(struct tui_review *r)
{
    uint64_t byte_off = r->draft_is_now ? r->source->bytes : r->draft_anchor;
    struct play_event *e = &r->draft_snapshot;
    r->draft_snapshot_id = PLAY_NONE;
    if (!r->source->events || !play_events_nearest(r->source->events, byte_off, e))
        return;
    buf_clear(&r->draft_label);
    buf_append(&r->draft_label, e->text.p, e->text.n);
    e->text = (struct view){ r->draft_label.p, r->draft_label.n };
    r->draft_snapshot_id = e->id;
}

/* An instruction about now stands behind the last line, whatever comes. Snapshots may be
 * read only when the box is open. */
static void
keep_draft(struct tui_review *r)
{
    if (!r->has_draft)
        return;
    uint64_t count = tui_rows_count(r);
    if (r->draft_is_now && count)
        r->at = tui_rows_line(r, count - 1);
    r->draft_line = r->at;
    if (r->draft_snapshot_id == PLAY_NONE)
        find_snapshot(r);
}

void
tui_review_update(struct tui_review *r)
{
    bool is_anew;
    r->has_typed_hit = false;
    if (update_book(r, &is_anew) < 0)
        snprintf(r->note, sizeof(r->note), "out of memory: lines are missing");
    renumber(r, is_anew);
    struct tui_span same = { r->book.same_from, is_anew ? 0 : r->book.same_to };
    tui_rows_find_events(r, same);
    tui_review_refilter(r, same);
    if (tui_rows_count(r))
        r->at = tui_rows_line(r, tui_rows_near(r, r->at));
    keep_draft(r);
    stay(r);
    if (r->wants_first && r->source->is_whole && !r->has_draft) {
        r->wants_first = r->follows = false;
        if (tui_rows_count(r))
            tui_rows_put(r, 0, 0);
    }
    note_places(r);
}

/* -- the draft -- */

void
tui_review_draft(struct tui_review *r, bool is_now)
{
    uint64_t count = tui_rows_count(r), top = tui_rows_top(r);
    bool is_last = !count || tui_rows_near(r, r->at) == count - 1;
    if (r->has_draft)
        return;
    if (is_now && count) {
        r->at = tui_rows_line(r, count - 1);
        top = UINT64_MAX;
    }
    r->draft_is_now = is_now || (r->follows && is_last);
    r->draft_line = r->at;
    r->draft_anchor = tui_rows_place(r, r->at).stamp;
    find_snapshot(r);
    tui_draft_clear(&r->draft);
    r->has_draft = true;
    tui_rows_settle(r, top);
}

void
tui_review_end_draft(struct tui_review *r)
{
    r->has_draft = false;
    tui_draft_clear(&r->draft);
    stay(r);
}
