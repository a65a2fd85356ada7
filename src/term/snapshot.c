/* SPDX-License-Identifier: MIT */
/*
 * snapshot.c -- the whole model to bytes and back.
 *
 * "AHRT", a version, then numbers as varints and strings with their size before them, in
 * the order in which one list of fields names them: both ways go through the same
 * functions, so that they cannot differ. Rows are pages of a history. What comes in is
 * not trusted: every number has a limit, every row is opened once.
 */
#include <errno.h>
#include <stdio.h>

#include "base/utf8.h"
#include "base/varint.h"
#include "term/term_priv.h"

enum { VERSION = 1, STRING_MAX = TERM_STRING_MAX };
enum { COLOUR_MAX = TERM_COLOUR(TERM_COLOUR_RGB, 0xffffff) };
enum { ANY_COLS = TERM_COLS_MAX + 1 }; /* marked lines are not wrapped anew */
enum { PAGE_BYTES_MAX = BUF_CEILING, PAGE_ROWS_MAX = 1 << 16, PAGES_MAX = 1 << 24 };

/* Either writes to `out` or takes from `in`. */
struct stream {
    struct buf *out; /* NULL: reading */
    struct view in;
    bool is_bad;
    bool is_out_of_memory; /* that is why */
};

static void
no_memory(struct stream *s)
{
    s->is_bad = s->is_out_of_memory = true;
}

/* -- numbers and strings -- */

/* A number up to max. */
static void
number(struct stream *s, uint64_t *v, uint64_t max)
{
    if (s->out) {
        uint8_t bytes[VARINT_MAX];
        buf_append(s->out, bytes, (size_t)(put_varint(bytes, *v) - bytes));
    } else if (!get_varint(&s->in, v) || *v > max) {
        s->is_bad = true;
        *v = 0;
    }
}

/* The same for a variable of any unsigned type. */
#define NUMBER(s, variable, max)                    \
    do {                                            \
        uint64_t number_ = (variable);              \
        number(s, &number_, max);                   \
        (variable) = (__typeof__(variable))number_; \
    } while (0)

/* A string up to max bytes; what was read is borrowed from the input. */
static struct view
string(struct stream *s, struct view v, size_t max)
{
    uint64_t n = v.n;
    number(s, &n, max);
    if (s->out) {
        buf_append(s->out, v.p, v.n);
        return v;
    }
    if (n > s->in.n) {
        s->is_bad = true;
        n = 0;
    }
    v = (struct view){ s->in.p, (size_t)n };
    s->in = (struct view){ s->in.p + n, s->in.n - (size_t)n };
    return v;
}

static struct view
view_of(const char *text)
{
    return (struct view){ (const uint8_t *)text, text ? strlen(text) : 0 };
}

/* Into a buf that is empty when reading. */
static void
string_buf(struct stream *s, struct buf *b, size_t max)
{
    struct view v = string(s, (struct view){ b->p, b->n }, max);
    if (!s->out && buf_append(b, v.p, v.n) < 0)
        no_memory(s);
}

/* Text without controls, up to this character. */
static bool
is_clean(struct view text, uint32_t last)
{
    for (size_t i = 0; i < text.n;) {
        uint32_t rune;
        int n = utf8_next(text.p + i, text.n - i, &rune);
        if (!n || rune > last || term_is_control(rune))
            return false;
        i += (size_t)n;
    }
    return true;
}

static bool
is_colour(uint32_t colour)
{
    return term_colour_kind(colour) == TERM_COLOUR_RGB ||
           term_colour_value(colour) <=
               (term_colour_kind(colour) == TERM_COLOUR_INDEX ? 255 : 0);
}

static void
check_look(struct stream *s, uint32_t fg, uint32_t bg, uint16_t attrs)
{
    struct term_style style = { .attrs = attrs };
    if (!is_colour(fg) || !is_colour(bg) ||
        term_style_underline(&style) > TERM_UNDERLINE_DASHED ||
        attrs >> (TERM_UNDERLINE_SHIFT + 3))
        s->is_bad = true;
}

static void
title(struct stream *s, struct term *t, char *text, bool is_title)
{
    struct view v = string(s, view_of(text), TERM_TITLE_MAX);
    if (!s->out)
        term_set_title(t, v, is_title, !is_title); /* which cleans it */
}

/* -- pages and rows -- */

