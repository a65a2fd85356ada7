/* SPDX-License-Identifier: MIT */
/*
 * history_priv.h -- rows that left a screen, packed.
 *
 * They lie in pages, oldest first. A page holds all that its rows need: text as bytes,
 * runs of styles by number, each style and link once a page, stamps as differences. So a
 * page comes and goes as a whole, and nothing outside needs to know what is in it.
 *
 * A packed row: flags (one byte), then as varints the number of cells, the stamp's
 * distance to the page's first (zigzag), the size of the text unless it is ASCII, the
 * style unless it is the default or there are runs; the text; the runs (cells, style) up
 * to the number of cells. In the text 0 is a blank cell and these stand before a cell:
 * 1 wide, 2 cluster (its size follows), 3 pad; tails are left out.
 */
#ifndef TERM_HISTORY_PRIV_H
#define TERM_HISTORY_PRIV_H

#include "term/row_priv.h"
#include "term/tables_priv.h"

struct term_page_style {
    uint32_t fg, bg;
    uint16_t attrs;
    uint16_t extra; /* which of the extras it has besides, plus 1; 0: none */
};

/* What few styles have. */
struct term_page_extra {
    uint32_t underline_colour;
    uint32_t uri; /* where it begins in uris, plus 1; 0: none */
};

struct term_page {
    struct buf data;    /* packed rows */
    struct buf offsets; /* of uint32_t: where each row begins */
    struct buf styles;  /* of struct term_page_style; the default is not among them */
    struct buf extras;  /* of struct term_page_extra */
    struct buf uris;    /* each with its NUL */
    uint64_t stamp;     /* of the first row */
    uint64_t start;     /* number of the first row, counted from the very first */
    uint32_t serial;
    size_t counted;  /* what of it is in the history's bytes */
    uint32_t n;      /* rows */
    uint32_t widest; /* row, in cells */
    bool has_wrapped;
};

struct term_history {
    struct term_page **pages; /* pages[first .. first + n) */
    size_t first, n, cap;
    uint64_t dropped; /* rows that went because of the ceiling */
    uint64_t end;     /* number of the row to come */
    uint64_t popped;  /* how often the newest row was taken back */
    uint32_t edition; /* how often all rows were numbered anew */
    uint32_t ceiling; /* rows; for each a KiB, and some more, at most */
    size_t bytes;     /* of the pages that are full */
    bool is_held;     /* no row goes because of its bytes */
    bool is_sealed;   /* the next row begins a page */
    int error;        /* -ENOMEM once a row could not be kept */
};

/* A packed row, opened. */
struct term_packed {
    const struct term_page *page;
    bool is_wrapped, is_ascii;
    uint32_t cells;
    uint64_t stamp;
    struct view text;
    struct view runs; /* empty: all cells have this style: */
    uint32_t style;   /* page's number, 0: default */
};

void term_history_release(struct term_history *h);
/* Forgets all rows; numbers go on. */
void term_history_clear(struct term_history *h);

static inline size_t
term_history_count(const struct term_history *h)
{
    return (size_t)(h->end - h->dropped);
}

void term_history_push(struct term_history *h, struct term_tables *tables,
                       const struct term_row *row);
/* Takes a whole page in, unchanged; it is ours then. False: no memory, it is lost. */
bool term_history_push_page(struct term_history *h, struct term_page *page);
/* Takes the oldest page out. NULL when there is none. */
struct term_page *term_history_take_page(struct term_history *h);
void term_page_free(struct term_page *page);
/* Down to the ceiling. */
void term_history_trim(struct term_history *h);

/* The page that has the row with this number, which is kept. */
const struct term_page *term_history_page(const struct term_history *h, uint64_t number);
/* The i-th row, i below the count. */
void term_history_open(const struct term_history *h, size_t i, struct term_packed *ret);
/* The i-th row of a page. False when its bytes are not sound (a page from outside). */
bool term_page_open(const struct term_page *page, uint32_t i, struct term_packed *ret);
/* Cells again, in a row that was cleared. */
bool term_packed_to_row(const struct term_packed *packed, struct term_tables *tables,
                        struct term_row *row);
/* Forgets the newest row. */
void term_history_pop(struct term_history *h);

/* Walks the runs: false at the end. */
struct term_run {
    uint32_t start, end; /* columns */
    uint32_t style;      /* page's number */
    size_t pos;
};
bool term_packed_next_run(const struct term_packed *packed, struct term_run *run);
/* The style with the page's number, and its link or NULL. */
struct term_style term_page_style(const struct term_page *page, uint32_t id,
                                  const char **ret_uri);

/* Walks the text: false at the end. */
struct term_packed_cell {
    uint32_t flags;   /* TERM_CELL_WIDE, TERM_CELL_PAD */
    struct view text; /* UTF-8; empty: blank */
    size_t pos;
};
bool term_packed_next_cell(const struct term_packed *packed,
                           struct term_packed_cell *cell);

#endif
