/* SPDX-License-Identifier: MIT */
/*
 * draft_wrap.c -- a draft's text in lines of the screen.
 *
 * A line too long is broken behind a blank, or where it must be. Blanks at the break stay
 * where they are and may hang over the edge: there they are not seen. The last column is
 * the cursor's.
 */
#include "tui/draft_priv.h"
#include "tui/field_priv.h"

enum { TAB = 4 };

struct row {
    size_t begin, end; /* of its text, without the newline */
    size_t next;       /* where the next one begins */
    bool is_last;
};

/* The character at a place, and its columns when so many stand before it. */
static size_t
next_at(const struct tui_draft *d, struct term_widths *widths, size_t at, unsigned used,
        unsigned *ret_width)
{
    struct view rest = { d->text.p + at, d->text.n - at };
    size_t n = tui_field_next(widths, rest, ret_width);
    if (rest.p[0] == '\t')
        *ret_width = TAB - used % TAB;
    return n;
}

static struct row
row_at(const struct tui_draft *d, struct term_widths *widths, size_t begin)
{
    unsigned room = d->cols > 1 ? d->cols - 1 : 1, used = 0, width;
    size_t at = begin, blank = 0; /* … behind which it may be broken */
    while (at < d->text.n) {
        uint8_t c = d->text.p[at];
        bool is_blank = c == ' ' || c == '\t';
        if (c == '\n')
            return (struct row){ begin, at, at + 1, false };
        size_t n = next_at(d, widths, at, used, &width);
        if (used + width > room && at > begin && !is_blank) {
            size_t next = blank ? blank : at;
            return (struct row){ begin, next, next, false };
        }
        used += width;
        at += n;
        blank = is_blank ? at : blank;
    }
    return (struct row){ begin, at, at, true };
}

static struct row
row_by_number(const struct tui_draft *d, struct term_widths *widths, size_t line)
{
    struct row row = row_at(d, widths, 0);
    while (line-- && !row.is_last)
        row = row_at(d, widths, row.next);
    return row;
}

size_t
tui_draft_lines(const struct tui_draft *d, struct term_widths *widths)
{
    size_t lines = 1;
    for (struct row row = row_at(d, widths, 0); !row.is_last; lines++)
        row = row_at(d, widths, row.next);
    return lines;
}

void
tui_draft_cursor(const struct tui_draft *d, struct term_widths *widths, size_t *ret_line,
                 unsigned *ret_col)
{
    struct row row = row_at(d, widths, 0);
    unsigned used = 0, width, last = d->cols ? d->cols - 1 : 0;
    for (*ret_line = 0; d->cursor >= row.next && !row.is_last; (*ret_line)++)
        row = row_at(d, widths, row.next);
    for (size_t at = row.begin; at < d->cursor; used += width)
        at += next_at(d, widths, at, used, &width);
    *ret_col = used < last ? used : last;
}

size_t
tui_draft_place(const struct tui_draft *d, struct term_widths *widths, size_t line,
                unsigned col)
{
    struct row row = row_by_number(d, widths, line);
    unsigned used = 0, width;
    size_t at = row.begin, before = at;
    while (at < row.end) {
        size_t n = next_at(d, widths, at, used, &width);
        if (used + width > col)
            break;
        before = at;
        at += n;
        used += width;
    }
    /* Its end is the next one's begin, where there is no newline between them. */
    return at == row.next && !row.is_last ? before : at;
}

void
tui_draft_put(const struct tui_draft *d, size_t line, struct term_widths *widths,
              struct buf *out)
{
    struct row row = row_by_number(d, widths, line);
    unsigned used = 0, width;
    for (size_t at = row.begin; at < row.end;) {
        size_t n = next_at(d, widths, at, used, &width);
        if (used + width > d->cols)
            break;
        if (d->text.p[at] == '\t')
            buf_printf(out, "%*s", (int)width, "");
        else
            buf_append(out, d->text.p + at, n);
        at += n;
        used += width;
    }
}
