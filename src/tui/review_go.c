/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "play/moment.h"
#include "tui/review_rows_priv.h"

#define SECOND_NS 1000000000ULL
#define MINUTE_NS (60 * SECOND_NS)

static void
note(struct tui_review *r, const char *text)
{
    snprintf(r->note, sizeof(r->note), "%.*s", TUI_REVIEW_NOTE - 1, text);
}

/* -- scrolling -- */

static uint64_t
moved(uint64_t from, bool is_back, uint64_t n, uint64_t max)
{
    if (is_back)
        return from > n ? from - n : 0;
    return from < max && max - from > n ? from + n : max;
}

void
tui_review_by_lines(struct tui_review *r, bool is_back, uint64_t n)
{
    if (!tui_rows_count(r))
        return;
    uint64_t from = tui_rows_near(r, r->at), top = tui_rows_top(r);
    tui_rows_put(r, moved(from, is_back, n, tui_rows_count(r) - 1),
                 moved(top, is_back, n, tui_rows_bottom(r)));
}

void
tui_review_by_rows(struct tui_review *r, bool is_back, uint64_t n)
{
    if (!tui_rows_count(r))
        return;
    uint64_t from = tui_rows_near(r, r->at), top = tui_rows_top(r);
    uint64_t last = tui_rows_count(r) - 1;
    uint64_t row = moved(tui_rows_row(r, from), is_back, n,
                         tui_rows_row(r, tui_rows_count(r)));
    uint64_t to = tui_rows_index(r, row);
    if (is_back && to && (to > last || tui_rows_row(r, to) > row))
        to--;
    tui_rows_put(r, to < last ? to : last, moved(top, is_back, n, tui_rows_bottom(r)));
}

/* -- jumps -- */

void
tui_review_depart(struct tui_review *r)
{
    r->last_place = r->at_place;
    r->last_row = r->at_row;
}

void
tui_review_go_again(struct tui_review *r, uint64_t line, unsigned row)
{
    if (!tui_rows_count(r))
        return;
    uint64_t index = tui_rows_near(r, line), at = tui_rows_row(r, index);
    tui_rows_put(r, index, at > row ? at - row : 0);
}

/* The line, and what stands in so many rows behind it, on the page. */
static void
go_with(struct tui_review *r, uint64_t line, uint64_t behind, bool has_jump)
{
    if (!tui_rows_count(r))
        return;
    uint64_t top = tui_rows_top(r), index = tui_rows_near(r, line);
    uint64_t row = tui_rows_row(r, index);
    if (has_jump)
        tui_review_depart(r);
    if (row < top || row + behind >= top + r->rows)
        top = row > r->rows / 3 ? row - r->rows / 3 : 0;
    if (row + behind >= top + r->rows)
        top = row;
    tui_rows_put(r, index, top);
}

void
tui_review_go(struct tui_review *r, uint64_t line, bool has_jump)
{
    go_with(r, line, 0, has_jump);
}

void
tui_review_go_top(struct tui_review *r, uint64_t index)
{
    uint64_t count = tui_rows_count(r);
    if (!count)
        return;
    index = index < count ? index : count - 1;
    tui_review_depart(r);
    tui_rows_put(r, index, index ? tui_rows_row(r, index) : 0);
}

void
tui_review_go_end(struct tui_review *r)
{
    uint64_t count = tui_rows_count(r);
    if (count)
        tui_rows_put(r, count - 1, UINT64_MAX);
}

/* -- marks -- */

static unsigned
mark_index(uint32_t letter)
{
    if (letter >= 'a' && letter <= 'z')
        return letter - 'a';
    return letter >= 'A' && letter <= 'Z' ? letter - 'A' + 26 : TUI_REVIEW_MARKS;
}

void
tui_review_mark(struct tui_review *r, uint32_t letter)
{
    unsigned i = mark_index(letter);
    if (i >= TUI_REVIEW_MARKS) {
        note(r, "a mark is a letter");
        return;
    }
    r->marks[i].place = r->at_place;
    r->marks[i].row = r->at_row;
    r->marks[i].is_set = true;
    snprintf(r->note, sizeof(r->note), "marked: '%c comes back here", (char)letter);
}

static void
jump_again(struct tui_review *r, uint64_t line, unsigned row)
{
    tui_review_depart(r);
    tui_review_go_again(r, line, row);
}

void
tui_review_go_mark(struct tui_review *r, uint32_t letter)
{
    unsigned i = mark_index(letter);
    if (letter == '^')
        tui_review_go_top(r, 0);
    else if (letter == '$')
        tui_review_go(r, UINT64_MAX, true);
    else if (letter == '\'')
        jump_again(r, r->last_place.line, r->last_row);
    else if (i >= TUI_REVIEW_MARKS)
        note(r, "a mark is a letter");
    else if (!r->marks[i].is_set)
        snprintf(r->note, sizeof(r->note), "there is no mark %c", (char)letter);
    else
        jump_again(r, r->marks[i].place.line, r->marks[i].row);
}