static void
page_styles(struct stream *s, struct term_page *page)
{
    uint64_t n = page->extras.n / sizeof(struct term_page_extra);
    number(s, &n, UINT16_MAX);
    for (uint64_t i = 0; i < n && !s->is_bad; i++) {
        struct term_page_extra extra = { 0 };
        if (s->out)
            memcpy(&extra, page->extras.p + i * sizeof(extra), sizeof(extra));
        NUMBER(s, extra.underline_colour, COLOUR_MAX);
        NUMBER(s, extra.uri, page->uris.n);
        check_look(s, extra.underline_colour, 0, 0);
        if (extra.uri > 1 && page->uris.p[extra.uri - 2])
            s->is_bad = true; /* not where one begins */
        if (!s->out && buf_append(&page->extras, &extra, sizeof(extra)) < 0)
            no_memory(s);
    }
    uint64_t n_extras = n;
    n = page->styles.n / sizeof(struct term_page_style);
    number(s, &n, PAGE_BYTES_MAX / sizeof(struct term_page_style));
    for (uint64_t i = 0; i < n && !s->is_bad; i++) {
        struct term_page_style style = { 0 };
        if (s->out)
            memcpy(&style, page->styles.p + i * sizeof(style), sizeof(style));
        NUMBER(s, style.fg, COLOUR_MAX);
        NUMBER(s, style.bg, COLOUR_MAX);
        NUMBER(s, style.attrs, UINT16_MAX);
        NUMBER(s, style.extra, n_extras);
        check_look(s, style.fg, style.bg, style.attrs);
        if (!s->out && buf_append(&page->styles, &style, sizeof(style)) < 0)
            no_memory(s);
    }
}

static void
page_offsets(struct stream *s, struct term_page *page)
{
    uint32_t before = 0;
    for (uint32_t i = 0; i < page->n && !s->is_bad; i++) {
        uint32_t at = 0;
        if (s->out)
            memcpy(&at, page->offsets.p + (size_t)i * sizeof(at), sizeof(at));
        uint32_t step = at - before;
        NUMBER(s, step, page->data.n - before);
        at = before += step;
        if (!s->out && buf_append(&page->offsets, &at, sizeof(at)) < 0)
            no_memory(s);
    }
}

static void
page_fields(struct stream *s, struct term_page *page)
{
    NUMBER(s, page->stamp, UINT64_MAX);
    NUMBER(s, page->n, PAGE_ROWS_MAX);
    NUMBER(s, page->widest, TERM_COLS_MAX);
    NUMBER(s, page->has_wrapped, 1);
    string_buf(s, &page->data, PAGE_BYTES_MAX);
    string_buf(s, &page->uris, PAGE_BYTES_MAX);
    for (size_t at = 0, n; at < page->uris.n; at += n + 1) {
        n = strnlen((const char *)page->uris.p + at, page->uris.n - at);
        if (at + n == page->uris.n || n > STRING_MAX ||
            !is_clean((struct view){ page->uris.p + at, n }, 0x7e)) {
            s->is_bad = true;
            break;
        }
    }
    page_styles(s, page);
    page_offsets(s, page);
}

/* Is every row of it sound, and none wider than the screen? */
static bool
is_sound(const struct term_page *page, unsigned cols)
{
    for (uint32_t i = 0; i < page->n; i++) {
        struct term_packed packed;
        struct term_packed_cell cell = { 0 };
        struct term_run run = { 0 };
        if (!term_page_open(page, i, &packed) || packed.cells > cols ||
            packed.cells > page->widest)
            return false;
        /* On a screen of one column wide characters have no right half. */
        bool is_narrow = packed.cells == 1 && (cols == 1 || cols == ANY_COLS);
        uint32_t col = 0;
        if (packed.is_ascii)
            for (; col < packed.cells && packed.text.p[col] < 0x7f &&
                   (!packed.text.p[col] || packed.text.p[col] >= 0x20);)
                col++;
        else
            while (col < packed.cells && term_packed_next_cell(&packed, &cell) &&
                   is_clean(cell.text, 0x10ffff))
                col += cell.flags & TERM_CELL_WIDE && !is_narrow ? 2 : 1;
        while (term_packed_next_run(&packed, &run))
            ;
        if (col != packed.cells || run.end != packed.cells)
            return false;
    }
    return true;
}

