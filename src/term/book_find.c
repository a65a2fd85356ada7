/* SPDX-License-Identifier: MIT */
/*
 * book_find.c -- lines that have a text.
 *
 * Rows of the scrollback are not opened for it: the bytes of a page are searched from end
 * to end, heads of rows included, and what is hit is looked at. That finds all there is
 * but for what a row's bytes do not have in one piece: clusters and pads stand with marks
 * of their own, and a wrapped row goes on in the next. Such rows are opened each.
 */
#include <errno.h>

#include "term/book_priv.h"
#include "term/pack_priv.h"

enum { BACK_ROWS = 64 }; /* searched at once when the last hit is wanted */

/* -- lines, one by one -- */

struct finder {
    const struct term_book *book;
    struct term_probe whole;
    struct term_probe piece; /* stands in a row's bytes in one piece */
    struct term_probe rare;  /* so does a single byte; one that few rows have */
    bool is_ascii;
    bool front[256], back[256]; /* bytes that meet one of all but the last, the first */
    struct term_line line;
    struct buf text;
    struct buf *all; /* takes the numbers of all hits; NULL: one is wanted */
    int error;
};

/* A line that has it. Is it the one that was wanted? */
static bool
take(struct finder *f, uint64_t number)
{
    if (f->all && buf_append(f->all, &number, sizeof(number)) < 0)
        f->error = -ENOMEM;
    return !f->all;
}

/* Adds a line's text with what was written at its end. Does it go on in the next? */
static bool
join(struct finder *f, uint64_t number, enum term_book_kind kind)
{
    const struct term_book *b = f->book;
    struct term_line *line = &f->line;
    f->error = term_book_line(b, number, line);
    if (f->error < 0)
        return false;
    buf_append(&f->text, line->text.p, line->text.n);
    if (!line->is_wrapped || number + 1 >= term_book_end(b) ||
        term_book_part(b, number + 1).kind != kind)
        return false;
    for (unsigned i = line->cols; i + line->has_pad < line->row_cols; i++)
        buf_puts(&f->text, " ");
    return true;
}

/* Does the text begin in this line? */
static bool
begins_in(struct finder *f, uint64_t number)
{
    enum term_book_kind kind = term_book_part(f->book, number).kind;
    buf_clear(&f->text);
    bool goes_on = join(f, number, kind);
    size_t n = f->text.n, most = n + f->whole.text.n - 1;
    while (goes_on && f->text.n < most)
        goes_on = join(f, ++number, kind);
    if (f->text.failed)
        f->error = -ENOMEM;
    if (f->error < 0 || !n)
        return false;
    if (f->text.n > most)
        f->text.n = most;
    return term_probe_scan(&f->whole, f->text.p, f->text.p + f->text.n);
}

/* -- rows of a page -- */

/* Rows first..end of a page, as the lines from `number` on. */
struct stretch {
    const struct term_page *page;
    uint32_t first, end;
    uint64_t number;
    bool goes_on; /* the row behind it is the next line, too */
};

/* Where a row begins; as sound pages have it. */
static size_t
row_at(const struct term_page *page, uint32_t i)
{
    uint32_t at;
    if (i >= page->n)
        return page->data.n;
    memcpy(&at, page->offsets.p + (size_t)i * sizeof(at), sizeof(at));
    return at < page->data.n ? at : page->data.n;
}

