/* SPDX-License-Identifier: MIT */
/*
 * serialise.c -- the bytes that recreate a model.
 *
 * First the rows, one after the other, so that they scroll and wrap as they did; then the
 * alternate screen; then what would have been in the way: margins, modes, tab stops; the
 * cursor comes last.
 */
#include <errno.h>

#include "base/utf8.h"
#include "term/term_priv.h"

struct writer {
    const struct term *t;
    const struct term_tables *tables;      /* which the row in hand goes by */
    const struct term_tables *next_tables; /* and the one behind it */
    struct buf *out;
    struct term_style pen;
    const char *uri;
    struct term_join join;
};

/* -- the pen -- */

static void
set_pen(struct writer *w, const struct term_style *style, const char *uri)
{
    struct term_style s = *style;
    s.link = 0;
    if (strcmp(uri, w->uri) != 0) {
        buf_printf(w->out, "\x1b]8;;%s\x1b\\", uri);
        w->uri = uri;
    }
    if (!memcmp(&s, &w->pen, sizeof(s)))
        return;
    if ((s.attrs ^ w->pen.attrs) & TERM_PROTECTED)
        buf_printf(w->out, "\x1b[%u\"q", s.attrs & TERM_PROTECTED ? 1U : 0U);
    buf_puts(w->out, "\x1b[");
    term_style_to_sgr(&s, w->out);
    buf_puts(w->out, "m");
    w->pen = s;
}

static void
plain_pen(struct writer *w)
{
    static const struct term_style plain;
    set_pen(w, &plain, "");
}

/* -- rows -- */

/* Text that is not to join what was written before it. */
static void
put_text(struct writer *w, struct view text)
{
    uint32_t rune;
    if (!text.n || !utf8_next(text.p, text.n, &rune))
        return;
    uint8_t class = term_class(w->t->widths, rune);
    if (term_may_join(&w->join, class))
        buf_puts(w->out, "\x1b[0t"); /* known to nobody, it parts them */
    buf_append(w->out, text.p, text.n);
    w->join = (struct term_join){ rune, class, 0 };
    for (size_t i = 0; i < text.n;) { /* the last one is what counts */
        int n = utf8_next(text.p + i, text.n - i, &w->join.rune);
        i += n ? (size_t)n : 1;
    }
    w->join.rune_class = term_class(w->t->widths, w->join.rune);
}

/* A blank is a space. */
static struct view
cell_text(const struct term_tables *tables, uint32_t cell, uint8_t scratch[4])
{
    struct view text = term_cell_text(tables, cell, scratch);
    return text.n ? text : (struct view){ (const uint8_t *)" ", 1 };
}

/* Cells from..to. */
static void
put_cells(struct writer *w, const struct term_row *row, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        uint8_t scratch[4];
        if (row->text[i] == TERM_CELL_TAIL)
            continue;
        const struct term_style *style = term_style_of(w->tables, row->style[i]);
        set_pen(w, style, term_link_text(w->tables, style->link));
        put_text(w, cell_text(w->tables, row->text[i], scratch));
    }
}

/* Does its first character wrap by itself, when there is but one column left? A flag's
 * first half would not. */
static bool
wraps_by_itself(const struct writer *w, const struct term_row *row)
{
    uint8_t scratch[4];
    uint32_t rune;
    if (!row || !row->used || !(row->text[0] & TERM_CELL_WIDE))
        return false;
    struct view text = cell_text(w->next_tables, row->text[0], scratch);
    return utf8_next(text.p, text.n, &rune) &&
           (term_class(w->t->widths, rune) & TERM_CLASS_WIDTH) == 2;
}

/*
 * To the next row by wrapping. What is printed there for it is erased again: the row may
 * have scrolled in with the pen's background. A wide character leaves a pad behind it,
 * with the pen's background, too.
 */
static void
wrap_to(struct writer *w, const struct term_row *row, const struct term_row *next,
        bool is_wide)
{
    uint8_t scratch[4];
    struct view trigger = { (const uint8_t *)" ", 1 };
    plain_pen(w);
    if (is_wide) {
        trigger = cell_text(w->next_tables, next->text[0], scratch);
        set_pen(w, term_style_of(w->tables, row->style[w->t->cols - 1]), "");
    }
    put_text(w, trigger);
    plain_pen(w);
    buf_puts(w->out, "\r\x1b[K");
    w->join.rune = 0;
}

/* A row and the way to the next one (NULL: there is none). */
static void
put_row(struct writer *w, const struct term_row *row, const struct term_row *next)
{
    uint32_t cells = term_row_length(row), cols = w->t->cols;
    bool has_pad = cells == cols && row->text[cells - 1] == TERM_CELL_PAD;
    bool is_wide = has_pad && row->is_wrapped && wraps_by_itself(w, next);
    put_cells(w, row, 0, cells - is_wide);
    if (!next)
        return;
    if (row->is_wrapped) {
        if (cells < cols) {
            plain_pen(w);
            put_text(w, (struct view){ (const uint8_t *)" ", 1 });
            buf_printf(w->out, "%*s", (int)(cols - cells - 1), "");
            w->join.rune = 0;
        }
        wrap_to(w, row, next, is_wide);
        return;
    }
    plain_pen(w);
    buf_puts(w->out, "\r\n");
    w->join.rune = 0;
}

