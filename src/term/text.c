/* SPDX-License-Identifier: MIT */
#include "term/text.h"

#include "base/utf8.h"

struct view
term_text(const char *s)
{
    return (struct view){ (const uint8_t *)s, strlen(s) };
}

/* The next character that is shown, as the bytes to show; false: there is none left. */
static bool
next(struct term_widths *widths, struct view *text, struct view *ret, unsigned *ret_cols)
{
    static const uint8_t blank[] = " ";
    while (text->n) {
        uint32_t rune = 0;
        int n = utf8_next(text->p, text->n, &rune);
        *ret = (struct view){ text->p, n > 0 ? (size_t)n : 1 };
        text->p += ret->n;
        text->n -= ret->n;
        if (n > 0 && (rune == '\t' || rune == '\n')) {
            rune = ' ';
            *ret = (struct view){ blank, 1 };
        }
        if (n <= 0 || rune < 0x20)
            continue;
        uint8_t rune_class = term_class(widths, rune);
        if (rune_class == TERM_CLASS_CONTROL)
            continue;
        *ret_cols = rune_class & TERM_CLASS_WIDTH;
        return true;
    }
    return false;
}

unsigned
term_text_cols(struct term_widths *widths, struct view text)
{
    struct view piece;
    unsigned cols, sum = 0;
    while (sum < UINT16_MAX && next(widths, &text, &piece, &cols))
        sum += cols;
    return sum;
}

unsigned
term_text_put(struct term_widths *widths, struct view text, unsigned cols,
              struct buf *out)
{
    struct view piece;
    unsigned took = 0, n;
    bool is_cut = term_text_cols(widths, text) > cols;
    if (is_cut && !cols)
        return 0;
    unsigned room = is_cut ? cols - 1 : cols;
    while (next(widths, &text, &piece, &n) && took + n <= room) {
        buf_append(out, piece.p, piece.n);
        took += n;
    }
    if (is_cut)
        buf_puts(out, "…");
    return took + is_cut;
}

unsigned
term_text_put_end(struct term_widths *widths, struct view text, unsigned cols,
                  struct buf *out)
{
    struct view piece;
    unsigned n, left = term_text_cols(widths, text);
    if (left <= cols || !cols)
        return term_text_put(widths, text, cols, out);
    while (left > cols - 1 && next(widths, &text, &piece, &n))
        left -= n < left ? n : left;
    buf_puts(out, "…");
    return 1 + term_text_put(widths, text, cols - 1, out);
}
