/* SPDX-License-Identifier: MIT */
/*
 * book_place.c -- where the marked lines of the alternate screen stand among the rows.
 *
 * As in lines.c such a line comes before the first row, from the place of the marked line
 * before it on, that was not written earlier. A place is settled once that row is in the
 * scrollback, as nothing changes there; those among the rows of the screen are found anew
 * each time.
 */
#include <errno.h>

#include "term/book_priv.h"

/* -- among the scrollback -- */

uint64_t
term_book_place(const struct term_book *b, uint64_t marked)
{
    const uint64_t *places = (const void *)b->places.p;
    uint64_t at = places[marked - b->places_first];
    return at > b->dropped ? at : b->dropped;
}

uint64_t
term_book_first_at(const struct term_book *b, uint64_t row)
{
    uint64_t low = b->marked_dropped, high = b->settled;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (term_book_place(b, middle) < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void
term_book_places_cut(struct term_book *b, uint64_t marked)
{
    b->settled = marked;
    b->places.n = (size_t)(marked - b->places_first) * sizeof(uint64_t);
}

static void
drop_places(struct term_book *b)
{
    if (b->settled <= b->marked_dropped) {
        b->places.n = 0;
        b->settled = b->places_first = b->marked_dropped;
        return;
    }
    /* Not each time: a full history drops lines all the time. */
    size_t gone = (size_t)(b->marked_dropped - b->places_first) * sizeof(uint64_t);
    if (gone * 2 < b->places.n)
        return;
    b->places.n -= gone;
    memmove(b->places.p, b->places.p + gone, b->places.n);
    b->places_first = b->marked_dropped;
}

/* The first row from `row` on that was not written before a marked line. */
static uint64_t
row_for(const struct term_book *b, uint64_t marked, uint64_t row)
{
    uint64_t stamp = term_book_row_stamp(&b->term->marked, marked);
    return stamp ? term_book_row_past(&b->lines, &b->term->scrollback, row, stamp - 1)
                 : row;
}

/* Rows or lines were dropped: what stood before a row that is gone, or behind a line that
 * is, may stand elsewhere. As soon as one keeps its place, all behind it do. */
static void
place_first_anew(struct term_book *b)
{
    const struct term *t = b->term;
    uint64_t marked = b->marked_dropped, row = b->dropped;
    bool has_moved = false;
    if (row == b->line_end) {
        term_book_places_cut(b, marked);
        return;
    }
    uint64_t top_end = term_book_first_at(b, row + 1);
    if (top_end > marked) {
        marked = term_book_row_past(&b->marked, &t->marked, marked,
                                    term_book_row_stamp(&t->scrollback, row));
        if (marked >= top_end)
            return;
    }
    for (; marked < b->settled; marked++) {
        uint64_t *at = (uint64_t *)(void *)b->places.p + (marked - b->places_first);
        row = row_for(b, marked, row);
        if (row == *at)
            break;
        has_moved = true;
        if (row == b->line_end)
            term_book_places_cut(b, marked);
        else
            *at = row;
    }
    b->edition += has_moved;
}

static int
settle(struct term_book *b)
{
    uint64_t row = b->settled > b->marked_dropped ? term_book_place(b, b->settled - 1)
                                                  : b->dropped;
    for (; b->settled < b->marked_end; b->settled++) {
        row = row_for(b, b->settled, row);
        if (row >= b->line_end)
            break;
        if (buf_append(&b->places, &row, sizeof(row)) < 0)
            return -ENOMEM;
    }
    return 0;
}

/* -- among the screen's rows -- */

/* Rows with text, and those above the cursor. */
static unsigned
rows_in_use(const struct term *t, const struct term_screen *s)
{
    unsigned n = t->rows, above = s == t->screen ? t->at.row : s->saved.row;
    while (n > above && !term_row_length(s->rows[n - 1]))
        n--;
    return n;
}

static int
place_in_screen(struct term_book *b)
{
    const struct term *t = b->term;
    uint64_t marked = b->settled;
    b->n_rows = rows_in_use(t, &t->screens[0]);
    b->n_alternate = term_is_alternate(t) ? rows_in_use(t, &t->screens[1]) : 0;
    buf_clear(&b->before);
    if (!buf_grow(&b->before, b->n_rows * sizeof(uint64_t)))
        return -ENOMEM;
    for (unsigned y = 0; y < b->n_rows; y++) {
        marked = term_book_row_past(&b->marked, &t->marked, marked,
                                    t->screens[0].rows[y]->stamp);
        term_book_before(b)[y] = marked;
    }
    return 0;
}

int
term_book_places_update(struct term_book *b, bool has_dropped)
{
    drop_places(b);
    if (has_dropped)
        place_first_anew(b);
    int e = settle(b);
    return e < 0 ? e : place_in_screen(b);
}
