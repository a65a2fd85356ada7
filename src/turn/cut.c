/* SPDX-License-Identifier: MIT */
#include "turn/cut_priv.h"

/* Where the next newline from `at` on stands, or the end. */
static size_t
line_end(struct view text, size_t at)
{
    const uint8_t *p = at < text.n ? memchr(text.p + at, '\n', text.n - at) : NULL;
    return p ? (size_t)(p - text.p) : text.n;
}

/* How much of it is put: whole lines, or within one up to a whole character. */
static size_t
shown_size(struct view text, const struct turn_cut *cut)
{
    size_t most = cut->bytes && cut->bytes < text.n ? cut->bytes : text.n, lines = 0;
    struct view head = { text.p, most };
    for (size_t i = 0; cut->lines && (i = line_end(head, i)) < most; i++)
        if (++lines == cut->lines)
            return i;
    while (most < text.n && most > 0 && (text.p[most] & 0xc0) == 0x80)
        most--;
    return most;
}

static size_t
count_lines(struct view text)
{
    size_t lines = 1;
    for (size_t i = 0; i < text.n; i++)
        lines += text.p[i] == '\n';
    return lines;
}

static void
put_left(struct view left, bool in_bytes, struct buf *out)
{
    size_t count = in_bytes ? left.n : count_lines(left);
    buf_puts(out, "  … ");
    buf_put_grouped(out, count);
    buf_puts(out, in_bytes ? " more byte" : " more line");
    buf_puts(out, count == 1 ? "\n" : "s\n");
}

static void
put_indented(struct view text, struct buf *out)
{
    size_t start = 0;
    for (size_t i = 0; (i = line_end(text, i)) < text.n; i++) {
        buf_append(out, text.p + start, i - start);
        bool is_blank = i + 1 == text.n || text.p[i + 1] == '\n';
        buf_puts(out, is_blank ? "\n" : "\n  ");
        start = i + 1;
    }
    buf_append(out, text.p + start, text.n - start);
    buf_puts(out, "\n");
}

void
turn_cut_put(struct view text, const struct turn_cut *cut, struct buf *out)
{
    while (text.n && text.p[text.n - 1] == '\n')
        text.n--;
    if (!text.n) {
        buf_puts(out, "(empty)\n");
        return;
    }
    size_t n = shown_size(text, cut);
    put_indented((struct view){ text.p, n }, out);
    if (n == text.n)
        return;
    bool is_line_whole = text.p[n] == '\n';
    struct view left = { text.p + n + is_line_whole, text.n - n - is_line_whole };
    put_left(left, cut->in_bytes || !is_line_whole, out);
}
