/* SPDX-License-Identifier: MIT */
/*
 * plain.c -- which lines to print, and when.
 *
 * The rows of the primary screen are remembered by their numbers (term_lines_from()), so
 * that they are known again when the screen scrolls. Where only some rows scroll, numbers
 * do not follow the lines; then a line is known by its text and stamp, which such a
 * scroll leaves as they are. What slips through both is printed twice, never left out.
 */
#include "play/plain.h"

#include <errno.h>
#include <stdlib.h>

enum { KNOWN = 1 << 14 }; /* a power of two */

enum mode {
    LOOK,
    SKIP,    /* nothing is printed, and all that is there counts as printed */
    RESIZED, /* … if its stamp does: the text was wrapped anew */
    END,
};

struct look {
    struct play_plain *p;
    enum mode mode;
    uint64_t number;   /* of the next line of the primary screen */
    uint64_t top;      /* of the screen's first row */
    uint64_t left_to;  /* rows before it are above the cursor */
    bool is_elsewhere; /* on the alternate screen: what is on this one stays as it is */
};

void
play_plain_release(struct play_plain *p)
{
    for (unsigned i = 0; p->row && i < p->rows; i++)
        buf_release(&p->row[i].text);
    free(p->row);
    free(p->known);
    p->row = NULL;
    p->known = NULL;
}

/* -- what is known -- */

static uint64_t
mix(uint64_t v)
{
    v ^= v >> 32;
    v *= 0x9e3779b97f4a7c15U;
    return v ^ v >> 29;
}

static uint64_t
stamp_key(const struct term_line *line)
{
    return mix(line->last_write_byte + 1);
}

static uint64_t
text_key(const struct term_line *line)
{
    uint64_t hash = 0xcbf29ce484222325U; /* FNV-1a */
    for (size_t i = 0; i < line->text.n; i++)
        hash = (hash ^ line->text.p[i]) * 0x100000001b3U;
    return mix(hash ^ stamp_key(line));
}

static bool
is_known(const struct play_plain *p, uint64_t key)
{
    return p->known[key & (KNOWN - 1)] == key;
}

/* Two rows that were one, before a new width, have the same stamp: that the first was
 * printed says nothing of the other. */
static void
know(const struct look *l, const struct term_line *line)
{
    uint64_t by_stamp = stamp_key(line), by_text = text_key(line);
    if (l->mode != RESIZED)
        l->p->known[by_stamp & (KNOWN - 1)] = by_stamp;
    l->p->known[by_text & (KNOWN - 1)] = by_text;
}

static int
mark(const struct look *l, struct play_plain_row *row, const struct term_line *line)
{
    know(l, line);
    row->is_printed = true;
    buf_clear(&row->text);
    return buf_append(&row->text, line->text.p, line->text.n);
}

/* -- one line -- */

static int
print(struct play_plain *p, const struct term_line *line)
{
    int e = 0;
    if (!line->text.n) {
        p->blank_lines++;
        return 0;
    }
    for (; p->blank_lines && !e; p->blank_lines--)
        e = p->print(p->ctx, (struct view){ NULL, 0 });
    return e ? e : p->print(p->ctx, (struct view){ line->text.p, line->text.n });
}

/* Is there nothing about this line that was not printed? */
static bool
is_settled(const struct look *l, const struct play_plain_row *row,
           const struct term_line *line)
{
    size_t n = line->text.n;
    if (l->mode == SKIP || (!n && (row->is_printed || l->mode == RESIZED)))
        return true;
    if (row->is_printed && row->text.n == n && !memcmp(row->text.p, line->text.p, n))
        return true;
    if (n && is_known(l->p, text_key(line)))
        return true;
    return l->mode == RESIZED && is_known(l->p, stamp_key(line));
}

/* A row of the screen that the cursor has not left. A line that was erased is over: what
 * is written there next is a new one. */
static void
look_below(struct look *l, struct play_plain_row *row, uint64_t number,
           const struct term_line *line)
{
    if (l->mode != LOOK) {
        if (is_settled(l, row, line))
            know(l, line);
    } else if (!line->text.n || (number == l->left_to && !is_settled(l, row, line))) {
        row->is_printed = false;
    }
}