/* -- events -- */

/* The line behind which an event stands. */
static uint64_t
event_index(const struct tui_review *r, size_t event)
{
    uint64_t past = tui_rows_event(r, event), first = term_book_first(&r->book);
    return tui_rows_near(r, past > first ? past - 1 : first);
}

/* The first event that stands behind the line at this index, or further down. */
static size_t
first_event(const struct tui_review *r, uint64_t index)
{
    size_t low = 0, high = tui_rows_events(r);
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (event_index(r, mid) < index)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

void
tui_review_event(struct tui_review *r, bool is_back)
{
    size_t count = tui_rows_events(r);
    if (!tui_rows_count(r))
        return;
    uint64_t at = tui_rows_near(r, r->at);
    size_t event = first_event(r, is_back ? at : at + 1);
    if (is_back ? !event : event >= count) {
        note(r, is_back ? "no snapshot or instruction before this line"
                        : "no snapshot or instruction behind this line");
        return;
    }
    uint64_t to = event_index(r, is_back ? event - 1 : event);
    uint64_t behind = tui_rows_row(r, to + 1) - tui_rows_row(r, to) - 1;
    go_with(r, tui_rows_line(r, to), behind, true);
}

/* -- time -- */

static uint64_t
time_at(const struct tui_review *r, uint64_t line)
{
    struct tui_place p = tui_rows_place(r, line);
    if (!r->source->stamps || !p.stamp)
        return 0;
    return play_stamps_time(r->source->stamps, p.stamp);
}

/* The line that was being written when there were so many bytes. Behind a line's last
 * character comes its end, CR and LF, which leaves no trace. */
static uint64_t
line_of_byte(const struct tui_review *r, uint64_t byte_off)
{
    uint64_t past = term_book_past(&r->book, byte_off), first = term_book_first(&r->book);
    if (past == first)
        return first;
    uint64_t stamp = term_book_stamp(&r->book, past - 1);
    return byte_off < stamp || byte_off - stamp <= 2 ? past - 1 : past;
}

void
tui_review_minute(struct tui_review *r, bool is_back)
{
    uint64_t now = time_at(r, r->at), index = tui_rows_near(r, r->at), to;
    if (!now || !tui_rows_count(r)) {
        note(r, "no times are known here");
        return;
    }
    uint64_t far = MINUTE_NS * (r->has_count ? r->count : 1);
    uint64_t then = is_back ? (now > far ? now - far : 0) : now + far;
    /* The first line that was written later than that: but at least the next one. */
    to = tui_rows_near(
        r, term_book_past(&r->book, play_stamps_byte(r->source->stamps, then)));
    if (is_back && to >= index)
        to = index ? index - 1 : 0;
    else if (!is_back && to <= index)
        to = index + 1;
    tui_review_go(r, tui_rows_line(r, to), true);
}

void
tui_review_go_to_moment(struct tui_review *r, const char *text)
{
    const struct tui_source *s = r->source;
    struct play_moment moment;
    struct err err;
    if (play_moment_parse(text, &moment, &err) < 0) {
        note(r, err.text);
        return;
    }
    if (!moment.is_byte && (!s->stamps || !s->start_ts_ns)) {
        note(r, "no times are known here");
        return;
    }
    uint64_t byte_off = moment.value;
    if (!moment.is_byte)
        byte_off = moment.value < UINT64_MAX - s->start_ts_ns
                       ? play_stamps_byte(s->stamps, s->start_ts_ns + moment.value)
                       : UINT64_MAX;
    tui_review_go(r, line_of_byte(r, byte_off), true);
}

void
tui_review_tell_place(struct tui_review *r)
{
    uint64_t end = term_book_end(&r->book), ts = time_at(r, r->at), since;
    uint64_t start = r->source->start_ts_ns;
    char time[40] = "";
    if (!tui_rows_count(r)) {
        note(r, "there are no lines yet");
        return;
    }
    if (ts && start && ts >= start) {
        since = (ts - start) / (SECOND_NS / 10);
        snprintf(time, sizeof(time), ", time %" PRIu64 ":%02u.%u", since / 600,
                 (unsigned)(since / 10 % 60), (unsigned)(since % 10));
    }
    snprintf(r->note, sizeof(r->note),
             "line %" PRIu64 " of %" PRIu64 " (%u%%), byte %" PRIu64 "%s", r->at + 1, end,
             (unsigned)((r->at + 1) * 100 / end), r->at_place.stamp, time);
}
