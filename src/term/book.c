/* SPDX-License-Identifier: MIT */
/*
 * book.c -- which line of a model has which number.
 *
 * Rows of the scrollback and of the primary screen are numbered by the history, from the
 * very first on; marked lines likewise, apart. In the book a row has its own number plus
 * that of marked lines before it, and a marked line its own plus the place of the row it
 * stands before. So all there is to know is the places of marked lines (book_place.c).
 */
#include "term/book.h"

#include <errno.h>

#include "term/book_priv.h"

void
term_book_release(struct term_book *b)
{
    buf_release(&b->places);
    buf_release(&b->before);
    term_book_peaks_release(&b->lines);
    term_book_peaks_release(&b->marked);
    *b = (struct term_book){ .edition = b->edition };
}

/* -- keeping up -- */

/* Is it the model that is known, with nothing but rows added, dropped and taken back? */
static bool
is_known(const struct term_book *b, const struct term *t)
{
    const struct term_history *h = &t->scrollback;
    if (b->term != t || b->numbered != h->edition || t->byte_off < b->byte_off ||
        h->dropped < b->dropped || h->popped < b->popped ||
        t->marked.dropped < b->marked_dropped || t->marked.end < b->marked_end)
        return false;
    /* Another one may have been made where the last one was. */
    return h->popped != b->popped || b->line_end <= h->dropped ||
           (b->line_end <= h->end && term_book_row_stamp(h, b->line_end - 1) == b->stamp);
}

/* Rows that the screen has taken back since may be others now. */
static void
forget_popped(struct term_book *b, const struct term *t)
{
    uint64_t n = t->scrollback.popped - b->popped;
    uint64_t kept = n < b->line_end ? b->line_end - n : 0;
    if (!n)
        return;
    term_book_peaks_cut(&b->lines, kept);
    term_book_places_cut(b, term_book_first_at(b, kept));
    b->line_end = kept;
}

/* Lines that are dropped now: what stood above the last of them, and is kept, moves. What
 * is settled, and stood below it, stays. */
static void
note_same(struct term_book *b, const struct term *t)
{
    uint64_t gone = t->marked.dropped;
    b->same_from = 0;
    b->same_to = b->line_end + b->settled;
    if (gone > b->settled)
        b->same_from = b->same_to;
    else if (gone > b->marked_dropped)
        b->same_from = term_book_place(b, gone - 1) + gone;
}

/* Rows that are dropped: lines that stood before one of them stand at the first now. */
static void
keep_same(struct term_book *b, bool has_dropped)
{
    uint64_t from = term_book_first(b);
    if (has_dropped)
        from = b->dropped + term_book_first_at(b, b->dropped + 1);
    if (b->same_from < from)
        b->same_from = from;
    if (b->dropped == b->line_end || b->same_to < b->same_from)
        b->same_to = b->same_from;
}

static void
begin(struct term_book *b, const struct term *t)
{
    uint32_t edition = b->edition;
    if (is_known(b, t)) {
        forget_popped(b, t);
        note_same(b, t);
    } else {
        term_book_release(b);
        b->edition = edition + 1;
    }
    b->term = t;
    b->places.ceiling = SIZE_MAX / 2;
    b->numbered = t->scrollback.edition;
    b->popped = t->scrollback.popped;
    b->byte_off = t->byte_off;
}

static int
keep_up(struct term_book *b)
{
    const struct term *t = b->term;
    bool has_dropped = b->dropped != t->scrollback.dropped ||
                       b->marked_dropped != t->marked.dropped;
    b->dropped = t->scrollback.dropped;
    b->line_end = t->scrollback.end;
    b->marked_dropped = t->marked.dropped;
    b->marked_end = t->marked.end;
    b->stamp = b->line_end > b->dropped
                   ? term_book_row_stamp(&t->scrollback, b->line_end - 1)
                   : 0;
    if (term_book_peaks_update(&b->lines, &t->scrollback) < 0 ||
        term_book_peaks_update(&b->marked, &t->marked) < 0)
        return -ENOMEM;
    int e = term_book_places_update(b, has_dropped);
    keep_same(b, has_dropped);
    return e;
}

int
term_book_update(struct term_book *b, const struct term *t)
{
    begin(b, t);
    int e = keep_up(b);
    if (e < 0) {
        term_book_release(b);
        b->edition++;
    }
    return e;
}

/* -- lines -- */

static uint64_t
row_number(const struct term_book *b, uint64_t row)
{
    return row + (row < b->line_end ? term_book_first_at(b, row + 1)
                                    : term_book_before(b)[row - b->line_end]);
}

uint64_t
term_book_first(const struct term_book *b)
{
    return b->dropped + b->marked_dropped;
}

/* Where the rows of the alternate screen begin. */
static uint64_t
alternate_start(const struct term_book *b)
{
    return b->line_end + b->n_rows + b->marked_end;
}

