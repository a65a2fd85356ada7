/* SPDX-License-Identifier: MIT */
/*
 * book_peaks.c -- stamps of a history's rows, found again quickly.
 *
 * They lie in its pages as differences and mostly grow, but need not. So the largest of
 * each block of rows is kept: a search goes over these, then over the rows of one block.
 * The first block may have rows that are gone: it then seems larger than it is, and a
 * search goes on behind it.
 */
#include <errno.h>

#include "term/book_priv.h"

enum { BLOCK = 256 };

void
term_book_peaks_release(struct term_book_peaks *p)
{
    buf_release(&p->blocks);
    *p = (struct term_book_peaks){ 0 };
}

static uint64_t *
blocks(const struct term_book_peaks *p)
{
    return (void *)p->blocks.p;
}

static uint64_t
end_block(const struct term_book_peaks *p)
{
    return p->first_block + p->blocks.n / sizeof(uint64_t);
}

void
term_book_peaks_cut(struct term_book_peaks *p, uint64_t number)
{
    if (number >= p->end)
        return;
    uint64_t block = number / BLOCK;
    if (block < p->first_block)
        block = p->first_block;
    p->blocks.n = (size_t)(block - p->first_block) * sizeof(uint64_t);
    p->end = block * BLOCK;
}

static void
drop_blocks(struct term_book_peaks *p, uint64_t first)
{
    if (first >= end_block(p)) {
        p->blocks.n = 0;
    } else if (first > p->first_block) {
        size_t gone = (size_t)(first - p->first_block) * sizeof(uint64_t);
        p->blocks.n -= gone;
        memmove(p->blocks.p, p->blocks.p + gone, p->blocks.n);
    } else {
        return;
    }
    p->first_block = first;
}

static uint64_t
page_stamp(const struct term_page *page, uint32_t i)
{
    struct term_packed packed;
    return term_page_open(page, i, &packed) ? packed.stamp : 0;
}

uint64_t
term_book_row_stamp(const struct term_history *h, uint64_t number)
{
    const struct term_page *page = term_history_page(h, number);
    return page_stamp(page, (uint32_t)(number - page->start));
}

/* Rows from..to of one page; there is room for them. */
static void
add_rows(struct term_book_peaks *p, const struct term_page *page, uint64_t from,
         uint64_t to)
{
    for (uint64_t number = from; number < to; number++) {
        uint64_t stamp = page_stamp(page, (uint32_t)(number - page->start));
        size_t at = (size_t)(number / BLOCK - p->first_block);
        if (at * sizeof(stamp) == p->blocks.n) {
            p->blocks.n += sizeof(stamp);
            blocks(p)[at] = 0;
        }
        if (blocks(p)[at] < stamp)
            blocks(p)[at] = stamp;
    }
}

int
term_book_peaks_update(struct term_book_peaks *p, const struct term_history *h)
{
    uint64_t from = p->end > h->dropped ? p->end : h->dropped;
    p->blocks.ceiling = SIZE_MAX / 2;
    drop_blocks(p, h->dropped / BLOCK);
    if (!p->blocks.n)
        p->first_block = from / BLOCK;
    size_t more = (size_t)(h->end / BLOCK + 1 - p->first_block) * sizeof(uint64_t);
    if (more > p->blocks.n && buf_reserve(&p->blocks, more - p->blocks.n) < 0)
        return -ENOMEM;
    while (from < h->end) {
        const struct term_page *page = term_history_page(h, from);
        uint64_t end = page->start + page->n;
        add_rows(p, page, from, end);
        from = end;
    }
    p->end = h->end;
    return 0;
}

/* The same among rows from..to. */
static uint64_t
past_in(const struct term_history *h, uint64_t from, uint64_t to, uint64_t stamp)
{
    while (from < to) {
        const struct term_page *page = term_history_page(h, from);
        uint64_t end = page->start + page->n < to ? page->start + page->n : to;
        for (; from < end; from++)
            if (page_stamp(page, (uint32_t)(from - page->start)) > stamp)
                return from;
    }
    return to;
}

uint64_t
term_book_row_past(const struct term_book_peaks *p, const struct term_history *h,
                   uint64_t number, uint64_t stamp)
{
    while (number < p->end) {
        uint64_t block = number / BLOCK, end = end_block(p);
        while (block < end && blocks(p)[block - p->first_block] <= stamp)
            block++;
        if (block == end)
            return p->end;
        uint64_t to = (block + 1) * BLOCK < p->end ? (block + 1) * BLOCK : p->end;
        if (number < block * BLOCK)
            number = block * BLOCK;
        number = past_in(h, number, to, stamp);
        if (number < to)
            return number;
    }
    return p->end;
}
