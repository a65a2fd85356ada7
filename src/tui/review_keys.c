/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "tui/review_rows_priv.h"

enum {
    COUNT_MAX = 100000000,
    ESC = 0x1b,
    CTRL = 1 << 24, /* beside a rune */
    SPECIAL = 1 << 25,
};

/* A key as a number for the tables. */
#define KIND(kind) (SPECIAL | (uint32_t)(kind))

typedef enum tui_review_wish (*key_fn)(struct tui_review *r, int arg);

struct key {
    uint32_t key;
    key_fn fn;
    int arg;
};

static unsigned
count_or(const struct tui_review *r, unsigned otherwise)
{
    return r->has_count && r->count ? r->count : otherwise;
}

static unsigned
window(const struct tui_review *r)
{
    return r->window ? r->window : r->rows;
}

/* -- what they do; arg: 1 back, or a wish -- */

static enum tui_review_wish
do_wish(struct tui_review *r, int arg)
{
    (void)r;
    return (enum tui_review_wish)arg;
}

static enum tui_review_wish
do_line(struct tui_review *r, int is_back)
{
    tui_review_by_lines(r, is_back, count_or(r, 1));
    return TUI_REVIEW_NONE;
}

static enum tui_review_wish
do_page(struct tui_review *r, int is_back)
{
    tui_review_by_rows(r, is_back, count_or(r, window(r)));
    return TUI_REVIEW_NONE;
}

static enum tui_review_wish
do_window(struct tui_review *r, int is_back)
{
    r->window = count_or(r, r->window);
    tui_review_by_rows(r, is_back, window(r));
    return TUI_REVIEW_NONE;
}

static enum tui_review_wish
do_half(struct tui_review *r, int is_back)
{
    r->half = count_or(r, r->half);
    tui_review_by_rows(r, is_back, r->half ? r->half : (r->rows + 1) / 2);
    return TUI_REVIEW_NONE;
}

static enum tui_review_wish
do_columns(struct tui_review *r, int is_back)
{
    r->step = count_or(r, r->step);
    unsigned step = r->step ? r->step : (r->cols + 1) / 2;
    unsigned cols = r->source->term ? term_cols(r->source->term) : 0;
    unsigned most = cols > r->cols ? cols - r->cols : 0;
    if (is_back)
        r->left = r->left > step ? r->left - step : 0;
    else
        r->left = most - r->left > step ? r->left + step : most;
    return TUI_REVIEW_NONE;
}

static enum tui_review_wish
go_to_number(struct tui_review *r)
{
    tui_review_go_top(r, tui_rows_rank(r, r->count ? r->count - 1 : 0));
    return TUI_REVIEW_NONE;
}

static enum tui_review_wish
do_first(struct tui_review *r, int arg)
{
    (void)arg;
    if (r->has_count)
        return go_to_number(r);
    tui_review_go_top(r, 0);
    r->wants_first = !r->source->is_whole;
    return TUI_REVIEW_NONE;
}

static enum tui_review_wish
do_last(struct tui_review *r, int follows)
{
    if (r->has_count && !follows)
        return go_to_number(r);
    tui_review_depart(r);
    tui_review_go_end(r);
    r->follows = true;
    if (follows)
        snprintf(r->note, sizeof(r->note), "follows what comes");
    return TUI_REVIEW_NONE;
}

static enum tui_review_wish
do_percent(struct tui_review *r, int arg)
{
    (void)arg;
    unsigned percent = r->has_count ? r->count : 0;
    tui_review_go_top(r, tui_rows_count(r) * (percent < 100 ? percent : 100) / 100);
    return TUI_REVIEW_NONE;
}

static enum tui_review_wish
do_find(struct tui_review *r, int is_back)
{
    tui_review_ask_find(r, is_back);
    return TUI_REVIEW_NONE;
}

static enum tui_review_wish
do_find_next(struct tui_review *r, int is_other_way)
{
    tui_review_find(r, r->is_back != (is_other_way != 0), count_or(r, 1));
    return TUI_REVIEW_NONE;
}

static enum tui_review_wish
do_highlights(struct tui_review *r, int arg)
{
    (void)arg;
    r->has_highlights = !r->has_highlights;
    return TUI_REVIEW_NONE;
}

