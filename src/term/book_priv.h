/* SPDX-License-Identifier: MIT */
/* book_priv.h -- what the files of the book do for each other. */
#ifndef TERM_BOOK_PRIV_H
#define TERM_BOOK_PRIV_H

#include "term/book.h"
#include "term/term_priv.h"

/* -- book_peaks.c -- */

void term_book_peaks_release(struct term_book_peaks *p);
/* What was known of rows from this number on is forgotten, and of some before. */
void term_book_peaks_cut(struct term_book_peaks *p, uint64_t number);
/* Takes in the rows that came, lets those go that were dropped. 0 or -ENOMEM. */
int term_book_peaks_update(struct term_book_peaks *p, const struct term_history *h);
uint64_t term_book_row_stamp(const struct term_history *h, uint64_t number);
/* The first row from this number on, which is kept, with a stamp past this one; the
 * history's end: there is none. */
uint64_t term_book_row_past(const struct term_book_peaks *p, const struct term_history *h,
                            uint64_t number, uint64_t stamp);

/* -- book_place.c -- */

/* The row before which a settled line stands. */
uint64_t term_book_place(const struct term_book *b, uint64_t marked);
/* The first settled line that stands at this row or behind it. */
uint64_t term_book_first_at(const struct term_book *b, uint64_t row);
/* Settled lines end before this one. */
void term_book_places_cut(struct term_book *b, uint64_t marked);
/* Once numbers and peaks are current; has_dropped: rows or lines are gone. 0 or -ENOMEM.
 */
int term_book_places_update(struct term_book *b, bool has_dropped);

/* The end of the marked lines before each row of the primary screen. */
static inline uint64_t *
term_book_before(const struct term_book *b)
{
    return (void *)b->before.p;
}

/* -- book_scan.c -- */

/* A piece of a needle, and which two of its bytes are looked for first. */
struct term_probe {
    struct view text;
    bool ignores_case;
    size_t at[2];
};

struct term_probe term_probe(struct view text, bool ignores_case);
/* What may be set in a byte that meets this one. */
uint8_t term_probe_mask(const struct term_probe *p, uint8_t c);
/* Where the text is met first; NULL: nowhere. */
const uint8_t *term_probe_scan(const struct term_probe *p, const uint8_t *at,
                               const uint8_t *end);

/* -- book.c -- */

enum term_book_kind { TERM_BOOK_LINES, TERM_BOOK_MARKED, TERM_BOOK_ALTERNATE };

/* Lines that stand together, of one kind and place. */
struct term_book_part {
    enum term_book_kind kind;
    struct term_row *row;               /* of a screen, alone; NULL: … */
    const struct term_history *history; /* … rows of this */
    uint64_t start, end;                /* numbers in the book */
    uint64_t index;                     /* of the first, in the history */
};

struct term_book_part term_book_part(const struct term_book *b, uint64_t number);

#endif
