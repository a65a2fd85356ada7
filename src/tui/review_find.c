/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "tui/review_rows_priv.h"

enum { NEAR_HITS = 16 };

static struct view
view_of(const struct buf *b)
{
    return (struct view){ b->p, b->n };
}

static void
set(struct buf *b, struct view text)
{
    buf_clear(b);
    buf_append(b, text.p, text.n);
}

struct term_needle
tui_review_needle(struct view text)
{
    struct term_needle needle = { .text = text, .ignores_case = true };
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] >= 'A' && text.p[i] <= 'Z')
            needle.ignores_case = false;
    return needle;
}

static void
tell_not_found(struct tui_review *r, struct view text)
{
    snprintf(r->note, sizeof(r->note), "not found: %.*s",
             (int)(text.n < 80 ? text.n : 80), (const char *)text.p);
}

/* -- searching -- */

static bool
is_visible(const struct tui_review *r, uint64_t line)
{
    uint64_t index = tui_rows_rank(r, line);
    return index < tui_rows_count(r) && tui_rows_line(r, index) == line;
}

/* The next visible line that has it, from the line behind (before) `from` on. */
static bool
next_hit(const struct tui_review *r, const struct term_needle *needle, bool is_back,
         uint64_t from, uint64_t *ret)
{
    uint64_t first = term_book_first(&r->book), end = term_book_end(&r->book);
    for (;;) {
        if (is_back ? from <= first : from + 1 >= end)
            return false;
        from = is_back ? from - 1 : from + 1;
        if (term_book_find(&r->book, needle, from, is_back, UINT64_MAX, &from) <= 0)
            return false;
        if (is_visible(r, from)) {
            *ret = from;
            return true;
        }
    }
}

/* The count-th one, of more than are walked to one by one. */
static bool
far_hit(const struct tui_review *r, const struct term_needle *needle, bool is_back,
        unsigned count, uint64_t from, uint64_t *ret)
{
    AUTO(buf) hits = { .ceiling = SIZE_MAX / 2 };
    size_t n = 0;
    if (term_book_find_all(&r->book, needle, is_back ? 0 : from + 1,
                           is_back ? from : UINT64_MAX, &hits) < 0)
        return false;
    uint64_t *lines = (void *)hits.p;
    for (size_t i = 0; i < hits.n / sizeof(*lines); i++)
        if (!r->filter.n || is_visible(r, lines[i]))
            lines[n++] = lines[i];
    if (!n)
        return false;
    size_t i = count < n ? count : n;
    *ret = lines[is_back ? n - i : i - 1];
    return true;
}

/* Where there are fewer, it is the last of them. */
static bool
hit(const struct tui_review *r, struct view text, bool is_back, unsigned count,
    uint64_t from, uint64_t *ret)
{
    struct term_needle needle = tui_review_needle(text);
    if (count > NEAR_HITS)
        return far_hit(r, &needle, is_back, count, from, ret);
    unsigned i = 0;
    while (i < count && next_hit(r, &needle, is_back, from, &from))
        i++;
    if (i)
        *ret = from;
    return i;
}

void
tui_review_find(struct tui_review *r, bool is_back, unsigned count)
{
    uint64_t line;
    if (!r->needle.n) {
        snprintf(r->note, sizeof(r->note), "nothing was searched for yet");
        return;
    }
    r->has_highlights = true;
    if (hit(r, view_of(&r->needle), is_back, count, r->at, &line))
        tui_review_go(r, line, true);
    else
        tell_not_found(r, view_of(&r->needle));
}

/* -- as it is typed -- */

void
tui_review_ask_find(struct tui_review *r, bool is_back)
{
    r->asking = TUI_ASK_FIND;
    r->from_place = r->at_place;
    r->from_row = r->at_row;
    r->from_count = r->has_count && r->count ? r->count : 1;
    r->from_back = is_back;
    r->from_follows = r->follows;
    r->has_typed_hit = false;
    set(&r->old_needle, view_of(&r->needle));
    tui_prompt_open(&r->prompt, is_back ? "?" : "/", (struct view){ 0 });
}

/* Where the search began, with the page as it was. */
static void
go_back(struct tui_review *r)
{
    if (!tui_rows_count(r))
        return;
    tui_review_go_again(r, r->from_place.line, r->from_row);
    r->follows = r->from_follows;
    if (r->follows)
        tui_review_go_end(r);
}