static bool
unpack(const struct term_history *h, size_t i, struct term_tables *tables,
       struct term_row *row)
{
    struct term_packed packed;
    term_history_open(h, i, &packed);
    term_row_clear(row);
    return term_packed_to_row(&packed, tables, row);
}

/*
 * The rows of the scrollback, each unpacked into one of two, so that there is a next.
 * They have tables of their own, which are made anew before they grow large.
 */
static int
put_scrollback(struct writer *w, const struct term_row *first)
{
    const struct term_history *h = &w->t->scrollback;
    size_t n = term_history_count(h);
    struct term_row rows[2] = { 0 };
    struct term_tables tables;
    int e = term_tables_init(&tables);
    for (size_t i = 0; i <= n && !e; i++) {
        struct term_row *row = &rows[i % 2], *before = &rows[(i + 1) % 2];
        if (term_tables_is_full(&tables)) {
            term_tables_release(&tables);
            e = term_tables_init(&tables);
            if (!e && i && !unpack(h, i - 1, &tables, before))
                e = -ENOMEM;
        }
        if (!e && i < n && !unpack(h, i, &tables, row))
            e = -ENOMEM;
        w->tables = &tables;
        w->next_tables = i < n ? &tables : &w->t->tables;
        if (!e && i)
            put_row(w, before, i < n ? row : first);
        plain_pen(w); /* its link must not outlive the tables */
        e = e ? e : w->out->failed;
    }
    w->tables = w->next_tables = &w->t->tables;
    term_tables_release(&tables);
    term_row_release(&rows[0]);
    term_row_release(&rows[1]);
    return e;
}

static void
put_screen(struct writer *w, const struct term_screen *s)
{
    for (unsigned y = 0; y < w->t->rows; y++)
        put_row(w, s->rows[y], y + 1 < w->t->rows ? s->rows[y + 1] : NULL);
    plain_pen(w);
}

/* -- the cursor -- */

static void
put_charsets(struct writer *w, const struct term_charsets *c)
{
    static const char finals[] = { 'B', 'A', '0' };
    for (unsigned i = 0; i < 4; i++)
        buf_printf(w->out, "\x1b%c%c", '(' + (int)i, finals[c->g[i]]);
    static const char *const shifts[] = { "\x0f", "\x0e", "\x1bn", "\x1bo" };
    buf_puts(w->out, shifts[c->gl]);
    if (c->single)
        buf_puts(w->out, c->single == 2 ? "\x1bN" : "\x1bO");
}

/* Place, pending wrap, pen and charsets. Charsets are ASCII, rows and columns count from
 * top and left. */
static void
put_cursor(struct writer *w, const struct term_screen *s, const struct term_pen_at *at,
           unsigned top, unsigned left, unsigned end)
{
    unsigned col = at->col;
    const struct term_row *row = s->rows[at->row];
    bool is_pending = at->is_pending && at->col + 1 == end;
    /* From the other screen, perhaps: then there may be one across the margin. */
    if (col < row->used && w->t->cols > 1 && row->text[col] & TERM_CELL_WIDE)
        is_pending = false;
    if (is_pending && col && col < row->used && row->text[col] == TERM_CELL_TAIL)
        col--;
    buf_printf(w->out, "\x1b[%u;%uH", at->row - top + 1, col - left + 1);
    w->join.rune = 0;
    if (is_pending && col < row->used) {
        put_cells(w, row, col, col + 1);
    } else if (is_pending) {
        plain_pen(w);
        buf_puts(w->out, " ");
    }
    set_pen(w, &at->pen, term_link_text(&w->t->tables, at->pen.link));
    put_charsets(w, &at->charsets);
}

/* What DECSC has kept. There are no margins yet: origin mode changes no numbers. */
static void
put_saved(struct writer *w, const struct term_screen *s)
{
    if (s->saved.is_origin)
        buf_puts(w->out, "\x1b[?6h");
    struct term_pen_at at = s->saved;
    at.charsets.single = 0; /* it would not outlast DECSC */
    put_cursor(w, s, &at, 0, 0, w->t->cols);
    buf_puts(w->out, "\x1b\x37\x1b[?6l");
    put_charsets(w, &(struct term_charsets){ 0 });
    plain_pen(w);
}

static void
put_kitty(struct writer *w, const struct term_screen *s)
{
    if (s->kitty[0])
        buf_printf(w->out, "\x1b[=%u;1u", s->kitty[0]);
    for (unsigned i = 1; i < s->n_kitty; i++)
        buf_printf(w->out, "\x1b[>%uu", s->kitty[i]);
}

/* -- the rest -- */

