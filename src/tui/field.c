/* SPDX-License-Identifier: MIT */
#include "tui/field_priv.h"

#include <string.h>

#include "base/utf8.h"

enum {
    CLUSTER_MAX = 256, /* bytes: so that a long one costs no more than its length */
    PLAIN_BREAK = TERM_CLASS_PLAIN >> TERM_CLASS_BREAK_SHIFT,
};

/* -- characters -- */

/* Is it sure that this one and what follows are apart? Then its size. */
static size_t
plain_next(struct term_widths *widths, struct view text, unsigned *ret_width)
{
    uint32_t rune, next;
    int size = utf8_next(text.p, text.n, &rune);
    if (size <= 0)
        return 0;
    size_t n = (size_t)size;
    uint8_t class = term_class(widths, rune);
    *ret_width = class & TERM_CLASS_WIDTH;
    if (rune < 0x20 || n == text.n || text.p[n] < 0x20)
        return n;
    if (class >> TERM_CLASS_BREAK_SHIFT != PLAIN_BREAK ||
        utf8_next(text.p + n, text.n - n, &next) <= 0)
        return 0;
    class = term_class(widths, next);
    return class >> TERM_CLASS_BREAK_SHIFT == PLAIN_BREAK && class & TERM_CLASS_WIDTH ? n
                                                                                      : 0;
}

size_t
tui_field_next(struct term_widths *widths, struct view text, unsigned *ret_width)
{
    size_t n = widths ? plain_next(widths, text, ret_width) : 0;
    if (n)
        return n;
    for (n = 1; n < text.n && n < CLUSTER_MAX && text.p[n] >= 0x20;)
        n++;
    return term_cluster_next((struct view){ text.p, n }, ret_width);
}

size_t
tui_field_before(struct term_widths *widths, struct view text, size_t at)
{
    size_t begin = tui_field_begin(text, at), before = begin;
    unsigned width;
    if (begin == at)
        return at ? at - 1 : 0;
    for (size_t i = begin; i < at;) {
        before = i;
        i += tui_field_next(widths, (struct view){ text.p + i, text.n - i }, &width);
    }
    return before;
}

size_t
tui_field_behind(struct term_widths *widths, struct view text, size_t at)
{
    unsigned width;
    if (at >= text.n)
        return text.n;
    return at + tui_field_next(widths, (struct view){ text.p + at, text.n - at }, &width);
}

/* -- lines and words -- */

size_t
tui_field_begin(struct view text, size_t at)
{
    const uint8_t *newline = at ? memrchr(text.p, '\n', at) : NULL;
    return newline ? (size_t)(newline - text.p) + 1 : 0;
}

size_t
tui_field_end(struct view text, size_t at)
{
    const uint8_t *newline = at < text.n ? memchr(text.p + at, '\n', text.n - at) : NULL;
    return newline ? (size_t)(newline - text.p) : text.n;
}

static bool
is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

size_t
tui_field_word_before(struct view text, size_t at)
{
    while (at && is_blank(text.p[at - 1]))
        at--;
    while (at && !is_blank(text.p[at - 1]))
        at--;
    return at;
}

size_t
tui_field_word_behind(struct view text, size_t at)
{
    while (at < text.n && is_blank(text.p[at]))
        at++;
    while (at < text.n && !is_blank(text.p[at]))
        at++;
    return at;
}

/* -- changes -- */

bool
tui_field_replace(struct buf *text, size_t most, size_t at, size_t n, struct view by)
{
    size_t behind = text->n - at - n;
    if (by.n > n && by.n - n > most - text->n)
        return false;
    if (by.n > n && buf_reserve(text, by.n - n) < 0) {
        text->failed = 0;
        return false;
    }
    if (behind)
        memmove(text->p + at + by.n, text->p + at + n, behind);
    if (by.n)
        memcpy(text->p + at, by.p, by.n);
    text->n = text->n - n + by.n;
    return true;
}

bool
tui_field_is_text(uint32_t rune)
{
    return rune >= 0x20 && rune != 0x7f && !term_is_control(rune);
}

size_t
tui_field_typed(struct tui_key key, uint8_t room[4])
{
    if (key.kind != TUI_KEY_CHAR || key.has_ctrl || key.has_alt ||
        !tui_field_is_text(key.rune))
        return 0;
    return utf8_put(room, key.rune);
}