static int
take_row(struct look *l, const struct term_line *line)
{
    uint64_t number = l->number++;
    struct play_plain_row *row = &l->p->row[number % l->p->rows];
    bool is_gone = number < l->top;
    if (!is_gone && l->mode != END) {
        if (number >= l->left_to && !l->is_elsewhere)
            look_below(l, row, number, line);
        if (number >= l->left_to || row->is_printed)
            return 0;
    }
    int e = is_settled(l, row, line) ? 0 : print(l->p, line);
    if (!e && !is_gone)
        return mark(l, row, line);
    know(l, line);
    row->is_printed = false;
    return e;
}

/* A term_line_fn; ctx is the look. */
static int
take_line(void *ctx, const struct term_line *line)
{
    struct look *l = ctx;
    return line->is_alternate ? print(l->p, line) : take_row(l, line);
}

/* -- all of them -- */

static int
fit(struct play_plain *p, unsigned rows)
{
    struct play_plain_row *row = calloc(rows, sizeof(*row));
    if (!p->known)
        p->known = calloc(KNOWN, sizeof(p->known[0]));
    if (!row || !p->known) {
        free(row);
        return -ENOMEM;
    }
    for (unsigned i = 0; p->row && i < p->rows; i++)
        buf_release(&p->row[i].text);
    free(p->row);
    p->row = row;
    p->rows = rows;
    return 0;
}

/* A new size has put lines into the scrollback that were on the screen before it, and
 * what was fed since may have scrolled more of them there: the first that could be one.
 */
static uint64_t
first_after_resize(const struct play_plain *p, const struct term *t)
{
    AUTO(term_line) line = { 0 };
    size_t i = term_scrollback_count(t);
    uint64_t most = (uint64_t)p->rows * (p->cols / term_cols(t) + 1);
    for (; i && most && !term_line_at(t, i - 1, &line); i--)
        most -= line.last_write_byte <= p->byte_off;
    return term_scrollback_dropped(t) + i;
}

static int
begin(struct look *l, const struct term *t, struct term_line_numbers now)
{
    struct play_plain *p = l->p;
    unsigned cols = term_cols(t), rows = term_rows(t);
    bool is_first = !p->row;
    if (is_first || p->cols != cols || p->rows != rows) {
        uint64_t first = is_first ? p->from.line : first_after_resize(p, t);
        int e = fit(p, rows);
        if (e < 0)
            return e;
        p->from.line = first;
        p->cols = cols;
        if (!is_first && l->mode == LOOK)
            l->mode = RESIZED;
    }
    if (l->mode == SKIP)
        p->from = now;
    uint64_t dropped = term_scrollback_dropped(t);
    l->number = p->from.line > dropped ? p->from.line : dropped;
    l->top = now.line;
    l->is_elsewhere = term_modes(t).is_alternate;
    l->left_to = now.line + (l->is_elsewhere ? 0 : term_cursor(t).row);
    return 0;
}

/* Rows behind the last line that has a text. */
static void
forget_blank(const struct look *l)
{
    uint64_t number = l->number > l->left_to ? l->number : l->left_to;
    for (; number < l->top + l->p->rows; number++)
        l->p->row[number % l->p->rows].is_printed = false;
}

static int
look(struct play_plain *p, const struct term *t, uint64_t byte_off, enum mode mode)
{
    struct term_line_numbers now = term_line_numbers(t);
    struct look l = { .p = p, .mode = mode };
    bool is_first = !p->row;
    int e = begin(&l, t, now);
    if (e < 0)
        return e;
    if (l.mode == LOOK && !is_first && now.line == p->from.line &&
        now.marked == p->from.marked && l.left_to == p->left_to) {
        p->byte_off = byte_off;
        return 0; /* the usual one: something on the cursor's line has changed */
    }
    e = term_lines_from(t, p->from, mode == END, take_line, &l);
    if (l.mode == LOOK && !l.is_elsewhere)
        forget_blank(&l);
    p->from = now;
    p->left_to = l.left_to;
    p->byte_off = byte_off;
    return e;
}

int
play_plain_skip(struct play_plain *p, const struct term *t, uint64_t byte_off)
{
    return look(p, t, byte_off, SKIP);
}

int
play_plain_look(struct play_plain *p, const struct term *t, uint64_t byte_off)
{
    return look(p, t, byte_off, LOOK);
}

int
play_plain_end(struct play_plain *p, const struct term *t, uint64_t byte_off)
{
    int e = look(p, t, byte_off, LOOK);
    return e ? e : look(p, t, byte_off, END);
}
