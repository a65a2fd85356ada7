/* SPDX-License-Identifier: MIT */
/* screen.c -- rows move, cells are erased, the cursor goes from place to place. */
#include <errno.h>

#include "term/handlers_priv.h"

void
term_no_memory(struct term *t)
{
    t->error = -ENOMEM;
}

void
term_know_pen_slow(struct term *t)
{
    if (term_tables_is_full(&t->tables))
        term_collect(t);
    static const struct term_style plain;
    struct term_style blank = { .bg = t->at.pen.bg };
    t->pen_id = term_style_id(&t->tables, &t->at.pen);
    t->blank_id = term_style_id(&t->tables, &blank);
    bool is_plain = !memcmp(&t->at.pen, &plain, sizeof(plain));
    if ((!t->pen_id && !is_plain) || (!t->blank_id && blank.bg))
        term_no_memory(t);
    t->is_pen_known = true;
}

/* -- scrolling -- */

static inline void
damage_region(struct term_screen *s, unsigned top, unsigned bottom)
{
    if (s->damage_top > top)
        s->damage_top = top;
    if (s->damage_end < bottom)
        s->damage_end = bottom;
}

void
term_damage_all(struct term *t)
{
    damage_region(t->screen, 0, t->rows);
}

static inline void
blank_row(struct term *t, struct term_row *row)
{
    term_row_clear(row);
    if (t->blank_id && !term_row_blank(row, 0, t->cols, t->blank_id))
        term_no_memory(t);
}

/* Rows top + n.. come to top.., those that were there come to the end, blank. */
static inline void
turn_up(struct term *t, unsigned top, unsigned bottom, unsigned n)
{
    struct term_row **rows = t->screen->rows;
    if (top)
        rows[top - 1]->is_wrapped = false;
    damage_region(t->screen, top, bottom);
    if (n == 1) {
        struct term_row *first = rows[top];
        memmove(rows + top, rows + top + 1, (bottom - top - 1) * sizeof(rows[0]));
        rows[bottom - 1] = first;
        blank_row(t, first);
        return;
    }
    memcpy(t->spare, rows + top, n * sizeof(rows[0]));
    memmove(rows + top, rows + top + n, (bottom - top - n) * sizeof(rows[0]));
    memcpy(rows + bottom - n, t->spare, n * sizeof(rows[0]));
    for (unsigned i = bottom - n; i < bottom; i++)
        blank_row(t, rows[i]);
}

static void
turn_down(struct term *t, unsigned top, unsigned bottom, unsigned n)
{
    struct term_row **rows = t->screen->rows;
    damage_region(t->screen, top, bottom);
    memcpy(t->spare, rows + bottom - n, n * sizeof(rows[0]));
    memmove(rows + top + n, rows + top, (bottom - top - n) * sizeof(rows[0]));
    memcpy(rows + top, t->spare, n * sizeof(rows[0]));
    for (unsigned i = top; i < top + n; i++)
        blank_row(t, rows[i]);
    rows[bottom - 1]->is_wrapped = false;
}

/* turn_down() by one row, in a hurry. */
static inline void
turn_down_one(struct term *t, unsigned top, unsigned bottom)
{
    struct term_row **rows = t->screen->rows, *last = rows[bottom - 1];
    damage_region(t->screen, top, bottom);
    memmove(rows + top + 1, rows + top, (bottom - top - 1) * sizeof(rows[0]));
    rows[top] = last;
    blank_row(t, last);
    rows[bottom - 1]->is_wrapped = false;
}

/* Between left and right margins only: cells move from row to row, and that is writing.
 */
static void
shift_cells(struct term *t, unsigned top, unsigned bottom, unsigned n, bool is_up)
{
    unsigned height = bottom - top;
    for (unsigned i = 0; i < height; i++) {
        unsigned y = is_up ? top + i : bottom - 1 - i;
        struct term_row *row = t->screen->rows[y];
        bool is_ok;
        if (i + n < height)
            is_ok = term_row_copy(row, t->screen->rows[is_up ? y + n : y - n], t->left,
                                  t->right);
        else
            is_ok = term_row_blank(row, t->left, t->right, t->blank_id);
        if (!is_ok)
            term_no_memory(t);
        row->is_wrapped = false;
        term_touch(t, row);
    }
}