static enum tui_review_wish
do_ask(struct tui_review *r, int asking)
{
    static const char *const heads[] = { [TUI_ASK_FILTER] = "&",
                                         [TUI_ASK_GO] = "time or @byte: ",
                                         [TUI_ASK_SAVE] = "save as: " };
    r->asking = (enum tui_ask)asking;
    tui_prompt_open(&r->prompt, heads[asking], (struct view){ 0 });
    return TUI_REVIEW_NONE;
}

static enum tui_review_wish
do_event(struct tui_review *r, int is_back)
{
    for (unsigned n = count_or(r, 1); n && !r->note[0]; n--)
        tui_review_event(r, is_back);
    return TUI_REVIEW_NONE;
}

static enum tui_review_wish
do_minute(struct tui_review *r, int is_back)
{
    tui_review_minute(r, is_back);
    return TUI_REVIEW_NONE;
}

static enum tui_review_wish
do_tell(struct tui_review *r, int arg)
{
    (void)arg;
    tui_review_tell_place(r);
    return TUI_REVIEW_NONE;
}

static enum tui_review_wish
do_gutter(struct tui_review *r, int arg)
{
    (void)arg;
    r->has_gutter = !r->has_gutter;
    return TUI_REVIEW_NONE;
}

static enum tui_review_wish
do_come_back(struct tui_review *r, int arg)
{
    (void)arg;
    tui_review_go_mark(r, '\'');
    return TUI_REVIEW_NONE;
}

/* Another key follows. */
static enum tui_review_wish
do_wait(struct tui_review *r, int key)
{
    r->pending = (uint32_t)key;
    return TUI_REVIEW_NONE;
}

static const struct key keys[] = {
    { 'j', do_line, 0 },
    { 'e', do_line, 0 },
    { CTRL | 'n', do_line, 0 },
    { CTRL | 'e', do_line, 0 },
    { KIND(TUI_KEY_DOWN), do_line, 0 },
    { 'k', do_line, 1 },
    { 'y', do_line, 1 },
    { CTRL | 'p', do_line, 1 },
    { CTRL | 'y', do_line, 1 },
    { CTRL | 'k', do_line, 1 },
    { KIND(TUI_KEY_UP), do_line, 1 },
    { ' ', do_page, 0 },
    { 'f', do_page, 0 },
    { CTRL | 'f', do_page, 0 },
    { CTRL | 'v', do_page, 0 },
    { KIND(TUI_KEY_PAGE_DOWN), do_page, 0 },
    { 'b', do_page, 1 },
    { CTRL | 'b', do_page, 1 },
    { KIND(TUI_KEY_PAGE_UP), do_page, 1 },
    { 'z', do_window, 0 },
    { 'w', do_window, 1 },
    { 'd', do_half, 0 },
    { CTRL | 'd', do_half, 0 },
    { 'u', do_half, 1 },
    { CTRL | 'u', do_half, 1 },
    { KIND(TUI_KEY_LEFT), do_columns, 1 },
    { KIND(TUI_KEY_RIGHT), do_columns, 0 },
    { 'g', do_first, 0 },
    { '<', do_first, 0 },
    { KIND(TUI_KEY_HOME), do_first, 0 },
    { 'G', do_last, 0 },
    { '>', do_last, 0 },
    { KIND(TUI_KEY_END), do_last, 0 },
    { 'F', do_last, 1 },
    { 'p', do_percent, 0 },
    { '%', do_percent, 0 },
    { '/', do_find, 0 },
    { '?', do_find, 1 },
    { 'n', do_find_next, 0 },
    { 'N', do_find_next, 1 },
    { '&', do_ask, TUI_ASK_FILTER },
    { '@', do_ask, TUI_ASK_GO },
    { 's', do_ask, TUI_ASK_SAVE },
    { '[', do_event, 1 },
    { ']', do_event, 0 },
    { '{', do_minute, 1 },
    { '}', do_minute, 0 },
    { '=', do_tell, 0 },
    { CTRL | 'g', do_tell, 0 },
    { 'T', do_gutter, 0 },
    { 'm', do_wait, 'm' },
    { '\'', do_wait, '\'' },
    { ':', do_wait, ':' },
    { 'Z', do_wait, 'Z' },
    { CTRL | 'x', do_wait, CTRL | 'x' },
    { KIND(TUI_KEY_ESCAPE), do_wait, ESC },
    { 'q', do_wish, TUI_REVIEW_LEAVE },
    { 'Q', do_wish, TUI_REVIEW_LEAVE },
    { 'i', do_wish, TUI_REVIEW_DRAFT },
    { KIND(TUI_KEY_ENTER), do_wish, TUI_REVIEW_DRAFT },
    { 'h', do_wish, TUI_REVIEW_HELP },
    { 'H', do_wish, TUI_REVIEW_HELP },
    { 'R', do_wish, TUI_REVIEW_REPAINT },
    { 'r', do_wish, TUI_REVIEW_REPAINT },
    { CTRL | 'l', do_wish, TUI_REVIEW_REPAINT },
    { CTRL | 'r', do_wish, TUI_REVIEW_REPAINT },
    { 'v', do_wish, TUI_REVIEW_EDITOR },
    { 'Y', do_wish, TUI_REVIEW_COPY },
    { CTRL | 'z', do_wish, TUI_REVIEW_SUSPEND },
};

