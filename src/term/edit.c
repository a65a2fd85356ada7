/* SPDX-License-Identifier: MIT */
/* edit.c -- sequences that erase, insert, delete and scroll. */
#include "term/handlers_priv.h"

typedef void (*erase_fn)(struct term *t, unsigned row, unsigned from, unsigned to);

/* While a wrap is pending the cursor stands behind the last column: nothing is to its
 * right. */
static void
erase_line(struct term *t, unsigned what, erase_fn erase)
{
    if (what == 0)
        erase(t, t->at.row, t->at.col + t->at.is_pending, t->cols);
    else if (what == 1)
        erase(t, t->at.row, 0, t->at.col + 1);
    else if (what == 2)
        erase(t, t->at.row, 0, t->cols);
}

static void
erase_rows(struct term *t, unsigned from, unsigned to, erase_fn erase)
{
    for (unsigned y = from; y < to; y++)
        erase(t, y, 0, t->cols);
}

static void
erase_display(struct term *t, unsigned what, erase_fn erase)
{
    if (what == 0) {
        erase_line(t, 0, erase);
        erase_rows(t, t->at.row + 1, t->rows, erase);
    } else if (what == 1) {
        erase_rows(t, 0, t->at.row, erase);
        erase_line(t, 1, erase);
    } else if (what == 2) {
        erase_rows(t, 0, t->rows, erase);
    } else if (what == 3 && t->opt.clears_scrollback) {
        term_history_clear(&t->scrollback);
    }
}

void
term_h_ed(struct term *t, const struct term_op *op)
{
    erase_display(t, term_param(op, 0, 0), term_erase_cells);
}

void
term_h_el(struct term *t, const struct term_op *op)
{
    erase_line(t, term_param(op, 0, 0), term_erase_cells);
}

void
term_h_decsed(struct term *t, const struct term_op *op)
{
    unsigned what = term_param(op, 0, 0);
    if (what < 3)
        erase_display(t, what, term_erase_selected);
}

void
term_h_decsel(struct term *t, const struct term_op *op)
{
    erase_line(t, term_param(op, 0, 0), term_erase_selected);
}

void
term_h_ech(struct term *t, const struct term_op *op)
{
    unsigned col = t->at.col + t->at.is_pending;
    unsigned n = term_param(op, 0, 1), room = t->cols - col;
    term_erase_cells(t, t->at.row, col, col + (n < room ? n : room));
}

/* -- inside of a row -- */

typedef bool (*shift_fn)(struct term_row *r, uint32_t at, uint32_t to, uint32_t n,
                         uint32_t style);

static void
shift_in_row(struct term *t, unsigned row, unsigned col, unsigned n, shift_fn shift)
{
    struct term_row *r = t->screen->rows[row];
    unsigned room = t->right - col;
    if (!room)
        return;
    term_know_pen(t);
    if (!shift(r, col, t->right, n < room ? n : room, t->blank_id))
        term_no_memory(t);
    if (t->right == t->cols)
        r->is_wrapped = false;
    term_touch(t, r);
}

/* Where ICH and DCH begin; false: outside of the margins. */
static bool
shift_col(const struct term *t, unsigned *ret)
{
    *ret = t->at.col + t->at.is_pending;
    return t->at.col >= t->left && *ret <= t->right;
}

void
term_h_ich(struct term *t, const struct term_op *op)
{
    const struct term_row *row = term_cursor_row(t);
    unsigned col;
    if (!shift_col(t, &col))
        return;
    if (col < t->right && col < row->used && row->text[col] == TERM_CELL_TAIL)
        col++; /* behind the whole character */
    shift_in_row(t, t->at.row, col, term_param(op, 0, 1), term_row_insert);
}

void
term_h_dch(struct term *t, const struct term_op *op)
{
    unsigned col;
    if (shift_col(t, &col))
        shift_in_row(t, t->at.row, col, term_param(op, 0, 1), term_row_delete);
}

