/* SPDX-License-Identifier: MIT */
#include "tui/review_rows_priv.h"

#include "tui/page_priv.h"

enum {
    ABOVE_MAX = 64,  /* lines without a stamp that are passed over */
    AGAIN_MAX = 4096 /* lines that are looked at for a stamp */
};

static bool
is_filtered(const struct tui_review *r)
{
    return r->filter.n > 0;
}

static uint64_t
filtered_at(const struct tui_review *r, uint64_t i)
{
    uint64_t line;
    memcpy(&line, r->filtered.p + i * sizeof(line), sizeof(line));
    return line;
}

uint64_t
tui_rows_count(const struct tui_review *r)
{
    if (is_filtered(r))
        return r->filtered.n / sizeof(uint64_t);
    return term_book_end(&r->book) - term_book_first(&r->book);
}

uint64_t
tui_rows_line(const struct tui_review *r, uint64_t index)
{
    if (index >= tui_rows_count(r))
        return term_book_end(&r->book);
    return is_filtered(r) ? filtered_at(r, index) : term_book_first(&r->book) + index;
}

uint64_t
tui_rows_rank(const struct tui_review *r, uint64_t line)
{
    uint64_t low = 0, high = tui_rows_count(r), first = term_book_first(&r->book);
    if (!is_filtered(r))
        return line <= first ? 0 : line - first < high ? line - first : high;
    while (low < high) {
        uint64_t mid = low + (high - low) / 2;
        if (filtered_at(r, mid) < line)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

uint64_t
tui_rows_near(const struct tui_review *r, uint64_t line)
{
    uint64_t i = tui_rows_rank(r, line), count = tui_rows_count(r);
    return i < count ? i : count - 1;
}

/* -- what stands between lines -- */

static bool
has_older(const struct tui_review *r)
{
    return !r->source->is_whole && !is_filtered(r);
}

struct event_place {
    uint64_t anchor, line;
};

size_t
tui_rows_events(const struct tui_review *r)
{
    return r->event_places.n / sizeof(struct event_place);
}

uint64_t
tui_rows_event(const struct tui_review *r, size_t event)
{
    const struct event_place *places = (const void *)r->event_places.p;
    return places[event].line;
}

/* An event of before that stands where it stood: before it nothing was written later. */
static bool
is_same_place(const struct event_place *place, uint64_t anchor, struct tui_span same)
{
    return place->anchor == anchor && place->line >= same.from && place->line < same.to;
}

/* Events are in the order of their anchors, and so are their places: where two stand
 * before the same line, those between them do. */
static void
place_events(const struct tui_review *r, struct event_place *places, size_t low,
             size_t high)
{
    if (high - low < 2)
        return;
    size_t mid = low + (high - low) / 2;
    bool is_between = places[low].line < places[high].line;
    places[mid].line = is_between ? term_book_past(&r->book, places[mid].anchor)
                                  : places[low].line;
    place_events(r, places, low, mid);
    place_events(r, places, mid, high);
}

/* From low to the last one that has to be placed anew. */
static size_t
place_run(const struct tui_review *r, struct event_place *places, size_t low, size_t end)
{
    size_t last = end - 1;
    places[low].line = term_book_past(&r->book, places[low].anchor);
    places[last].line = term_book_past(&r->book, places[last].anchor);
    place_events(r, places, low, last);
    return end;
}

void
tui_rows_find_events(struct tui_review *r, struct tui_span same)
{
    const struct play_events *e = r->source->events;
    size_t had = tui_rows_events(r), n = e && r->book.term ? e->count : 0, i = 0;
    r->event_places.n = 0;
    if (!buf_grow(&r->event_places, n * sizeof(struct event_place)))
        return;
    struct event_place *places = (void *)r->event_places.p;
    while (i < n) {
        size_t end = i;
        for (; end < n; end++) {
            uint64_t anchor = play_events_at(e, end).anchor_byte;
            if (end < had && is_same_place(&places[end], anchor, same))
                break;
            places[end].anchor = anchor;
        }
        i = end > i ? place_run(r, places, i, end) : i + 1;
    }
}

/* How many events stand before this line, or further up. */
static size_t
events_until(const struct tui_review *r, uint64_t line)
{
    size_t low = 0, high = r->filter.n ? 0 : tui_rows_events(r);
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (tui_rows_event(r, mid) <= line)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Those that belong to lines that are still to be read are not shown. */
static size_t
events_hidden(const struct tui_review *r)
{
    return has_older(r) ? events_until(r, term_book_first(&r->book)) : 0;
}

static uint64_t
box_rows(const struct tui_review *r)
{
    return r->has_draft ? r->draft_rows : 0;
}

/* The current line is above it, if the page has two rows. */
static void
measure_box(struct tui_review *r)
{
    unsigned most = r->rows > 1 ? r->rows - 1 : 1;
    r->draft_rows = r->has_draft ? tui_page_draft_rows(r, r->rows) : 0;
    if (r->draft_rows > most)
        r->draft_rows = most;
}

/* Where there are no lines, it is all there is. */
static bool
is_box_above(const struct tui_review *r, uint64_t index)
{
    return r->has_draft &&
           (!tui_rows_count(r) || index > tui_rows_rank(r, r->draft_line));
}

uint64_t
tui_rows_row(const struct tui_review *r, uint64_t index)
{
    uint64_t line = index < tui_rows_count(r) ? tui_rows_line(r, index) : UINT64_MAX;
    return (has_older(r) ? 1 : 0) + index + (is_box_above(r, index) ? box_rows(r) : 0) +
           (events_until(r, line) - events_hidden(r));
}

/* The first row of what stands before a line. */
static uint64_t
group_row(const struct tui_review *r, uint64_t index)
{
    return index ? tui_rows_row(r, index - 1) + 1 : 0;
}

uint64_t
tui_rows_index(const struct tui_review *r, uint64_t row)
{
    uint64_t low = 0, high = tui_rows_count(r);
    while (low < high) {
        uint64_t mid = low + (high - low) / 2;
        if (tui_rows_row(r, mid) < row)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* -- the page -- */

uint64_t
tui_rows_top(const struct tui_review *r)
{
    if (!tui_rows_count(r))
        return 0;
    uint64_t row = tui_rows_row(r, tui_rows_near(r, r->at));
    return row > r->at_row ? row - r->at_row : 0;
}

uint64_t
tui_rows_bottom(const struct tui_review *r)
{
    uint64_t count = tui_rows_count(r), rows = tui_rows_row(r, count);
    if (!count || rows <= r->rows)
        return 0;
    uint64_t last = tui_rows_row(r, count - 1);
    return rows - r->rows < last ? rows - r->rows : last;
}

void
tui_rows_settle(struct tui_review *r, uint64_t top)
{
    measure_box(r);
    uint64_t bottom = tui_rows_bottom(r), at = 0, index;
    if (top > bottom)
        top = bottom;
    if (tui_rows_count(r)) {
        index = tui_rows_near(r, r->at);
        r->at = tui_rows_line(r, index);
        at = tui_rows_row(r, index);
        if (top > at)
            top = at;
        uint64_t need = at + box_rows(r);
        if (top + r->rows <= need)
            top = need - r->rows + 1;
    } else {
        r->at = term_book_first(&r->book);
        top = 0;
    }
    index = tui_rows_index(r, top);
    r->top = tui_rows_line(r, index);
    r->top_skip = (unsigned)(top - group_row(r, index));
    r->at_row = at > top ? (unsigned)(at - top) : 0;
    r->at_place = tui_rows_place(r, r->at);
}

void
tui_rows_put(struct tui_review *r, uint64_t index, uint64_t top)
{
    if (!tui_rows_count(r))
        return;
    r->at = tui_rows_line(r, index);
    tui_rows_settle(r, top);
}

/* What of `n` lines of one kind, from a row of the scroll on, is on the page. */
static void
lay(struct tui_line *ret, const struct tui_review *r, uint64_t top, uint64_t row,
    uint64_t n, struct tui_line line)
{
    uint64_t i = row < top ? top - row : 0;
    for (; i < n && row + i < top + r->rows; i++) {
        ret[row + i - top] = line;
        ret[row + i - top].number += i;
    }
}

/* A line and all that stands before it; behind the last line that alone. */
static void
lay_group(struct tui_review *r, uint64_t index, uint64_t top, struct tui_line *ret)
{
    uint64_t row = group_row(r, index), line = tui_rows_line(r, index);
    bool is_last = index == tui_rows_count(r),
         is_dim = r->has_draft && line > r->draft_line;
    size_t event = index ? events_until(r, tui_rows_line(r, index - 1))
                         : events_hidden(r);
    size_t events = events_until(r, is_last ? UINT64_MAX : line) - event;
    if (!index && has_older(r))
        lay(ret, r, top, row++, 1, (struct tui_line){ .kind = TUI_LINE_OLDER });
    if (is_box_above(r, index) && !(index && is_box_above(r, index - 1))) {
        lay(ret, r, top, row, box_rows(r), (struct tui_line){ .kind = TUI_LINE_DRAFT });
        row += box_rows(r);
    }
    lay(ret, r, top, row, events,
        (struct tui_line){ .kind = TUI_LINE_EVENT, .number = event, .is_dim = is_dim });
    if (!is_last)
        lay(ret, r, top, row + events, 1,
            (struct tui_line){ .kind = TUI_LINE_ROW, .number = line, .is_dim = is_dim });
}

void
tui_review_page(struct tui_review *r, struct tui_line *ret, unsigned *ret_at)
{
    uint64_t count = tui_rows_count(r);
    for (unsigned i = 0; i < r->rows; i++)
        ret[i] = (struct tui_line){ .kind = TUI_LINE_BLANK };
    tui_rows_settle(r, tui_rows_top(r));
    uint64_t index = tui_rows_rank(r, r->top);
    uint64_t top = group_row(r, index) + r->top_skip;
    for (; index <= count && group_row(r, index) < top + r->rows; index++)
        lay_group(r, index, top, ret);
    *ret_at = r->at_row;
}

/* -- lines that are numbered anew -- */

struct tui_place
tui_rows_place(const struct tui_review *r, uint64_t line)
{
    struct tui_place p = { .line = line };
    uint64_t first = term_book_first(&r->book);
    if (line < first || line >= term_book_end(&r->book))
        return p;
    for (uint64_t n = 0; n < ABOVE_MAX && n <= line - first; n++) {
        p.stamp = term_book_stamp(&r->book, line - n);
        p.below = n;
        if (p.stamp)
            return p;
    }
    p.below = 0;
    return p;
}

/* Of lines with this stamp the one that is nearest to where it should be. */
static uint64_t
nearest_stamp(const struct tui_review *r, uint64_t stamp, uint64_t near)
{
    uint64_t from = term_book_past(&r->book, stamp - 1), end = term_book_end(&r->book);
    uint64_t ret = from < end ? from : near, best = UINT64_MAX;
    for (uint64_t i = from; i < end && i - from < AGAIN_MAX; i++) {
        uint64_t far = i > near ? i - near : near - i;
        if (i > near && far >= best)
            break;
        if (term_book_stamp(&r->book, i) == stamp && far < best) {
            ret = i;
            best = far;
        }
    }
    return ret;
}

uint64_t
tui_rows_again(const struct tui_review *r, const struct tui_place *place, uint64_t near)
{
    uint64_t first = term_book_first(&r->book), end = term_book_end(&r->book);
    if (!place->stamp || first == end)
        return near;
    near = near - first >= place->below ? near - place->below : first;
    if (near < end && term_book_stamp(&r->book, near) == place->stamp)
        return near + place->below;
    uint64_t line = nearest_stamp(r, place->stamp, near) + place->below;
    return line < end ? line : end - 1;
}