/* Behind a key that waits for another. */
static const struct {
    uint32_t first;
    struct key key;
} pairs[] = {
    { ESC, { 'u', do_highlights, 0 } },
    { ESC, { 'v', do_page, 1 } },
    { ESC, { ' ', do_page, 0 } },
    { ESC, { '<', do_first, 0 } },
    { ESC, { '>', do_last, 0 } },
    { ':', { 'q', do_wish, TUI_REVIEW_LEAVE } },
    { ':', { 'Q', do_wish, TUI_REVIEW_LEAVE } },
    { 'Z', { 'Z', do_wish, TUI_REVIEW_LEAVE } },
    { CTRL | 'x', { CTRL | 'x', do_come_back, 0 } },
};

/* -- from a key to what it does -- */

static uint32_t
number_of(const struct tui_key *key)
{
    if (key->kind != TUI_KEY_CHAR)
        return KIND(key->kind);
    return key->has_ctrl ? CTRL | key->rune : key->rune;
}

static enum tui_review_wish
first_key(struct tui_review *r, uint32_t key)
{
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (keys[i].key == key)
            return keys[i].fn(r, keys[i].arg);
    return TUI_REVIEW_NONE;
}

static enum tui_review_wish
second_key(struct tui_review *r, uint32_t first, uint32_t key)
{
    bool is_plain = !(key & (CTRL | SPECIAL)), was_typed = r->pending;
    r->pending = 0;
    if (first == 'm' && is_plain)
        tui_review_mark(r, key);
    else if (first == '\'' && is_plain)
        tui_review_go_mark(r, key);
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        if (pairs[i].first == first && pairs[i].key.key == key)
            return pairs[i].key.fn(r, pairs[i].key.arg);
    /* An Escape that somebody typed to get out of something takes no key with it. */
    if (first == ESC && was_typed && key != KIND(TUI_KEY_ESCAPE))
        return first_key(r, key);
    return TUI_REVIEW_NONE;
}

/* A number before a command. */
static bool
is_counted(struct tui_review *r, uint32_t key)
{
    bool is_digit = key >= '0' && key <= '9';
    if (r->pending || (!is_digit && (key != KIND(TUI_KEY_BACKSPACE) || !r->has_count)))
        return false;
    if (!is_digit)
        r->count /= 10;
    else if (r->count < COUNT_MAX / 10)
        r->count = r->count * 10 + (key - '0');
    r->has_count = !(key == KIND(TUI_KEY_BACKSPACE) && !r->count);
    return true;
}

enum tui_review_wish
tui_review_command(struct tui_review *r, const struct tui_key *typed)
{
    enum tui_review_wish wish;
    uint32_t key = number_of(typed), first = r->pending;
    if (is_counted(r, key))
        return TUI_REVIEW_NONE;
    r->wants_first = false;
    if (!first && typed->has_alt && typed->kind == TUI_KEY_CHAR)
        first = ESC;
    wish = first ? second_key(r, first, key) : first_key(r, key);
    if (!r->pending) {
        r->has_count = false;
        r->count = 0;
    }
    return wish;
}
