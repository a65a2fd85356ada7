/* SPDX-License-Identifier: MIT */
/* size.c -- how many rows and columns there are. What depends on it changes here. */
#include <errno.h>

#include "term/term_priv.h"

static unsigned
within(unsigned v, unsigned max)
{
    return v < 1 ? 1 : v > max ? max : v;
}

void
term_limit_size(unsigned *cols, unsigned *rows)
{
    *cols = within(*cols, TERM_COLS_MAX);
    *rows = within(*rows, TERM_ROWS_MAX);
    *rows = within(*rows, TERM_CELLS_MAX / *cols);
}

static void
free_rows(struct term_row **rows, unsigned from, unsigned to)
{
    for (unsigned y = from; y < to; y++) {
        term_row_release(rows[y]);
        free(rows[y]);
    }
}

void
term_free_rows(struct term *t)
{
    for (unsigned i = 0; i < 2; i++) {
        if (t->screens[i].rows)
            free_rows(t->screens[i].rows, 0, t->rows);
        free(t->screens[i].rows);
    }
    free(t->spare);
    free(t->tabs);
}

/* A set of row pointers: the first `keep` of the old ones, new ones behind. */
static struct term_row **
make_rows(struct term_row **old, unsigned keep, unsigned n)
{
    struct term_row **rows = calloc(n, sizeof(rows[0]));
    for (unsigned y = 0; rows && y < n; y++) {
        rows[y] = y < keep ? old[y] : calloc(1, sizeof(*rows[y]));
        if (rows[y])
            continue;
        for (unsigned i = keep; i < y; i++)
            free(rows[i]);
        free(rows);
        return NULL;
    }
    return rows;
}

static uint64_t *
make_tabs(const struct term *t, unsigned cols)
{
    size_t n = cols / 64 + 1;
    uint64_t *tabs = malloc(n * sizeof(tabs[0]));
    for (size_t i = 0; tabs && i < n; i++)
        tabs[i] = 0x0101010101010101U;
    for (unsigned col = 0; tabs && t->tabs && col < t->cols && col < cols; col++) {
        uint64_t bit = 1ULL << (col % 64);
        tabs[col / 64] = (tabs[col / 64] & ~bit) | (t->tabs[col / 64] & bit);
    }
    return tabs;
}

static void
clamp(struct term_pen_at *at, unsigned cols, unsigned rows)
{
    at->is_pending &= at->col + 1 == cols;
    at->row = at->row < rows ? at->row : rows - 1;
    at->col = at->col < cols ? at->col : cols - 1;
}

/* On a screen of one column wide characters had no right half. */
static void
complete(struct term_row *r)
{
    if (r->used != 1 || !(r->text[0] & TERM_CELL_WIDE))
        return;
    if (!term_row_extend(r, 2)) {
        r->text[0] = 0;
        return;
    }
    r->text[1] = TERM_CELL_TAIL;
    r->style[1] = r->style[0];
}

bool
term_size_prepare(const struct term *t, unsigned cols, unsigned rows,
                  struct term_size *ret)
{
    unsigned keep = rows < t->rows ? rows : t->rows;
    *ret = (struct term_size){
        .cols = cols,
        .rows = rows,
        .spare = calloc(rows, sizeof(ret->spare[0])),
        .tabs = make_tabs(t, cols),
        .screens = { make_rows(t->screens[0].rows, keep, rows),
                     make_rows(t->screens[1].rows, keep, rows) },
    };
    if (ret->spare && ret->tabs && ret->screens[0] && ret->screens[1])
        return true;
    for (unsigned i = 0; i < 2; i++) {
        if (ret->screens[i])
            free_rows(ret->screens[i], keep, rows);
        free(ret->screens[i]);
    }
    free(ret->spare);
    free(ret->tabs);
    return false;
}

void
term_size_commit(struct term *t, const struct term_size *size)
{
    unsigned cols = size->cols, rows = size->rows, keep = rows < t->rows ? rows : t->rows;
    for (unsigned i = 0; i < 2; i++) {
        struct term_screen *s = &t->screens[i];
        if (s->rows) {
            /* They may have changed places since: by number, not by pointer. */
            memcpy(size->screens[i], s->rows, keep * sizeof(s->rows[0]));
            free_rows(s->rows, keep, t->rows);
        }
        free(s->rows);
        s->rows = size->screens[i];
        s->damage_top = 0;
        s->damage_end = rows;
        clamp(&s->saved, cols, rows);
        for (unsigned y = 0; y < rows; y++) {
            struct term_row *r = s->rows[y];
            if (t->cols == 1 && cols > 1)
                complete(r);
            term_row_split(r, cols);
            if (r->used > cols)
                r->used = cols;
        }
    }
    free(t->spare);
    free(t->tabs);
    t->spare = size->spare;
    t->tabs = size->tabs;
    t->cols = cols;
    t->rows = rows;
    t->had_cols[cols / 64] |= UINT64_C(1) << cols % 64;
    term_reset_margins(t);
}