uint64_t
term_book_end(const struct term_book *b)
{
    return alternate_start(b) + b->n_alternate;
}

uint64_t
term_book_screen(const struct term_book *b)
{
    if (!b->term || term_is_alternate(b->term) || !b->n_rows)
        return alternate_start(b);
    return row_number(b, b->line_end);
}

static struct term_book_part
marked_part(const struct term_book *b, uint64_t from, uint64_t to, uint64_t row)
{
    return (struct term_book_part){
        .kind = TERM_BOOK_MARKED,
        .history = &b->term->marked,
        .start = row + from,
        .end = row + to,
        .index = from,
    };
}

static struct term_book_part
row_part(enum term_book_kind kind, struct term_row *row, uint64_t number)
{
    return (struct term_book_part){
        .kind = kind, .row = row, .start = number, .end = number + 1
    };
}

/* Among the rows of the primary screen. */
static struct term_book_part
screen_part(const struct term_book *b, uint64_t number)
{
    uint64_t low = 0, high = b->n_rows; /* the first row behind it */
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (row_number(b, b->line_end + middle) <= number)
            low = middle + 1;
        else
            high = middle;
    }
    uint64_t from = low ? term_book_before(b)[low - 1] : b->settled;
    uint64_t to = low < b->n_rows ? term_book_before(b)[low] : b->marked_end;
    if (!low || row_number(b, b->line_end + low - 1) < number)
        return marked_part(b, from, to, b->line_end + low);
    return row_part(TERM_BOOK_LINES, b->term->screens[0].rows[low - 1], number);
}

struct term_book_part
term_book_part(const struct term_book *b, uint64_t number)
{
    if (number >= alternate_start(b))
        return row_part(TERM_BOOK_ALTERNATE,
                        b->term->screens[1].rows[number - alternate_start(b)], number);
    if (number >= b->line_end + b->settled)
        return screen_part(b, number);
    uint64_t low = b->marked_dropped, high = b->settled; /* the first line behind it */
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (term_book_place(b, middle) + middle <= number)
            low = middle + 1;
        else
            high = middle;
    }
    uint64_t row = low > b->marked_dropped ? term_book_place(b, low - 1) : b->dropped;
    if (low > b->marked_dropped && row + low - 1 == number)
        return marked_part(b, term_book_first_at(b, row), term_book_first_at(b, row + 1),
                           row);
    return (struct term_book_part){
        .kind = TERM_BOOK_LINES,
        .history = &b->term->scrollback,
        .start = row + low,
        .end = (low < b->settled ? term_book_place(b, low) : b->line_end) + low,
        .index = row,
    };
}

int
term_book_line(const struct term_book *b, uint64_t number, struct term_line *line)
{
    struct term_book_part part = term_book_part(b, number);
    struct term_packed packed;
    int e;
    if (part.row) {
        e = term_line_from_row(b->term, part.row, line);
    } else {
        uint64_t index = part.index + (number - part.start);
        term_history_open(part.history, (size_t)(index - part.history->dropped), &packed);
        e = term_line_from_packed(&packed, line);
    }
    line->is_alternate = part.kind != TERM_BOOK_LINES;
    return e;
}

uint64_t
term_book_stamp(const struct term_book *b, uint64_t number)
{
    struct term_book_part part = term_book_part(b, number);
    if (part.row)
        return part.row->stamp;
    return term_book_row_stamp(part.history, part.index + (number - part.start));
}

/* -- by stamp -- */

static unsigned
screen_past(struct term_row **rows, unsigned n, uint64_t byte_off)
{
    unsigned y = 0;
    while (y < n && rows[y]->stamp <= byte_off)
        y++;
    return y;
}

uint64_t
term_book_past(const struct term_book *b, uint64_t byte_off)
{
    const struct term *t = b->term;
    if (!t)
        return term_book_end(b);
    uint64_t row = term_book_row_past(&b->lines, &t->scrollback, b->dropped, byte_off);
    if (row == b->line_end)
        row += screen_past(t->screens[0].rows, b->n_rows, byte_off);
    uint64_t marked = term_book_row_past(&b->marked, &t->marked, b->marked_dropped,
                                         byte_off);
    uint64_t past = alternate_start(b) +
                    screen_past(t->screens[1].rows, b->n_alternate, byte_off);
    if (row < b->line_end + b->n_rows)
        past = row_number(b, row);
    if (marked < b->settled && term_book_place(b, marked) + marked < past)
        past = term_book_place(b, marked) + marked;
    if (marked < b->settled || marked == b->marked_end)
        return past;
    unsigned y = 0;
    while (y < b->n_rows && term_book_before(b)[y] <= marked)
        y++;
    return b->line_end + y + marked < past ? b->line_end + y + marked : past;
}
