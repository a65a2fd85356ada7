/* SPDX-License-Identifier: MIT */
#include "support/review_kit.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

void
review_kit_begin(struct review_kit *k, unsigned cols, unsigned rows, unsigned lines)
{
    struct term_options opt = term_options_default();
    opt.cols = cols;
    opt.rows = rows;
    *k = (struct review_kit){ .term = term_new(&opt), .now_ns = KIT_START_NS };
    assert_non_null(k->term);
    k->source = (struct tui_source){ .term = k->term,
                                     .stamps = &k->stamps,
                                     .events = &k->events,
                                     .start_ts_ns = KIT_START_NS,
                                     .is_whole = true };
    review_kit_lines(k, 0, lines);
    assert_int_equal(tui_review_init(&k->r, &k->source), 0);
    tui_review_resize(&k->r, cols, rows);
    review_kit_check(k);
}

void
review_kit_end(struct review_kit *k)
{
    tui_review_release(&k->r);
    play_events_release(&k->events);
    play_stamps_release(&k->stamps);
    term_free(k->term);
}

void
review_kit_keep(struct review_kit *k, uint32_t rows, uint32_t alternate_rows)
{
    struct term_options opt = term_options_default();
    opt.cols = term_cols(k->term);
    opt.rows = term_rows(k->term);
    opt.scrollback_rows = rows;
    opt.alternate_rows = alternate_rows;
    struct term *old = k->term;
    k->source.term = k->term = term_new(&opt);
    assert_non_null(k->term);
    review_kit_update(k);
    term_free(old);
}

void
review_kit_feed(struct review_kit *k, const char *text)
{
    size_t n = strlen(text);
    term_feed(k->term, text, n, k->source.bytes);
    k->source.bytes += n;
    k->now_ns += KIT_SECOND_NS;
    play_stamps_add(&k->stamps, k->source.bytes, k->now_ns);
}

void
review_kit_lines(struct review_kit *k, unsigned from, unsigned to)
{
    AUTO(buf) text = { 0 };
    for (unsigned i = from; i < to; i++) {
        buf_clear(&text);
        buf_printf(&text, "line %u\r\n", i);
        review_kit_feed(k, buf_str(&text));
    }
}

static bool
has_room_for_all(const struct review_kit *k)
{
    return k->r.rows > 1 || !k->r.has_draft;
}

void
review_kit_check(struct review_kit *k)
{
    const struct tui_review *r = &k->r;
    uint64_t first = term_book_first(&r->book), end = term_book_end(&r->book), last = 0;
    bool has_row = false, has_end = false;
    memset(k->page, 0xff, sizeof(k->page));
    tui_review_page(&k->r, k->page, &k->at);
    assert_true(k->at < r->rows);
    for (unsigned i = 0; i < r->rows; i++) {
        const struct tui_line *line = &k->page[i];
        assert_true(line->kind <= TUI_LINE_BLANK);
        assert_false(has_end && line->kind != TUI_LINE_BLANK);
        has_end = line->kind == TUI_LINE_BLANK;
        if (line->kind != TUI_LINE_ROW)
            continue;
        assert_true(line->number >= first && line->number < end);
        assert_true(!has_row || line->number > last);
        assert_true(!has_row || r->filter.n || line->number == last + 1);
        has_row = true;
        last = line->number;
    }
    if (first == end || (r->filter.n && !r->filtered.n) || !has_room_for_all(k))
        return;
    assert_int_equal(k->page[k->at].kind, TUI_LINE_ROW);
    assert_int_equal(k->page[k->at].number, r->at);
    /* No more is blank than must be. */
    if (has_end && !r->filter.n)
        assert_true(r->top == first || k->page[0].kind != TUI_LINE_ROW);
}

enum tui_review_wish
review_kit_type(struct review_kit *k, const char *typed)
{
    struct tui_keys keys = { 0 };
    struct view in = { (const uint8_t *)typed, strlen(typed) };
    enum tui_review_wish wish = TUI_REVIEW_NONE;
    struct tui_key key;
    while (tui_keys_next(&keys, &in, &key)) {
        wish = tui_review_key(&k->r, key);
        review_kit_check(k);
    }
    if (tui_keys_wait_ms(&keys) >= 0 && tui_keys_timeout(&keys, &key))
        wish = tui_review_key(&k->r, key);
    review_kit_check(k);
    return wish;
}

enum tui_review_wish
review_kit_mouse(struct review_kit *k, enum tui_mouse what, unsigned row)
{
    struct tui_key key = { .kind = TUI_KEY_MOUSE, .mouse = what, .row = row };
    enum tui_review_wish wish = tui_review_key(&k->r, key);
    review_kit_check(k);
    return wish;
}

void
review_kit_update(struct review_kit *k)
{
    tui_review_update(&k->r);
    review_kit_check(k);
}

void
review_kit_event(struct review_kit *k, enum play_event_kind kind, uint64_t id,
                 uint64_t line)
{
    struct play_event event = { .kind = kind,
                                .id = id,
                                .anchor_byte = term_book_stamp(&k->r.book, line),
                                .text = { (const uint8_t *)"label", 5 },
                                .snapshot_id = PLAY_NONE };
    assert_int_equal(play_events_add(&k->events, &event), 0);
    play_events_sort(&k->events);
    review_kit_update(k);
}

const char *
review_kit_page(struct review_kit *k, struct buf *room)
{
    review_kit_check(k);
    buf_clear(room);
    for (unsigned i = 0; i < k->r.rows; i++) {
        static const char *const kinds[] = { "", "e", "d", "o", "." };
        const struct tui_line *line = &k->page[i];
        buf_printf(room, "%s%s%s%s", i ? " " : "", i == k->at ? "*" : "",
                   line->is_dim ? "~" : "", kinds[line->kind]);
        if (line->kind <= TUI_LINE_DRAFT)
            buf_put_u64(room, line->number);
    }
    return buf_str(room);
}