static void
put_titles(struct writer *w)
{
    const struct term_titles *s = &w->t->titles;
    for (unsigned i = 0; i < s->n; i++) {
        char *const *pair = s->stack[i];
        if (pair[0])
            buf_printf(w->out, "\x1b]2;%s\x1b\\", pair[0]);
        if (pair[1])
            buf_printf(w->out, "\x1b]1;%s\x1b\\", pair[1]);
        if (pair[0] || pair[1])
            buf_printf(w->out, "\x1b[22;%ut",
                       pair[0] && pair[1] ? 0U
                       : pair[0]          ? 2U
                                          : 1U);
    }
    if (s->title[0] || s->n)
        buf_printf(w->out, "\x1b]2;%s\x1b\\", s->title);
    if (s->icon[0] || s->n)
        buf_printf(w->out, "\x1b]1;%s\x1b\\", s->icon);
}

static void
put_colours(struct writer *w)
{
    uint32_t rgb;
    for (unsigned i = 0; w->t->colours && i <= TERM_COLOUR_CURSOR; i++) {
        if (!term_colour(w->t, i, &rgb))
            continue;
        if (i < 256)
            buf_printf(w->out, "\x1b]4;%u;#%06x\x1b\\", i, rgb);
        else
            buf_printf(w->out, "\x1b]%u;#%06x\x1b\\", i - TERM_COLOUR_FG + 10, rgb);
    }
}

static void
put_tabs(struct writer *w)
{
    const struct term *t = w->t;
    bool is_default = true;
    for (unsigned col = 0; col < t->cols; col++)
        is_default &= (t->tabs[col / 64] >> (col % 64) & 1) == (col % 8 == 0);
    if (is_default)
        return;
    buf_puts(w->out, "\x1b[3g");
    for (unsigned col = 0; col < t->cols; col++)
        if (t->tabs[col / 64] >> (col % 64) & 1)
            buf_printf(w->out, "\x1b[%uG\x1bH", col + 1);
}

static void
put_margins(struct writer *w)
{
    const struct term *t = w->t;
    if (t->top || t->bottom != t->rows)
        buf_printf(w->out, "\x1b[%u;%ur", t->top + 1, t->bottom);
    if (term_has(t, TERM_MODE_MARGINS))
        buf_puts(w->out, "\x1b[?69h");
    if (!term_is_full_width(t))
        buf_printf(w->out, "\x1b[%u;%us", t->left + 1, t->right);
}

static void
put_modes(struct writer *w)
{
    const struct term *t = w->t;
    term_put_modes(t, w->out);
    if (t->mouse)
        buf_printf(w->out, "\x1b[?%uh", t->mouse);
    if (t->mouse_encoding)
        buf_printf(w->out, "\x1b[?%uh", t->mouse_encoding);
    if (t->cursor_style)
        buf_printf(w->out, "\x1b[%u q", t->cursor_style);
}

static bool
is_empty(const struct term *t, const struct term_screen *s)
{
    static const struct term_style plain;
    static const struct term_charsets ascii;
    const struct term_pen_at *at = &s->saved;
    for (unsigned y = 0; y < t->rows; y++)
        if (s->rows[y]->used)
            return false;
    return s->n_kitty == 1 && !s->kitty[0] && !at->row && !at->col && !at->is_pending &&
           !at->is_origin && !memcmp(&at->pen, &plain, sizeof(plain)) &&
           !memcmp(&at->charsets, &ascii, sizeof(ascii));
}

static void
put_alternate(struct writer *w)
{
    const struct term *t = w->t;
    const struct term_screen *s = &t->screens[1];
    if (!term_is_alternate(t) && is_empty(t, s))
        return;
    buf_puts(w->out, "\x1b[H\x1b[?47h");
    w->join.rune = 0;
    put_screen(w, s);
    put_saved(w, s);
    put_kitty(w, s);
    if (!term_is_alternate(t))
        buf_puts(w->out, "\x1b[?47l");
}

static void
put_final_cursor(struct writer *w)
{
    const struct term *t = w->t;
    unsigned top = 0, left = 0;
    if (term_has(t, TERM_MODE_ORIGIN)) {
        buf_puts(w->out, "\x1b[?6h");
        top = t->at.row >= t->top ? t->top : t->at.row;
        left = t->at.col >= t->left ? t->left : t->at.col;
    }
    put_cursor(w, t->screen, &t->at, top, left,
               t->at.col < t->right ? t->right : t->cols);
    if (!term_has(t, TERM_MODE_AUTOWRAP))
        buf_puts(w->out, "\x1b[?7l");
}

int
term_serialise(const struct term *t, bool with_scrollback, struct buf *out)
{
    struct writer w = {
        .t = t, .tables = &t->tables, .next_tables = &t->tables, .out = out, .uri = ""
    };
    if (with_scrollback) {
        int e = put_scrollback(&w, t->screens[0].rows[0]);
        if (e)
            return e;
    }
    put_screen(&w, &t->screens[0]);
    put_saved(&w, &t->screens[0]);
    put_kitty(&w, &t->screens[0]);
    put_alternate(&w);
    put_titles(&w);
    put_colours(&w);
    put_tabs(&w);
    put_margins(&w);
    /* The cursor before the modes that change what printing means. */
    put_final_cursor(&w);
    put_modes(&w);
    return out->failed;
}
