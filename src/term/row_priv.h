/* SPDX-License-Identifier: MIT */
/*
 * row_priv.h -- one row of a screen.
 *
 * Text and style lie in planes of their own, so that runs are copied and compared in
 * blocks. Cells from `used` on are blank in the default style, whatever the memory says:
 * clearing a row costs nothing. The right half of a wide character always stands behind
 * its left half (a screen of one column has left halves only).
 */
#ifndef TERM_ROW_PRIV_H
#define TERM_ROW_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A cell's text: a code point or a cluster's number, with these; 0 is a blank. */
#define TERM_CELL_WIDE    0x80000000U
#define TERM_CELL_CLUSTER 0x40000000U
#define TERM_CELL_TAIL    0x20000000U /* right half of the wide one before it */
#define TERM_CELL_PAD     0x10000000U /* a blank because a wide one did not fit */
#define TERM_CELL_VALUE   0x0fffffffU

struct term_row {
    uint32_t *text, *style; /* one block; room for cap cells each */
    uint64_t stamp;
    uint32_t used, cap;
    bool is_wrapped; /* its text goes on in the next row */
    bool is_damaged;
    bool has_wide; /* there may be wide cells, tails or pads */
};

void term_row_release(struct term_row *r);
/* Room for n cells; false: no memory. */
bool term_row_grow(struct term_row *r, uint32_t n);

/* Empty, never written; the memory stays. */
static inline void
term_row_clear(struct term_row *r)
{
    r->stamp = 0;
    r->used = 0;
    r->is_wrapped = r->has_wide = false;
    r->is_damaged = true;
}

static inline bool
term_row_reserve(struct term_row *r, uint32_t n)
{
    return n <= r->cap || term_row_grow(r, n);
}

/* A wide character that stands on both sides of the border before col becomes blank. */
void term_row_split(struct term_row *r, uint32_t col);
/* Makes cells up to n exist. */
bool term_row_extend(struct term_row *r, uint32_t n);
/* Cells from..to (exclusive) become blank in this style. */
bool term_row_blank(struct term_row *r, uint32_t from, uint32_t to, uint32_t style);
/* Inside of from..to, move what is at `at` and behind it by n: what leaves is lost, what
 * opens is blank. at + n <= to. */
bool term_row_insert(struct term_row *r, uint32_t at, uint32_t to, uint32_t n,
                     uint32_t style);
bool term_row_delete(struct term_row *r, uint32_t at, uint32_t to, uint32_t n,
                     uint32_t style);
/* Cells from..to of src over those of dst. */
bool term_row_copy(struct term_row *dst, const struct term_row *src, uint32_t from,
                   uint32_t to);
/* How many cells are not blank tail. */
uint32_t term_row_length(const struct term_row *r);

#endif
