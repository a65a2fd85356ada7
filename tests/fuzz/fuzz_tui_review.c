/* SPDX-License-Identifier: MIT */
/*
 * Whatever is typed while a session goes on, the current line is on the page, and the
 * page holds lines that there are, in their order. Input: columns and rows, then parts
 * that begin with a byte: even, keys; odd, what the session writes; its upper bits are
 * how many bytes the part has.
 */
#include <stdlib.h>

#include "fuzz/fuzz.h"
#include "tui/review_priv.h"

enum { ROWS_MAX = 64 };

static void
check(struct tui_review *r)
{
    struct tui_line page[ROWS_MAX];
    unsigned at;
    uint64_t first = term_book_first(&r->book), end = term_book_end(&r->book), last = 0;
    tui_review_page(r, page, &at);
    CHECK(at < r->rows);
    for (unsigned i = 0; i < r->rows; i++) {
        if (page[i].kind != TUI_LINE_ROW)
            continue;
        CHECK(page[i].number >= first && page[i].number < end);
        CHECK(!last || page[i].number > last);
        last = page[i].number;
    }
    if (first < end && (!r->filter.n || r->filtered.n) && (r->rows > 1 || !r->has_draft))
        CHECK(page[at].kind == TUI_LINE_ROW && page[at].number == r->at);
}

static void
type(struct tui_review *r, struct tui_keys *keys, struct view in)
{
    struct tui_key key;
    while (tui_keys_next(keys, &in, &key)) {
        enum tui_review_wish wish = tui_review_key(r, key);
        if (wish == TUI_REVIEW_DRAFT)
            tui_review_draft(r, false);
        else if (wish == TUI_REVIEW_SUBMIT)
            tui_review_end_draft(r);
        else if (wish == TUI_REVIEW_SAVE && !r->may_overwrite)
            tui_review_ask_overwrite(r);
        check(r);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct term_options opt = term_options_default();
    struct tui_source source = { .is_whole = true };
    struct tui_keys keys = { 0 };
    if (size < 2)
        return 0;
    struct tui_review *r = calloc(1, sizeof(*r));
    opt.cols = 1 + data[0] % 100;
    opt.rows = 1 + data[1] % (ROWS_MAX - 1);
    struct term *term = term_new(&opt);
    CHECK(r && term);
    source.term = term;
    CHECK(!tui_review_init(r, &source));
    tui_review_resize(r, opt.cols, opt.rows);
    for (size_t i = 2; i < size;) {
        size_t n = data[i] >> 1, left = size - i - 1;
        struct view part = { data + i + 1, n < left ? n : left };
        if (data[i] & 1) {
            term_feed(term, part.p, part.n, source.bytes);
            source.bytes += part.n;
            tui_review_update(r);
            check(r);
        } else {
            type(r, &keys, part);
        }
        i += 1 + part.n;
    }
    tui_review_release(r);
    term_free(term);
    free(r);
    return 0;
}