/* Columns of the whole region. */
static void
shift_columns(struct term *t, unsigned col, unsigned n, shift_fn shift)
{
    for (unsigned y = t->top; y < t->bottom; y++)
        shift_in_row(t, y, col, n, shift);
}

void
term_h_decic(struct term *t, const struct term_op *op)
{
    if (term_is_inside(t))
        shift_columns(t, t->at.col, term_param(op, 0, 1), term_row_insert);
}

void
term_h_decdc(struct term *t, const struct term_op *op)
{
    if (term_is_inside(t))
        shift_columns(t, t->at.col, term_param(op, 0, 1), term_row_delete);
}

void
term_h_sl(struct term *t, const struct term_op *op)
{
    if (term_is_inside(t))
        shift_columns(t, t->left, term_param(op, 0, 1), term_row_delete);
}

void
term_h_sr(struct term *t, const struct term_op *op)
{
    if (term_is_inside(t))
        shift_columns(t, t->left, term_param(op, 0, 1), term_row_insert);
}

/* DECBI and DECFI: back and forward, scrolling at the margins. */
void
term_h_decbi(struct term *t, const struct term_op *op)
{
    (void)op;
    t->at.is_pending = false;
    if (t->at.col == t->left && term_is_inside(t))
        shift_columns(t, t->left, 1, term_row_insert);
    else if (t->at.col)
        t->at.col--;
}

void
term_h_decfi(struct term *t, const struct term_op *op)
{
    (void)op;
    t->at.is_pending = false;
    if (t->at.col + 1 == t->right && term_is_inside(t))
        shift_columns(t, t->left, 1, term_row_delete);
    else if (t->at.col + 1 < t->cols)
        t->at.col++;
}

/* -- whole rows -- */

/* The cursor keeps its column, as in tmux and most others; DEC's and xterm's go to the
 * margin. */
void
term_h_il(struct term *t, const struct term_op *op)
{
    if (!term_is_inside(t))
        return;
    term_scroll_down(t, t->at.row, t->bottom, term_param(op, 0, 1));
}

void
term_h_dl(struct term *t, const struct term_op *op)
{
    if (!term_is_inside(t))
        return;
    term_delete_rows(t, t->at.row, t->bottom, term_param(op, 0, 1));
}

void
term_h_su(struct term *t, const struct term_op *op)
{
    term_scroll_up(t, t->top, t->bottom, term_param(op, 0, 1));
}

void
term_h_sd(struct term *t, const struct term_op *op)
{
    /* With more parameters it is xterm's highlight tracking. */
    if (op->n_params > 1)
        return;
    term_scroll_down(t, t->top, t->bottom, term_param(op, 0, 1));
}

void
term_h_rep(struct term *t, const struct term_op *op)
{
    term_repeat(t, term_param(op, 0, 1));
}

void
term_h_decaln(struct term *t, const struct term_op *op)
{
    (void)op;
    term_reset_margins(t);
    term_set(t, TERM_MODE_ORIGIN, false);
    for (unsigned y = 0; y < t->rows; y++) {
        struct term_row *r = t->screen->rows[y];
        term_row_clear(r);
        if (!term_row_extend(r, t->cols))
            term_no_memory(t);
        for (unsigned x = 0; x < r->used; x++)
            r->text[x] = 'E';
        term_touch(t, r);
    }
    term_move(t, 0, 0);
}

/* -- look and protection -- */

void
term_h_decsca(struct term *t, const struct term_op *op)
{
    if (term_param(op, 0, 0) == 1)
        t->at.pen.attrs |= TERM_PROTECTED;
    else
        t->at.pen.attrs &= (uint16_t)~TERM_PROTECTED;
    t->is_pen_known = false;
}

void
term_h_decscusr(struct term *t, const struct term_op *op)
{
    unsigned style = term_param(op, 0, 0);
    if (style <= 6)
        t->cursor_style = (uint8_t)style;
}
