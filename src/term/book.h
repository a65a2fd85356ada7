/* SPDX-License-Identifier: MIT */
/*
 * book.h -- the lines of a model by their number: what a pager leafs through.
 *
 * The final lines of term.h in their order, with every one at hand at once. While the
 * alternate screen is on, its rows come last, as they stand. Blank rows at the end are
 * left out, but for those above the cursor.
 *
 * A line's number is stable while rows are added below it, and while old ones are dropped
 * above: numbers begin at term_book_first(). Marked lines of the alternate screen have a
 * ceiling of their own: where rows go below one that is kept, what is above moves down to
 * close up: `same_from` tells. A new width numbers all anew, and so does another model:
 * `edition` tells.
 */
#ifndef TERM_BOOK_H
#define TERM_BOOK_H

#include "term/term.h"

/* Where in a history to look for a stamp: the largest one of each block of rows. */
struct term_book_peaks {
    struct buf blocks;    /* of uint64_t */
    uint64_t first_block; /* whose it is that stands first */
    uint64_t end;         /* rows before it are in them */
};

/* Zeroed it is empty and ready for use. */
struct term_book {
    const struct term *term; /* borrowed */
    uint32_t edition;        /* grows when numbers mean other lines than before */
    /* If it has not, at the last update these were as they had been, under their numbers;
     * lines before them may have moved down, those behind may be new, or others. */
    uint64_t same_from, same_to;
    /* private, see book.c: */
    uint32_t numbered;                   /* the scrollback's edition … */
    uint64_t popped;                     /* … and how many rows it had taken back */
    uint64_t byte_off, stamp;            /* of the model, of the scrollback's last row */
    uint64_t dropped, line_end;          /* numbers of the scrollback's rows */
    uint64_t marked_dropped, marked_end; /* … and of the marked lines */
    uint64_t settled;             /* marked lines before it stand among the scrollback */
    unsigned n_rows, n_alternate; /* of the screens that are in the book */
    struct buf places;     /* uint64_t: before which row a settled line stands … */
    uint64_t places_first; /* … from this one on */
    struct buf before; /* uint64_t: marked lines before each row of the primary screen */
    struct term_book_peaks lines, marked;
};

void term_book_release(struct term_book *b);
/* The model was fed, or it is another one. What it costs is what has come since. 0 or
 * -ENOMEM: it is empty then. All other calls are for the model as it was then. */
int term_book_update(struct term_book *b, const struct term *t);

/* Lines are first .. end - 1. */
uint64_t term_book_first(const struct term_book *b);
uint64_t term_book_end(const struct term_book *b);
/* The top row of the screen in use; the lines from there on may still change. */
uint64_t term_book_screen(const struct term_book *b);
/* For reading. 0 or -ENOMEM. */
int term_book_line(const struct term_book *b, uint64_t number, struct term_line *line);
/* Its last_write_byte; cheap. */
uint64_t term_book_stamp(const struct term_book *b, uint64_t number);
/* The first line that was written past this byte, so that what is anchored there stands
 * before it, as in reports (play/merge_priv.h); end: there is none. */
uint64_t term_book_past(const struct term_book *b, uint64_t byte_off);

/* A text that lines are searched for: UTF-8, not empty. */
struct term_needle {
    struct view text;  /* borrowed */
    bool ignores_case; /* of ASCII letters */
};

/* The first line from `from` on (is_back: the last one up to it) that has the text; it
 * may begin in one and go on in the next where a row is wrapped: then it is the one in
 * which it begins. Looks at no more than max_lines. 1: *ret has it; 0: not there, and
 * *ret is where to go on (is_back: may be first - 1, which then ends it); or -ENOMEM. */
int term_book_find(const struct term_book *b, const struct term_needle *needle,
                   uint64_t from, bool is_back, uint64_t max_lines, uint64_t *ret);
/* Appends the number of each line from .. to - 1 that has it, as uint64_t: cheaper than
 * one by one. 0 or -ENOMEM, which is also that the ceiling of `ret` was met. */
int term_book_find_all(const struct term_book *b, const struct term_needle *needle,
                       uint64_t from, uint64_t to, struct buf *ret);
/* The next place of the needle in one line's text from byte `at` on; false: none. */
bool term_needle_next(const struct term_needle *needle, struct view text, size_t at,
                      size_t *ret_start, size_t *ret_end);

#endif
