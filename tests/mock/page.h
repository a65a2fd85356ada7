/* SPDX-License-Identifier: MIT */
/*
 * page.h -- what the mock agent draws, and what it knows of it.
 *
 * Bytes for a terminal are gathered and written by page_flush(). Beside them the page
 * keeps the text that they leave behind: rows above, which nothing changes any more, and
 * the region at the bottom, which is drawn again and again. This is the agent's own
 * bookkeeping, for the few things that it does; it is no terminal, and shares nothing
 * with the one in src/term. It holds as long as the terminal keeps its size.
 */
#ifndef PAGE_H
#define PAGE_H

#include <stdbool.h>

#include "base/buf.h"

enum { PAGE_REGION_MAX = 12, PAGE_COLS_MAX = 10000 };

struct cell {
    uint8_t n;     /* bytes of text; 0: blank, or the right half of what is before it */
    uint8_t width; /* columns; 0: such a right half */
    char text[6];
};

struct page {
    unsigned cols, rows;
    unsigned resizes;
    struct buf out;       /* not yet written */
    uint64_t total_bytes; /* written */
    int copy_fd;          /* gets the same bytes, before they are written; -1: none */
    bool keeps_lines;
    bool wraps;       /* what has no room goes on in the next row, else it is cut */
    struct buf lines; /* the rows above; each ends with \n */
    bool is_region;
    unsigned region_rows; /* drawn so far */
    unsigned row, col;    /* in the region; row is 0 elsewhere; col may be cols */
    struct cell *cells;   /* PAGE_REGION_MAX rows of cols cells */
};

int page_init(struct page *p, unsigned cols, unsigned rows);
void page_release(struct page *p);
/* All that is gathered, to stdout; 0 or -errno. */
int page_flush(struct page *p);
int page_resize(struct page *p, unsigned cols, unsigned rows);

/* Text of one of the widths that page.c knows, without controls. */
void page_puts(struct page *p, const char *text);
void page_printf(struct page *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* A sequence that leaves text and cursor as they are. */
void page_style(struct page *p, const char *sequence);
void page_colour(struct page *p, unsigned rgb);

void page_newline(struct page *p);
void page_return(struct page *p);
void page_back(struct page *p); /* one column; not at the left, nor behind the last one */
void page_goto_col(struct page *p, unsigned col);
void page_clear_right(struct page *p);

/* The cursor stands at the left of a blank row. */
void page_region_open(struct page *p);
/* Rows that a region may have here. */
unsigned page_region_room(const struct page *p);
/* To the left of one of the rows drawn so far. */
void page_region_goto(struct page *p, unsigned row);
/* Erases the rows below the cursor's. */
void page_region_cut(struct page *p);
/* Erases all of it; the cursor stands where it began. */
void page_region_close(struct page *p);

/* Rows above and region, blanks at the end of each and blank rows at the end cut. */
int page_final_lines(const struct page *p, struct buf *ret);

#endif