static void
keep_rows(struct term *t, unsigned n)
{
    struct term_history *h = term_is_alternate(t) ? &t->marked : &t->scrollback;
    if (term_is_alternate(t) && !t->opt.alternate_rows)
        return;
    for (unsigned i = 0; i < n; i++) {
        const struct term_row *row = t->screen->rows[i];
        if (term_is_alternate(t) && (row->stamp <= t->kept_byte || !term_row_length(row)))
            continue;
        term_history_push(h, &t->tables, row);
    }
}

static inline void
scroll_up(struct term *t, unsigned top, unsigned bottom, unsigned n, bool keeps)
{
    if (n > bottom - top)
        n = bottom - top;
    if (!n)
        return;
    term_know_pen(t);
    if (!term_is_full_width(t)) {
        shift_cells(t, top, bottom, n, true);
        return;
    }
    if (keeps && top == 0)
        keep_rows(t, n);
    turn_up(t, top, bottom, n);
}

void
term_scroll_up(struct term *t, unsigned top, unsigned bottom, unsigned n)
{
    scroll_up(t, top, bottom, n, true);
}

void
term_delete_rows(struct term *t, unsigned top, unsigned bottom, unsigned n)
{
    scroll_up(t, top, bottom, n, false);
}

__attribute__((noinline)) static void
scroll_down(struct term *t, unsigned top, unsigned bottom, unsigned n)
{
    if (n > bottom - top)
        n = bottom - top;
    if (!n)
        return;
    term_know_pen(t);
    if (term_is_full_width(t))
        turn_down(t, top, bottom, n);
    else
        shift_cells(t, top, bottom, n, false);
}

static inline void
scroll_down_by(struct term *t, unsigned top, unsigned bottom, unsigned n)
{
    if (n == 1 && t->is_pen_known && term_is_full_width(t))
        turn_down_one(t, top, bottom);
    else
        scroll_down(t, top, bottom, n);
}

void
term_scroll_down(struct term *t, unsigned top, unsigned bottom, unsigned n)
{
    scroll_down_by(t, top, bottom, n);
}

/* -- the cursor -- */

bool
term_is_inside(const struct term *t)
{
    return t->at.row >= t->top && t->at.row < t->bottom && t->at.col >= t->left &&
           t->at.col < t->right;
}

void
term_line_feed(struct term *t)
{
    if (t->at.row + 1 == t->bottom) {
        if (t->at.col >= t->left && t->at.col < t->right)
            term_scroll_up(t, t->top, t->bottom, 1);
    } else if (t->at.row + 1 < t->rows) {
        t->at.row++;
    }
}

/* RI. It stands here to be quick: programs that scroll back send many. */
void
term_h_ri(struct term *t, const struct term_op *op)
{
    (void)op;
    t->at.is_pending = false;
    if (t->at.row != t->top) {
        t->at.row -= t->at.row > 0;
        return;
    }
    if (t->at.col >= t->left && t->at.col < t->right)
        scroll_down_by(t, t->top, t->bottom, 1);
}

static unsigned
at_most(unsigned v, unsigned end)
{
    return v < end ? v : end - 1;
}

void
term_move(struct term *t, unsigned row, unsigned col)
{
    t->at.row = at_most(row, t->rows);
    t->at.col = at_most(col, t->cols);
    t->at.is_pending = false;
}

void
term_move_origin(struct term *t, unsigned row, unsigned col)
{
    if (!term_has(t, TERM_MODE_ORIGIN)) {
        term_move(t, row, col);
        return;
    }
    t->at.row = at_most(row, t->bottom - t->top) + t->top;
    t->at.col = at_most(col, t->right - t->left) + t->left;
    t->at.is_pending = false;
}

void
term_save_cursor(struct term *t)
{
    t->screen->saved = t->at;
    t->screen->saved.is_origin = term_has(t, TERM_MODE_ORIGIN);
}

void
term_restore_cursor(struct term *t)
{
    t->at = t->screen->saved;
    t->is_pen_known = false;
    term_set(t, TERM_MODE_ORIGIN, t->at.is_origin);
    t->at.is_pending &= term_has(t, TERM_MODE_AUTOWRAP);
    /* In origin mode the cursor is never outside of the region. */
    if (t->at.is_origin && !term_is_inside(t))
        term_move_origin(t, t->at.row > t->top ? t->at.row - t->top : 0,
                         t->at.col > t->left ? t->at.col - t->left : 0);
}

/* -- erasing -- */