/* A page from the stream, looked through; NULL: there is none that is sound. */
static struct term_page *
read_page(struct stream *s, struct term_tables *tables, unsigned cols)
{
    struct term_page *page = calloc(1, sizeof(*page));
    if (!page) {
        no_memory(s);
        return NULL;
    }
    page->serial = ++tables->pages;
    page_fields(s, page);
    if (!s->is_bad && page->n && is_sound(page, cols))
        return page;
    term_page_free(page);
    return NULL;
}

static void
history_pages(struct stream *s, struct term_history *h, struct term_tables *tables,
              unsigned cols)
{
    uint64_t n = h->n;
    number(s, &n, PAGES_MAX);
    for (size_t i = 0; s->out && i < h->n; i++)
        page_fields(s, h->pages[h->first + i]);
    while (!s->out && !s->is_bad && n--) {
        struct term_page *page = read_page(s, tables, cols);
        if (!page)
            s->is_bad = true;
        else if (!term_history_push_page(h, page))
            no_memory(s);
    }
}

/* Rows that went, and, if they are in it, those that are there. */
static void
history(struct stream *s, struct term_history *h, struct term_tables *tables,
        unsigned cols, bool has_rows)
{
    uint64_t start = h->n ? h->pages[h->first]->start : h->end;
    uint64_t gone = has_rows ? start : h->end, dropped = h->dropped - start;
    number(s, &gone, UINT64_MAX >> 1);
    if (!s->out)
        h->end = h->dropped = gone;
    if (!has_rows)
        return;
    history_pages(s, h, tables, cols);
    number(s, &dropped, s->out || !h->n ? UINT64_MAX : h->pages[h->first]->n - 1);
    if (!s->out && h->n)
        h->dropped += dropped;
}

static void
screen_rows(struct stream *s, struct term *t, struct term_screen *screen)
{
    struct term_history h = { .ceiling = UINT32_MAX };
    for (unsigned y = 0; s->out && y < t->rows; y++)
        term_history_push(&h, &t->tables, screen->rows[y]);
    if (h.error)
        s->is_bad = true;
    history_pages(s, &h, &t->tables, t->cols);
    if (!s->out && term_history_count(&h) != t->rows)
        s->is_bad = true;
    for (unsigned y = 0; !s->out && !s->is_bad && y < t->rows; y++) {
        struct term_packed packed;
        term_history_open(&h, y, &packed);
        if (!term_packed_to_row(&packed, &t->tables, screen->rows[y]))
            no_memory(s); /* sound it was */
    }
    term_history_release(&h);
}

/* -- the pen and where it is -- */

static void
pen_at(struct stream *s, struct term *t, struct term_pen_at *at)
{
    NUMBER(s, at->row, t->rows - 1);
    NUMBER(s, at->col, t->cols - 1);
    NUMBER(s, at->is_pending, 1);
    NUMBER(s, at->is_origin, 1);
    NUMBER(s, at->pen.fg, COLOUR_MAX);
    NUMBER(s, at->pen.bg, COLOUR_MAX);
    NUMBER(s, at->pen.underline_colour, COLOUR_MAX);
    NUMBER(s, at->pen.attrs, UINT16_MAX);
    check_look(s, at->pen.fg, at->pen.bg, at->pen.attrs);
    check_look(s, at->pen.underline_colour, 0, 0);
    for (unsigned i = 0; i < 4; i++)
        NUMBER(s, at->charsets.g[i], TERM_CHARSET_LINES);
    NUMBER(s, at->charsets.gl, 3);
    NUMBER(s, at->charsets.single, 3);
    struct view uri = string(s, view_of(term_link_text(&t->tables, at->pen.link)),
                             STRING_MAX);
    if (!s->out) {
        s->is_bad |= !is_clean(uri, 0x7e);
        at->pen.link = s->is_bad ? 0 : term_link_id(&t->tables, uri);
        if (uri.n && !at->pen.link && !s->is_bad)
            no_memory(s);
    }
}

static void
screen_fields(struct stream *s, struct term *t, struct term_screen *screen)
{
    pen_at(s, t, &screen->saved);
    NUMBER(s, screen->n_kitty, TERM_KITTY_STACK);
    if (!screen->n_kitty)
        screen->n_kitty = 1;
    for (unsigned i = 0; i < screen->n_kitty; i++)
        NUMBER(s, screen->kitty[i], 31);
    screen_rows(s, t, screen);
}

