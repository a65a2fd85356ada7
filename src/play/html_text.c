/* SPDX-License-Identifier: MIT */
#include "base/utf8.h"
#include "play/html_priv.h"
#include "term/width.h"

#define REPLACEMENT "\xef\xbf\xbd"

/* -- escaping -- */

/* What stands for a byte; NULL: itself. */
static const char *
entity_of(uint8_t byte)
{
    switch (byte) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

static bool
is_plain(uint8_t byte)
{
    return byte >= 0x20 && byte < 0x7f && !entity_of(byte);
}

/* How many bytes there are that stand for themselves. */
static size_t
plain_run(struct view text)
{
    size_t n = 0;
    while (n < text.n && is_plain(text.p[n]))
        n++;
    return n;
}

/* The character at the beginning; returns how many bytes it has. */
static size_t
put_rune(struct buf *out, struct view text)
{
    uint32_t rune;
    size_t n = (size_t)utf8_next(text.p, text.n, &rune);
    const char *entity = entity_of(text.p[0]);
    if (entity)
        buf_puts(out, entity);
    else if (!n)
        buf_puts(out, REPLACEMENT);
    else if (rune == '\n' || rune == '\t' || !term_is_control(rune))
        buf_append(out, text.p, n);
    return n ? n : 1;
}

void
play_html_text(struct buf *out, struct view text)
{
    for (size_t i = 0; i < text.n;) {
        struct view rest = { text.p + i, text.n - i };
        size_t n = plain_run(rest);
        buf_append(out, rest.p, n);
        i += n;
        if (i < text.n)
            i += put_rune(out, (struct view){ text.p + i, text.n - i });
    }
}

/* -- columns -- */

enum fit { FIT_PLAIN, FIT_WIDE, FIT_BOX, FIT_WIDE_BOX };

/* Narrow characters that many fonts of one width lack, or draw as pictures: others then
 * draw them. Box drawing and blocks are not among them. */
static const struct {
    uint32_t first, last;
} strangers[] = {
    { 0xad, 0xad },     { 0x2300, 0x23ff },    { 0x2440, 0x24ff },
    { 0x25a0, 0x28ff }, { 0x2900, 0x2bff },    { 0xe000, 0xf8ff },
    { 0xffa0, 0xffa0 }, { 0xf0000, 0x10ffff }, { 0x1f000, 0x1ffff },
};

static bool
is_stranger(uint32_t rune)
{
    for (size_t i = 0; i < sizeof(strangers) / sizeof(strangers[0]); i++)
        if (rune >= strangers[i].first && rune <= strangers[i].last)
            return true;
    return false;
}

/* Ideographs, kana, Hangul: an em wide; pictures are of any width. */
static bool
is_em_wide(uint32_t rune)
{
    return (rune >= 0x1100 && rune < 0x1200) || (rune >= 0x2e80 && rune < 0xe000) ||
           (rune >= 0xf900 && rune < 0x10000) || (rune >= 0x20000 && rune < 0x40000);
}

static enum fit
fit_of(struct view text, size_t *ret_n)
{
    unsigned width;
    uint32_t rune = 0;
    *ret_n = term_cluster_next(text, &width);
    size_t n = (size_t)utf8_next(text.p, text.n, &rune);
    if (width == 2)
        return n == *ret_n && is_em_wide(rune) ? FIT_WIDE : FIT_WIDE_BOX;
    return is_stranger(rune) ? FIT_BOX : FIT_PLAIN;
}

void
play_html_cells(struct buf *out, struct view text)
{
    static const char *const begin[] = { "", "<i class=w>", "<i class=n>",
                                         "<i class=e>" };
    enum fit open = FIT_PLAIN;
    for (size_t i = 0, n; i < text.n; i += n) {
        struct view rest = { text.p + i, text.n - i };
        enum fit fit = FIT_PLAIN;
        n = plain_run(rest);
        if (!n && rest.p[0] < 0x80)
            n = 1;
        else if (!n)
            fit = fit_of(rest, &n);
        /* A box holds one of them, the others all that follow. */
        if (open != FIT_PLAIN && (fit != open || fit != FIT_WIDE))
            buf_puts(out, "</i>");
        if (fit != open || fit > FIT_WIDE)
            buf_puts(out, begin[fit]);
        open = fit;
        play_html_text(out, (struct view){ rest.p, n });
    }
    if (open != FIT_PLAIN)
        buf_puts(out, "</i>");
}

void
play_html_blanks(struct buf *out, unsigned n)
{
    for (unsigned bit = 1U << 13; bit; bit >>= 1)
        for (; n >= bit; n -= bit)
            buf_printf(out, "<i class=p%u></i>", bit);
}