void
term_erase_cells(struct term *t, unsigned row, unsigned from, unsigned to)
{
    struct term_row *r = t->screen->rows[row];
    if (from >= to)
        return;
    term_know_pen(t);
    if (!term_row_blank(r, from, to, t->blank_id))
        term_no_memory(t);
    if (to == t->cols)
        r->is_wrapped = false;
    term_touch(t, r);
}

void
term_erase_selected(struct term *t, unsigned row, unsigned from, unsigned to)
{
    struct term_row *r = t->screen->rows[row];
    if (from >= to)
        return;
    term_touch(t, r);
    unsigned end = to < r->used ? to : r->used;
    for (unsigned i = from; i < end; i++) {
        if (term_style_of(&t->tables, r->style[i])->attrs & TERM_PROTECTED)
            continue;
        term_row_split(r, i);
        term_row_split(r, i + 1);
        r->text[i] = 0; /* the look stays: DECSED and DECSEL erase characters */
    }
}

void
term_clear_screen(struct term *t)
{
    for (unsigned y = 0; y < t->rows; y++)
        term_erase_cells(t, y, 0, t->cols);
}

/* -- the two screens -- */

void
term_use_alternate(struct term *t, bool is_on)
{
    if (is_on == term_is_alternate(t))
        return;
    if (!is_on)
        term_keep_alternate(t);
    t->screen = &t->screens[is_on];
    term_damage_all(t);
}

/* -- resets -- */

void
term_reset_margins(struct term *t)
{
    t->top = t->left = 0;
    t->bottom = t->rows;
    t->right = t->cols;
}

void
term_default_tabs(struct term *t)
{
    for (unsigned i = 0; i <= t->cols / 64; i++)
        t->tabs[i] = 0x0101010101010101U;
}

/* DECSTR. */
void
term_soft_reset(struct term *t)
{
    term_set(t, TERM_MODE_CURSOR, true);
    term_set(t, TERM_MODE_INSERT, false);
    term_set(t, TERM_MODE_ORIGIN, false);
    term_set(t, TERM_MODE_AUTOWRAP, true);
    term_set(t, TERM_MODE_REVERSE_WRAP, false);
    term_set(t, TERM_MODE_MARGINS, false);
    term_set(t, TERM_MODE_APP_CURSOR, false);
    term_set(t, TERM_MODE_APP_KEYPAD, false);
    term_reset_margins(t);
    t->at.pen = (struct term_style){ 0 };
    t->at.charsets = (struct term_charsets){ 0 };
    t->at.is_pending = false;
    t->is_pen_known = false;
    t->screen->saved = (struct term_pen_at){ 0 };
    t->screen->n_kitty = 1;
    t->screen->kitty[0] = 0;
}

/* RIS. The scrollback stays, as with ED 3. */
void
term_reset(struct term *t)
{
    term_use_alternate(t, false);
    term_soft_reset(t);
    t->modes = TERM_MODES_FRESH;
    t->mouse = t->mouse_encoding = 0;
    t->cursor_style = 0;
    term_clear_screen(t);
    for (unsigned i = 0; i < 2; i++) {
        t->screens[i].saved = (struct term_pen_at){ 0 };
        t->screens[i].n_kitty = 1;
        t->screens[i].kitty[0] = 0;
    }
    term_default_tabs(t);
    term_move(t, 0, 0);
    t->last_rune = 0;
    free(t->colours);
    t->colours = NULL;
    if (t->opt.clears_scrollback)
        term_history_clear(&t->scrollback);
}

/* -- collection -- */

static size_t
mark_row(struct term *t, const struct term_row *row)
{
    for (uint32_t i = 0; i < row->used; i++) {
        term_tables_mark_style(&t->tables, row->style[i]);
        if (row->text[i] & TERM_CELL_CLUSTER)
            term_tables_mark_cluster(&t->tables, row->text[i] & TERM_CELL_VALUE);
    }
    return row->used;
}

void
term_collect(struct term *t)
{
    term_tables_begin(&t->tables);
    size_t cells = mark_row(t, &t->line);
    for (unsigned i = 0; i < 2; i++) {
        for (unsigned y = 0; y < t->rows; y++)
            cells += mark_row(t, t->screens[i].rows[y]);
        term_tables_mark_link(&t->tables, t->screens[i].saved.pen.link);
    }
    term_tables_mark_link(&t->tables, t->at.pen.link);
    t->is_pen_known = false; /* its number may be another's now */
    term_tables_end(&t->tables, cells);
}