/* The row from i on that has this byte; often it is near. */
static uint32_t
row_of(const struct stretch *s, uint32_t i, size_t at)
{
    uint32_t low = i, step = 1;
    while (step < s->end - low && row_at(s->page, low + step) <= at) {
        low += step;
        step *= 2;
    }
    uint32_t high = step < s->end - low ? low + step : s->end;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (row_at(s->page, middle) <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* May a row have the text, though not in one piece? */
static bool
may_have(const struct finder *f, const struct term_packed *row)
{
    const uint8_t *p = row->text.p;
    size_t n = row->text.n;
    if (row->is_ascii ||
        (f->rare.text.p[0] != ' ' && !term_probe_scan(&f->rare, p, p + n)))
        return false;
    return memchr(p, TERM_PACKED_CLUSTER, n) || memchr(p, TERM_PACKED_PAD, n);
}

/* The first byte of a row's text, and the last. */
static uint8_t
first_byte(const struct term_packed *row)
{
    struct view text = row->text;
    size_t at = text.n > 1 && text.p[0] == TERM_PACKED_WIDE;
    if (text.n > at + 2 && text.p[at] == TERM_PACKED_CLUSTER)
        at += 2;
    return text.p[at] == TERM_PACKED_PAD ? ' ' : text.p[at];
}

static uint8_t
last_byte(const struct term_packed *row)
{
    struct view text = row->text;
    bool has_pad = text.n > 1 && text.p[text.n - 1] == TERM_PACKED_PAD;
    return text.p[text.n - 1 - has_pad];
}

/* May the text begin at the end of this row, and go on in the next? */
static bool
may_cross(const struct finder *f, const struct stretch *s, uint32_t i,
          const struct term_packed *row)
{
    struct term_packed next;
    if (f->whole.text.n < 2 || (i + 1 == s->end && !s->goes_on))
        return false;
    if (row->text.n && !f->front[last_byte(row)])
        return false;
    return i + 1 >= s->page->n || !term_page_open(s->page, i + 1, &next) ||
           !next.text.n || f->back[first_byte(&next)];
}

/* The next row from i on that cannot be told from its bytes. */
static uint32_t
next_odd(const struct finder *f, const struct stretch *s, uint32_t i, uint32_t end)
{
    const struct term_page *page = s->page;
    for (; i < end; i++) {
        size_t at = row_at(page, i);
        uint8_t flags = at < page->data.n ? page->data.p[at] : 0;
        if ((flags & (TERM_PACKED_IS_ASCII | TERM_PACKED_IS_WRAPPED)) ==
            TERM_PACKED_IS_ASCII)
            continue;
        struct term_packed row;
        if (!term_page_open(page, i, &row))
            continue;
        if ((row.is_wrapped && may_cross(f, s, i, &row)) || may_have(f, &row))
            break;
    }
    return i;
}

/* The text was met at `hit`, in row i. *ret_next is where to look on. */
static bool
is_hit(struct finder *f, const struct stretch *s, uint32_t i, const uint8_t *hit,
       const uint8_t **ret_next)
{
    struct term_packed row;
    *ret_next = s->page->data.p + row_at(s->page, i + 1);
    if (!term_page_open(s->page, i, &row))
        return false;
    if (!row.is_ascii)
        return begins_in(f, s->number + (i - s->first));
    if (!f->is_ascii)
        return false;
    *ret_next = hit + 1;
    size_t n = row.text.n;
    if (!row.is_wrapped || (i + 1 == s->end && !s->goes_on))
        while (n && !(row.text.p[n - 1] & ~0x20))
            n--;
    return hit >= row.text.p && hit + f->whole.text.n <= row.text.p + n;
}

/* The first row of the stretch in which the text begins, or the last one; its end: there
 * is none, or all are taken. */
static uint32_t
find_in(struct finder *f, const struct stretch *s, bool wants_last)
{
    const uint8_t *data = s->page->data.p, *end = data + row_at(s->page, s->end);
    const uint8_t *hit = term_probe_scan(&f->piece, data + row_at(s->page, s->first),
                                         end);
    uint32_t found = s->end, odd = s->first, met = s->first;
    while (f->error >= 0) {
        met = hit ? row_of(s, met, (size_t)(hit - data)) : s->end;
        odd = next_odd(f, s, odd, met);
        uint32_t i = odd < met ? odd : met;
        if (i == s->end)
            break;
        const uint8_t *next = hit;
        bool is_found = odd < met ? begins_in(f, s->number + (i - s->first))
                                  : is_hit(f, s, i, hit, &next);
        if (is_found && take(f, s->number + (i - s->first)))
            found = i;
        if (found == i && !wants_last)
            break;
        if (is_found && next != hit)
            next = data + row_at(s->page, i + 1);
        if (is_found || odd < met)
            odd = i + 1;
        if (next != hit)
            hit = term_probe_scan(&f->piece, next, end);
    }
    return found;
}

/* -- lines of the book -- */

/* Lines from..to, which are of this part. */
static bool
find_in_part(struct finder *f, const struct term_book_part *part, uint64_t from,
             uint64_t to, bool is_back, uint64_t *ret)
{
    while (from < to && f->error >= 0) {
        uint64_t index = part->index + ((is_back ? to - 1 : from) - part->start);
        const struct term_page *page = term_history_page(part->history, index);
        uint64_t first = index, end = index + 1;
        if (is_back)
            first = index - page->start > BACK_ROWS ? index - BACK_ROWS : page->start;
        else
            end = page->start + page->n;
        /* As numbers of the book. */
        uint64_t shift = part->start - part->index;
        first = first + shift > from ? first + shift : from;
        end = end + shift < to ? end + shift : to;
        struct stretch s = {
            .page = page,
            .first = (uint32_t)(first - shift - page->start),
            .end = (uint32_t)(end - shift - page->start),
            .number = first,
            .goes_on = end < term_book_end(f->book) &&
                       term_book_part(f->book, end).kind == part->kind,
        };
        uint32_t i = find_in(f, &s, is_back);
        *ret = first + (i - s.first);
        if (i < s.end)
            return f->error >= 0;
        if (is_back)
            to = first;
        else
            from = end;
    }
    return false;
}

/* Among lines from..to. */
static bool
find_among(struct finder *f, uint64_t from, uint64_t to, bool is_back, uint64_t *ret)
{
    while (from < to && f->error >= 0) {
        struct term_book_part part = term_book_part(f->book, is_back ? to - 1 : from);
        uint64_t start = part.start > from ? part.start : from;
        uint64_t end = part.end < to ? part.end : to;
        *ret = start;
        if (part.row ? begins_in(f, start) && take(f, start)
                     : find_in_part(f, &part, start, end, is_back, ret))
            return true;
        if (is_back)
            to = start;
        else
            from = end;
    }
    return false;
}

/* The longest piece of a text in which no mark can stand: one of these stands before a
 * wide character. */
static struct view
longest_piece(struct view text)
{
    struct view best = { 0 };
    for (size_t start = 0, end; start < text.n; start = end) {
        for (end = start + 1; end < text.n && text.p[end] < 0xc0;)
            end++;
        if (end - start > best.n)
            best = (struct view){ text.p + start, end - start };
    }
    return best;
}

static void
prepare(struct finder *f, const struct term_needle *needle)
{
    struct view text = needle->text;
    f->whole = term_probe(text, needle->ignores_case);
    f->piece = term_probe(longest_piece(text), needle->ignores_case);
    f->rare = term_probe((struct view){ text.p + f->whole.at[0], text.n > 0 },
                         needle->ignores_case);
    f->text.ceiling = SIZE_MAX / 2;
    f->is_ascii = true;
    for (size_t i = 0; i < text.n; i++) {
        uint8_t mask = term_probe_mask(&f->whole, text.p[i]), c = text.p[i] | mask;
        f->is_ascii &= c < 0x80;
        if (i + 1 < text.n)
            f->front[c] = f->front[c & ~mask] = true;
        if (i)
            f->back[c] = f->back[c & ~mask] = true;
    }
}

static void
release(struct finder *f)
{
    term_line_release(&f->line);
    buf_release(&f->text);
}

int
term_book_find(const struct term_book *b, const struct term_needle *needle, uint64_t from,
               bool is_back, uint64_t max_lines, uint64_t *ret)
{
    struct finder f = { .book = b };
    uint64_t first = term_book_first(b), end = term_book_end(b), line = 0;
    if (is_back && from + 1 == first) { /* it has ended */
        *ret = from;
        return 0;
    }
    if (from < first)
        from = first;
    if (from >= end)
        from = is_back ? end - 1 : end;
    uint64_t start = from, stop; /* lines start..stop */
    if (is_back) {
        stop = from + 1;
        start = stop - first > max_lines ? stop - max_lines : first;
    } else {
        stop = end - from < max_lines ? end : from + max_lines;
    }
    prepare(&f, needle);
    bool is_found = needle->text.n && find_among(&f, start, stop, is_back, &line);
    release(&f);
    if (f.error < 0)
        return -ENOMEM;
    *ret = is_found ? line : is_back ? start - 1 : stop;
    return is_found;
}

int
term_book_find_all(const struct term_book *b, const struct term_needle *needle,
                   uint64_t from, uint64_t to, struct buf *ret)
{
    struct finder f = { .book = b, .all = ret };
    uint64_t first = term_book_first(b), end = term_book_end(b), line;
    if (!needle->text.n)
        return 0;
    prepare(&f, needle);
    find_among(&f, from > first ? from : first, to < end ? to : end, false, &line);
    release(&f);
    return f.error < 0 ? -ENOMEM : 0;
}
