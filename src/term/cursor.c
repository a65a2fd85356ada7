/* SPDX-License-Identifier: MIT */
/* cursor.c -- sequences that move the cursor, and tab stops. */
#include "term/handlers_priv.h"

/* Up and down stop at the region's edge when they begin inside of it. */
static void
up(struct term *t, unsigned n)
{
    unsigned least = t->at.row >= t->top ? t->top : 0;
    unsigned room = t->at.row - least;
    t->at.row -= n < room ? n : room;
    t->at.is_pending = false;
}

static void
down(struct term *t, unsigned n)
{
    unsigned most = (t->at.row < t->bottom ? t->bottom : t->rows) - 1;
    unsigned room = most - t->at.row;
    t->at.row += n < room ? n : room;
    t->at.is_pending = false;
}

static unsigned
leftmost(const struct term *t)
{
    return t->at.col >= t->left ? t->left : 0;
}

void
term_h_cuu(struct term *t, const struct term_op *op)
{
    up(t, term_param(op, 0, 1));
}

void
term_h_cud(struct term *t, const struct term_op *op)
{
    down(t, term_param(op, 0, 1));
}

void
term_h_cuf(struct term *t, const struct term_op *op)
{
    unsigned most = (t->at.col < t->right ? t->right : t->cols) - 1;
    unsigned n = term_param(op, 0, 1), room = most - t->at.col;
    t->at.col += n < room ? n : room;
    t->at.is_pending = false;
}

/* To the end of the row above, and from the top margin to the bottom one. */
static bool
wrap_back(struct term *t)
{
    if (!term_has(t, TERM_MODE_REVERSE_WRAP) || !term_has(t, TERM_MODE_AUTOWRAP) ||
        t->at.col != leftmost(t))
        return false;
    if (t->at.row == t->top)
        t->at.row = t->bottom;
    else if (!t->at.row)
        return false;
    t->at.row--;
    t->at.col = t->right - 1;
    return true;
}

static void
back(struct term *t, unsigned n)
{
    /* With reverse wrap the pending wrap is a place of its own. */
    if (term_has(t, TERM_MODE_REVERSE_WRAP))
        n -= t->at.is_pending;
    t->at.is_pending = false;
    for (unsigned wraps = 0;; wraps++) {
        unsigned room = t->at.col - leftmost(t), step = n < room ? n : room;
        t->at.col -= step;
        n -= step;
        /* Round and round is not asked for by anybody. */
        if (!n || wraps == t->rows || !wrap_back(t))
            return;
        n--;
    }
}

void
term_h_cub(struct term *t, const struct term_op *op)
{
    back(t, term_param(op, 0, 1));
}

void
term_h_bs(struct term *t, const struct term_op *op)
{
    (void)op;
    back(t, 1);
}

static void
carriage_return(struct term *t)
{
    /* In origin mode the left margin is the only place to go. */
    t->at.col = term_has(t, TERM_MODE_ORIGIN) ? t->left : leftmost(t);
    t->at.is_pending = false;
}

void
term_h_cr(struct term *t, const struct term_op *op)
{
    (void)op;
    carriage_return(t);
}

/* Line feeds. A row that is left by one does not go on in the next. */
static void
end_lines(struct term *t, size_t n)
{
    for (; n && t->at.row + 1 != t->bottom; n--) {
        term_cursor_row(t)->is_wrapped = false;
        if (t->at.row + 1 == t->rows)
            return;
        t->at.row++;
    }
    if (!n)
        return;
    term_cursor_row(t)->is_wrapped = false;
    if (t->at.col < t->left || t->at.col >= t->right)
        return;
    for (unsigned k, height = t->bottom - t->top; n; n -= k) {
        k = n < height ? (unsigned)n : height;
        term_scroll_up(t, t->top, t->bottom, k);
    }
}

void
term_h_lf(struct term *t, const struct term_op *op)
{
    end_lines(t, op->n);
    if (term_has(t, TERM_MODE_NEWLINE))
        carriage_return(t);
}

void
term_h_ind(struct term *t, const struct term_op *op)
{
    (void)op;
    end_lines(t, 1);
}

void
term_h_nel(struct term *t, const struct term_op *op)
{
    (void)op;
    end_lines(t, 1);
    carriage_return(t);
}

void
term_h_cnl(struct term *t, const struct term_op *op)
{
    down(t, term_param(op, 0, 1));
    carriage_return(t);
}

void
term_h_cpl(struct term *t, const struct term_op *op)
{
    up(t, term_param(op, 0, 1));
    carriage_return(t);
}

