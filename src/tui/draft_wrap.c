/* SPDX-License-Identifier: MIT */
/*
 * draft_wrap.c -- a draft's text in lines of the screen.
 *
 * A line too long is broken behind a blank, or where it must be. Blanks at the break stay
 * where they are and may hang over the edge: there they are not seen. The last column is
 * the cursor's.
 *
 * Where lines begin is noted as they are walked over (d->begins), from the first on, and
 * forgotten from a change on. Without memory for it, it is only slower.
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
row_from(const struct tui_draft *d, struct term_widths *widths, size_t begin)
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

/* -- where they begin -- */

static size_t
known(const struct tui_draft *d)
{
    return d->begins.n / sizeof(size_t);
}

static size_t
begin_of(const struct tui_draft *d, size_t line)
{
    const size_t *begins = (const void *)d->begins.p;
    return line ? begins[line] : 0;
}

/* How many of the lines that are known begin before this place. */
static size_t
known_before(const struct tui_draft *d, size_t at)
{
    size_t low = 0, high = known(d);
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (begin_of(d, mid) < at)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

void
tui_draft_rewrap(struct tui_draft *d, size_t at)
{
    /* What is broken behind a blank may depend on the line that it is broken to. */
    size_t before = known_before(d, at), kept = before > 2 ? before - 2 : 0;
    d->begins.n = kept * sizeof(size_t);
}

static void
note(struct tui_draft *d, size_t line, size_t begin)
{
    if (line == known(d))
        buf_append(&d->begins, &begin, sizeof(begin));
}

/* The line with this number, or the last one: *ret_line tells. */
static struct row
row_by_number(struct tui_draft *d, struct term_widths *widths, size_t line,
              size_t *ret_line)
{
    if (d->begins_cols != d->cols)
        buf_clear(&d->begins);
    d->begins_cols = d->cols;
    note(d, 0, 0);
    size_t i = line < known(d) ? line : known(d) ? known(d) - 1 : 0;
    struct row row = row_from(d, widths, begin_of(d, i));
    for (; i < line && !row.is_last; i++) {
        note(d, i + 1, row.next);
        row = row_from(d, widths, row.next);
    }
    *ret_line = i;
    return row;
}

/* -- lines -- */

size_t
tui_draft_lines(struct tui_draft *d, struct term_widths *widths)
{
    size_t last;
    row_by_number(d, widths, SIZE_MAX, &last);
    return last + 1;
}

void
tui_draft_cursor(struct tui_draft *d, struct term_widths *widths, size_t *ret_line,
                 unsigned *ret_col)
{
    size_t before = d->begins_cols == d->cols ? known_before(d, d->cursor + 1) : 0;
    struct row row = row_by_number(d, widths, before ? before - 1 : 0, ret_line);
    unsigned used = 0, width, last = d->cols ? d->cols - 1 : 0;
    while (d->cursor >= row.next && !row.is_last)
        row = row_by_number(d, widths, *ret_line + 1, ret_line);
    for (size_t at = row.begin; at < d->cursor; used += width)
        at += next_at(d, widths, at, used, &width);
    *ret_col = used < last ? used : last;
}

size_t
tui_draft_place(struct tui_draft *d, struct term_widths *widths, size_t line,
                unsigned col)
{
    struct row row = row_by_number(d, widths, line, &line);
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
tui_draft_put(struct tui_draft *d, size_t line, struct term_widths *widths,
              struct buf *out)
{
    struct row row = row_by_number(d, widths, line, &line);
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