/* What has the longer text has the shorter one: it is not before that one's hit. */
static bool
narrows(const struct tui_review *r)
{
    const struct buf *typed = &r->prompt.text;
    return r->has_typed_hit && r->from_count == 1 && typed->n >= r->needle.n &&
           !memcmp(typed->p, r->needle.p, r->needle.n);
}

/* True: the page is at a hit, or there is nothing to be looked for. */
static bool
show_typed(struct tui_review *r)
{
    bool goes_on = narrows(r);
    set(&r->needle, view_of(&r->prompt.text));
    r->has_highlights = true;
    r->has_typed_hit = false;
    go_back(r);
    if (!r->needle.n)
        return true;
    uint64_t next_to = r->from_back ? r->typed_hit + 1 : r->typed_hit - 1;
    if (!hit(r, view_of(&r->needle), r->from_back, r->from_count,
             goes_on ? next_to : r->at, &r->typed_hit))
        return false;
    r->has_typed_hit = true;
    tui_review_go(r, r->typed_hit, false);
    return true;
}

static void
end_find(struct tui_review *r)
{
    r->is_back = r->from_back;
    if (!r->prompt.text.n) { /* the last text again */
        set(&r->needle, view_of(&r->old_needle));
        go_back(r);
        tui_review_find(r, r->is_back, r->from_count);
    } else if (show_typed(r)) {
        r->last_place = r->from_place;
        r->last_row = r->from_row;
    } else {
        tell_not_found(r, view_of(&r->needle));
    }
}

void
tui_review_find_typed(struct tui_review *r, enum tui_prompt_end end)
{
    switch (end) {
    case TUI_PROMPT_GOES_ON:
        break;
    case TUI_PROMPT_CHANGED:
        if (!show_typed(r))
            tell_not_found(r, view_of(&r->needle));
        break;
    case TUI_PROMPT_DONE:
        end_find(r);
        break;
    case TUI_PROMPT_GIVEN_UP:
        set(&r->needle, view_of(&r->old_needle));
        go_back(r);
        break;
    }
}

/* -- the filter -- */

/* Adds those among lines from .. to - 1 that pass. */
static void
filter_among(const struct tui_review *r, uint64_t from, uint64_t to, struct buf *out)
{
    struct term_needle needle = tui_review_needle(view_of(&r->filter));
    term_book_find_all(&r->book, &needle, from, to, out);
}

/* Those before and behind are others: the ones before come anew from `above`. */
static void
keep_filtered(struct tui_review *r, struct tui_span same, const struct buf *above)
{
    struct buf *b = &r->filtered;
    size_t from = (size_t)tui_rows_rank(r, same.from) * sizeof(uint64_t);
    size_t n = (size_t)tui_rows_rank(r, same.to) * sizeof(uint64_t) - from;
    if (above->n > from && buf_reserve(b, above->n - from) < 0)
        n = 0;
    else if (n && above->n != from)
        memmove(b->p + above->n, b->p + from, n);
    b->n = 0;
    buf_append(b, above->p, above->n);
    b->n += n;
}

void
tui_review_refilter(struct tui_review *r, struct tui_span same)
{
    AUTO(buf) above = { .ceiling = SIZE_MAX / 2 };
    uint64_t first = term_book_first(&r->book), end = term_book_end(&r->book);
    if (!r->filter.n)
        return;
    /* A row that is wrapped has it where the next one goes on with it. */
    if (same.to > same.from)
        same.to--;
    if (same.to <= same.from)
        same = (struct tui_span){ first, first };
    r->filtered.ceiling = SIZE_MAX / 2;
    filter_among(r, first, same.from, &above);
    keep_filtered(r, same, &above);
    filter_among(r, same.to, end, &r->filtered);
}

void
tui_review_filter(struct tui_review *r)
{
    uint64_t at = r->at, row = r->at_row, top;
    tui_review_refilter(r, (struct tui_span){ 0, 0 }); /* it is another text */
    if (r->filter.n && !r->filtered.n) {
        tell_not_found(r, view_of(&r->filter));
        buf_clear(&r->filter);
    }
    if (!tui_rows_count(r))
        return;
    top = tui_rows_row(r, tui_rows_near(r, at));
    tui_rows_put(r, tui_rows_near(r, at), top > row ? top - row : 0);
}