/* The cursor's place as CUP would name it. */
static unsigned
origin_row(const struct term *t)
{
    return term_has(t, TERM_MODE_ORIGIN) ? t->at.row - t->top : t->at.row;
}

static unsigned
origin_col(const struct term *t)
{
    return term_has(t, TERM_MODE_ORIGIN) ? t->at.col - t->left : t->at.col;
}

void
term_h_cup(struct term *t, const struct term_op *op)
{
    term_move_origin(t, term_param(op, 0, 1) - 1, term_param(op, 1, 1) - 1);
}

void
term_h_cha(struct term *t, const struct term_op *op)
{
    term_move_origin(t, origin_row(t), term_param(op, 0, 1) - 1);
}

void
term_h_vpa(struct term *t, const struct term_op *op)
{
    term_move_origin(t, term_param(op, 0, 1) - 1, origin_col(t));
}

void
term_h_hpr(struct term *t, const struct term_op *op)
{
    term_move_origin(t, origin_row(t), origin_col(t) + term_param(op, 0, 1));
}

void
term_h_vpr(struct term *t, const struct term_op *op)
{
    term_move_origin(t, origin_row(t) + term_param(op, 0, 1), origin_col(t));
}

/* -- tabs -- */

static bool
is_tab(const struct term *t, unsigned col)
{
    return t->tabs[col / 64] >> (col % 64) & 1;
}

static void
tab_forward(struct term *t, unsigned n)
{
    unsigned last = (t->at.col < t->right ? t->right : t->cols) - 1;
    for (unsigned col = t->at.col; n && col < last; n--) {
        do
            col++;
        while (col < last && !is_tab(t, col));
        t->at.col = col;
    }
}

void
term_h_ht(struct term *t, const struct term_op *op)
{
    (void)op;
    tab_forward(t, 1);
}

void
term_h_cht(struct term *t, const struct term_op *op)
{
    tab_forward(t, term_param(op, 0, 1));
}

void
term_h_cbt(struct term *t, const struct term_op *op)
{
    /* A pending wrap stays pending, as in xterm. */
    unsigned first = term_has(t, TERM_MODE_ORIGIN) ? t->left : 0;
    for (unsigned n = term_param(op, 0, 1); n && t->at.col > first; n--)
        do
            t->at.col--;
        while (t->at.col > first && !is_tab(t, t->at.col));
}

void
term_h_hts(struct term *t, const struct term_op *op)
{
    (void)op;
    t->tabs[t->at.col / 64] |= 1ULL << (t->at.col % 64);
}

void
term_h_tbc(struct term *t, const struct term_op *op)
{
    unsigned what = term_param(op, 0, 0);
    if (what == 0)
        t->tabs[t->at.col / 64] &= ~(1ULL << (t->at.col % 64));
    else if (what == 3)
        memset(t->tabs, 0, (t->cols / 64 + 1) * sizeof(t->tabs[0]));
}

void
term_h_decst8c(struct term *t, const struct term_op *op)
{
    if (term_param(op, 0, 0) == 5)
        term_default_tabs(t);
}

/* -- saving -- */

void
term_h_decsc(struct term *t, const struct term_op *op)
{
    (void)op;
    term_save_cursor(t);
}

void
term_h_decrc(struct term *t, const struct term_op *op)
{
    (void)op;
    term_restore_cursor(t);
}

/* SCORC: it knows of no pending wrap. */
void
term_h_scorc(struct term *t, const struct term_op *op)
{
    (void)op;
    term_restore_cursor(t);
    t->at.is_pending = false;
}

void
term_h_decslrm(struct term *t, const struct term_op *op)
{
    /* Without DECLRMM this is SCOSC. */
    if (!term_has(t, TERM_MODE_MARGINS)) {
        term_save_cursor(t);
        return;
    }
    unsigned left = term_param(op, 0, 1) - 1, right = term_param(op, 1, t->cols);
    if (right > t->cols)
        right = t->cols;
    if (left + 1 >= right)
        return;
    t->left = left;
    t->right = right;
    term_move_origin(t, 0, 0);
}

void
term_h_decstbm(struct term *t, const struct term_op *op)
{
    unsigned top = term_param(op, 0, 1) - 1, bottom = term_param(op, 1, t->rows);
    if (bottom > t->rows)
        bottom = t->rows;
    if (top + 1 >= bottom)
        return;
    t->top = top;
    t->bottom = bottom;
    term_move_origin(t, 0, 0);
}