/* -- the rest -- */

/* What the parser knows of the sequence it is in. */
static void
sequence_fields(struct stream *s, struct term_parser *p)
{
    NUMBER(s, p->marker, UINT8_MAX);
    NUMBER(s, p->intermediate, UINT8_MAX);
    NUMBER(s, p->final, 0x7e);
    NUMBER(s, p->is_osc, 1);
    NUMBER(s, p->is_too_long, 1);
    NUMBER(s, p->n_params, TERM_PARAMS_MAX + 1);
    NUMBER(s, p->sub_params, UINT32_MAX);
    for (unsigned i = 0; i < TERM_PARAMS_MAX && i < p->n_params; i++)
        NUMBER(s, p->params[i], TERM_PARAM_MAX);
    if (p->marker && (p->marker < '<' || p->marker > '?'))
        s->is_bad = true;
}

static void
parser_fields(struct stream *s, struct term_parser *p)
{
    NUMBER(s, p->state, TERM_STATES - 1);
    if (p->state == TERM_STATE_RUNE) {
        NUMBER(s, p->rune, 0x10ffff);
        NUMBER(s, p->rune_need, 3);
        NUMBER(s, p->rune_lo, UINT8_MAX);
        NUMBER(s, p->rune_hi, UINT8_MAX);
        /* What it will be with all bytes is a character. */
        if (!p->rune_need || p->rune > 0x10ffffU >> (6 * p->rune_need) ||
            p->rune_lo < 0x80 || p->rune_hi > 0xbf)
            s->is_bad = true;
    } else if (p->state != TERM_STATE_GROUND) {
        sequence_fields(s, p);
    }
    if (p->state == TERM_STATE_STRING || p->state == TERM_STATE_STRING_ESCAPE) {
        p->string.ceiling = TERM_STRING_MAX;
        string_buf(s, &p->string, STRING_MAX);
    }
}

static void
title_fields(struct stream *s, struct term *t)
{
    struct term_titles *titles = &t->titles;
    uint64_t n = titles->n;
    number(s, &n, TERM_TITLE_STACK);
    for (unsigned i = 0; i < n; i++) {
        unsigned which = 0;
        if (s->out)
            which = !titles->stack[i][0] ? 1 : !titles->stack[i][1] ? 2 : 0;
        NUMBER(s, which, 2);
        title(s, t, s->out ? titles->stack[i][0] : NULL, true);
        title(s, t, s->out ? titles->stack[i][1] : NULL, false);
        if (!s->out)
            term_push_title(t, which);
    }
    title(s, t, titles->title, true);
    title(s, t, titles->icon, false);
}

static void
colour_fields(struct stream *s, struct term *t)
{
    bool has_colours = t->colours;
    NUMBER(s, has_colours, 1);
    if (!has_colours)
        return;
    if (!t->colours)
        t->colours = calloc(TERM_COLOUR_CURSOR + 1, sizeof(t->colours[0]));
    if (!t->colours)
        no_memory(s);
    for (unsigned i = 0; t->colours && i <= TERM_COLOUR_CURSOR; i++)
        NUMBER(s, t->colours[i], 0x1ffffff);
}

static void
mark_fields(struct stream *s, struct term *t)
{
    uint64_t n = t->n_marks;
    number(s, &n, TERM_MARKS_MAX);
    for (uint64_t i = 0; i < n && !s->is_bad; i++) {
        struct term_mark m = { 0 };
        if (s->out)
            m = term_mark_at(t, i);
        NUMBER(s, m.kind, TERM_MARK_VSCODE);
        NUMBER(s, m.byte_off, UINT64_MAX);
        NUMBER(s, m.line, UINT64_MAX);
        m.text = string(s, m.text, TERM_MARK_TEXT_MAX);
        if (!s->out)
            term_add_mark(t, &m);
    }
}

static void
margin_fields(struct stream *s, struct term *t)
{
    NUMBER(s, t->top, t->rows);
    NUMBER(s, t->bottom, t->rows);
    NUMBER(s, t->left, t->cols);
    NUMBER(s, t->right, t->cols);
    /* Of two at least, as DECSTBM and DECSLRM have it, if there are as many. */
    if (t->top + (t->rows > 1) >= t->bottom || t->left + (t->cols > 1) >= t->right)
        s->is_bad = true;
    for (unsigned i = 0; i <= t->cols / 64; i++)
        NUMBER(s, t->tabs[i], UINT64_MAX);
}

static void
state_fields(struct stream *s, struct term *t)
{
    pen_at(s, t, &t->at);
    margin_fields(s, t);
    NUMBER(s, t->modes, (1U << TERM_MODES) - 1);
    NUMBER(s, t->saved_modes, UINT32_MAX); /* by the order of modes.c: see VERSION */
    NUMBER(s, t->mouse, 9999);
    NUMBER(s, t->mouse_encoding, 9999);
    if (!term_is_mouse(t->mouse) || !term_is_mouse_encoding(t->mouse_encoding))
        s->is_bad = true;
    NUMBER(s, t->cursor_style, 6);
    NUMBER(s, t->join.rune, 0x10ffff);
    uint64_t join_state = (uint32_t)t->join.state;
    number(s, &join_state, UINT32_MAX);
    t->join.state = (int32_t)(uint32_t)join_state;
    NUMBER(s, t->join_col, t->cols - 1);
    t->join.rune_class = term_class(t->widths, t->join.rune);
    NUMBER(s, t->last_rune, 0x10ffff);
    if (t->last_rune && term_is_control(t->last_rune))
        s->is_bad = true;
    NUMBER(s, t->byte_off, UINT64_MAX);
    NUMBER(s, t->kept_byte, UINT64_MAX);
}

static void
all_fields(struct stream *s, struct term *t, bool has_rows)
{
    bool is_alternate = term_is_alternate(t);
    NUMBER(s, is_alternate, 1);
    t->screen = &t->screens[is_alternate];
    state_fields(s, t);
    screen_fields(s, t, &t->screens[0]);
    screen_fields(s, t, &t->screens[1]);
    parser_fields(s, &t->parser);
    title_fields(s, t);
    colour_fields(s, t);
    history(s, &t->scrollback, &t->tables, t->cols, has_rows);
    history(s, &t->marked, &t->tables, ANY_COLS, has_rows);
    if (has_rows)
        mark_fields(s, t);
}

/* -- both ways -- */

static void
head_fields(struct stream *s, unsigned *cols, unsigned *rows, bool *has_rows)
{
    uint64_t version = VERSION;
    struct view magic = string(s, view_of("AHRT"), 4);
    if (magic.n != 4 || memcmp(magic.p, "AHRT", 4) != 0)
        s->is_bad = true;
    number(s, &version, VERSION);
    NUMBER(s, *cols, TERM_COLS_MAX);
    NUMBER(s, *rows, TERM_ROWS_MAX);
    NUMBER(s, *has_rows, 1);
}

int
term_snapshot(struct term *t, bool with_scrollback, struct buf *out)
{
    struct stream s = { .out = out };
    head_fields(&s, &t->cols, &t->rows, &with_scrollback);
    all_fields(&s, t, with_scrollback);
    return s.is_bad ? -ENOMEM : out->failed;
}

int
term_restore(struct view snapshot, const struct term_options *opt, struct term **ret,
             struct err *err)
{
    struct stream s = { .in = snapshot };
    struct term_options with_size = *opt;
    bool has_rows = false;
    head_fields(&s, &with_size.cols, &with_size.rows, &has_rows);
    if (s.is_bad || !with_size.cols || !with_size.rows)
        return err_set(err, ERR_DAMAGED, "no snapshot of a terminal, or a newer one");
    struct term *t = term_new(&with_size);
    if (!t)
        return err_code(err, -ENOMEM, "cannot restore a terminal");
    if (t->cols == with_size.cols && t->rows == with_size.rows)
        all_fields(&s, t, has_rows);
    else
        s.is_bad = true;
    if (s.is_out_of_memory || (!s.is_bad && term_error(t))) {
        term_free(t);
        return err_code(err, -ENOMEM, "cannot restore a terminal");
    }
    if (s.is_bad || s.in.n) {
        term_free(t);
        return err_set(err, ERR_DAMAGED, "the snapshot of a terminal is damaged");
    }
    t->is_pen_known = false;
    term_history_trim(&t->scrollback);
    term_history_trim(&t->marked);
    *ret = t;
    return 0;
}
