/* SPDX-License-Identifier: MIT */
/*
 * diff.c -- from one screen to another, in the bytes of a real terminal.
 *
 * The allow-list: printable text, CR LF, CUP, CHA, CUF, ED, EL, SU, SGR, OSC 8, DECSET
 * and DECRST of the modes in put_modes(), DECSCUSR, and the keyboard flags. Nothing else
 * is written, whatever the screens hold. The terminal's pen is the default one before and
 * after; it has no margins and wraps by itself.
 */
#include "base/utf8.h"
#include "term/term_priv.h"

enum { NEAR = 4 }; /* unchanged cells so few are written over rather than jumped */
enum { SCROLL_MAX = 64 };

struct painter {
    const struct term *old, *now;
    struct buf *out;
    unsigned cols, rows;
    unsigned shift;        /* rows by which old was scrolled up */
    bool is_blank;         /* nothing of old is left */
    unsigned row, col;     /* the cursor; col == cols: not known */
    struct term_style pen; /* link: is one open? */
    const char *uri;
    struct term_join join; /* what was printed at the cursor */
};

/* -- cells -- */

static void
old_cell(const struct painter *p, unsigned row, unsigned col, struct term_cell *ret)
{
    *ret = (struct term_cell){ .width = 1 };
    if (!p->is_blank && row + p->shift < p->rows)
        term_cell_at(p->old, row + p->shift, col, ret);
}

static struct view
shown(const struct term_cell *cell)
{
    static const uint8_t space[] = " ";
    return cell->text.n || !cell->width ? cell->text : (struct view){ space, 1 };
}

static bool
is_same_link(const struct painter *p, uint16_t old, uint16_t now)
{
    return !old == !now &&
           (!now || !strcmp(term_link_uri(p->old, old), term_link_uri(p->now, now)));
}

/* What of a style is to be seen, but for the link. */
static struct term_style
visible(const struct term_style *style)
{
    struct term_style s = *style;
    s.attrs &= (uint16_t)~TERM_PROTECTED;
    s.link = 0;
    return s;
}

static bool
is_same_style(const struct term_style *a, const struct term_style *b)
{
    struct term_style x = visible(a), y = visible(b);
    return !memcmp(&x, &y, sizeof(x));
}

static bool
is_same(const struct painter *p, const struct term_cell *old, const struct term_cell *now)
{
    struct view a = shown(old), b = shown(now);
    return old->width == now->width && a.n == b.n && (!a.n || !memcmp(a.p, b.p, a.n)) &&
           is_same_style(&old->style, &now->style) &&
           is_same_link(p, old->style.link, now->style.link);
}

static bool
is_changed(const struct painter *p, unsigned row, unsigned col)
{
    struct term_cell old, now;
    old_cell(p, row, col, &old);
    term_cell_at(p->now, row, col, &now);
    return !is_same(p, &old, &now);
}

/* A border in a character's middle, on either screen. */
static bool
is_split(const struct painter *p, unsigned row, unsigned col)
{
    struct term_cell old, now;
    if (col >= p->cols)
        return false;
    old_cell(p, row, col, &old);
    term_cell_at(p->now, row, col, &now);
    return !old.width || !now.width;
}

/* -- writing -- */

static void
move_to(struct painter *p, unsigned row, unsigned col)
{
    bool is_known = p->col < p->cols;
    p->join.rune = 0;
    if (is_known && row == p->row && col == p->col)
        return;
    if (is_known && row == p->row && col > p->col)
        col == p->col + 1 ? buf_puts(p->out, "\x1b[C")
                          : buf_printf(p->out, "\x1b[%uC", col - p->col);
    else if (row == p->row)
        buf_printf(p->out, "\x1b[%uG", col + 1);
    else if (row == p->row + 1 && col == 0)
        buf_puts(p->out, "\r\n");
    else if (col == 0)
        row ? buf_printf(p->out, "\x1b[%uH", row + 1) : buf_puts(p->out, "\x1b[H");
    else
        buf_printf(p->out, "\x1b[%u;%uH", row + 1, col + 1);
    p->row = row;
    p->col = col;
}

static void
set_link(struct painter *p, const char *uri)
{
    if (!strcmp(p->uri, uri))
        return;
    buf_printf(p->out, "\x1b]8;;%s\x1b\\", uri);
    p->uri = uri;
}

static void
set_style(struct painter *p, const struct term_style *style)
{
    struct term_style s = visible(style);
    if (!memcmp(&s, &p->pen, sizeof(s)))
        return;
    static const struct term_style plain;
    buf_puts(p->out, "\x1b[");
    if (memcmp(&s, &plain, sizeof(s)) != 0)
        term_style_to_sgr(&s, p->out);
    buf_puts(p->out, "m");
    p->pen = s;
}

/* Would this character join the one before the cursor? */
static bool
would_join(struct painter *p, struct view text)
{
    uint32_t rune;
    if (!p->join.rune || !utf8_next(text.p, text.n, &rune))
        return false;
    return term_may_join(&p->join, term_class(p->now->widths, rune));
}

static void
put_cell(struct painter *p, unsigned row, unsigned col, const struct term_cell *cell)
{
    struct view text = shown(cell);
    if (p->row != row || p->col != col) {
        move_to(p, row, col);
    } else if (would_join(p, text)) {
        p->col = p->cols; /* a jump to where we are keeps them apart */
        move_to(p, row, col);
    }
    set_style(p, &cell->style);
    set_link(p, term_link_uri(p->now, cell->style.link));
    buf_append(p->out, text.p, text.n);
    p->col = col + cell->width;
    uint32_t rune;
    bool is_one = (size_t)utf8_next(text.p, text.n, &rune) == text.n;
    p->join = (struct term_join){ rune, term_class(p->now->widths, rune), 0 };
    /* How far a cluster takes the cursor is not the same everywhere. At the end of a row
     * a wrap is pending. */
    if (!is_one || p->col >= p->cols)
        p->col = p->cols;
}

/* -- rows -- */

/* From which column on is the row blank, all in one background? */
static unsigned
blank_tail(const struct painter *p, unsigned row, struct term_style *ret)
{
    unsigned col = p->cols;
    struct term_cell cell;
    term_cell_at(p->now, row, col - 1, &cell);
    *ret = (struct term_style){ .bg = cell.style.bg };
    while (col) {
        term_cell_at(p->now, row, col - 1, &cell);
        struct view text = shown(&cell);
        if (text.n != 1 || text.p[0] != ' ' || cell.style.link ||
            !is_same_style(&cell.style, ret))
            break;
        col--;
    }
    return col;
}

static unsigned
next_change(const struct painter *p, unsigned row, unsigned col)
{
    while (col < p->cols && !is_changed(p, row, col))
        col++;
    return col;
}

/* Cells from..to are to be written; the characters in the way are written whole. */
static void
put_cells(struct painter *p, unsigned row, unsigned from, unsigned to)
{
    while (from && is_split(p, row, from))
        from--;
    while (to < p->cols && is_split(p, row, to))
        to++;
    for (unsigned col = from; col < to; col++) {
        struct term_cell cell;
        term_cell_at(p->now, row, col, &cell);
        if (cell.width)
            put_cell(p, row, col, &cell);
    }
}

static void
put_row(struct painter *p, unsigned row)
{
    struct term_style blank;
    unsigned tail = blank_tail(p, row, &blank);
    unsigned col = next_change(p, row, 0);
    while (col < tail) {
        unsigned end = col + 1, next;
        while ((next = next_change(p, row, end)) < tail && next - end < NEAR)
            end = next + 1;
        put_cells(p, row, col, end);
        col = next > end ? next : next_change(p, row, end);
    }
    /* A character that ends in the tail would leave half of itself. */
    if (next_change(p, row, tail) == p->cols)
        return;
    move_to(p, row, tail);
    set_link(p, "");
    set_style(p, &blank);
    buf_puts(p->out, "\x1b[K");
}

/* -- scrolling -- */

static uint64_t
hash_row(const struct term *t, unsigned row, unsigned cols)
{
    uint64_t h = 14695981039346656037U;
    for (unsigned col = 0; col < cols; col++) {
        struct term_cell cell;
        term_cell_at(t, row, col, &cell);
        struct view text = shown(&cell);
        for (size_t i = 0; i < text.n; i++)
            h = (h ^ text.p[i]) * 1099511628211U;
        h = (h ^ cell.style.fg ^ (uint64_t)cell.style.bg << 32) * 1099511628211U;
    }
    return h;
}

/* How many rows stay where they are when old is scrolled up by n. */
static unsigned
matches(const uint64_t *old, const uint64_t *now, unsigned rows, unsigned n)
{
    unsigned count = 0;
    for (unsigned y = 0; y + n < rows; y++)
        count += old[y + n] == now[y];
    return count;
}

/* Scrolls when that leaves less to write. */
static void
scroll(struct painter *p)
{
    uint64_t *hashes = calloc((size_t)p->rows * 2, sizeof(hashes[0]));
    if (!hashes)
        return; /* it can do without */
    for (unsigned y = 0; y < p->rows; y++) {
        hashes[y] = hash_row(p->old, y, p->cols);
        hashes[p->rows + y] = hash_row(p->now, y, p->cols);
    }
    unsigned most = matches(hashes, hashes + p->rows, p->rows, 0);
    for (unsigned n = 1; n <= SCROLL_MAX && n < p->rows && most < p->rows; n++) {
        unsigned count = matches(hashes, hashes + p->rows, p->rows, n);
        if (count > most + 1) {
            most = count;
            p->shift = n;
        }
    }
    free(hashes);
    if (p->shift == 1)
        buf_puts(p->out, "\x1b[S");
    else if (p->shift)
        buf_printf(p->out, "\x1b[%uS", p->shift);
}

/* -- modes -- */

static void
put_mode(struct buf *out, unsigned number, bool old, bool now)
{
    if (old != now)
        buf_printf(out, "\x1b[?%u%c", number, now ? 'h' : 'l');
}

/* Numbers of modes that exclude each other; 0 is none of them. */
static void
put_choice(struct buf *out, unsigned old, unsigned now)
{
    if (old == now)
        return;
    if (now)
        put_mode(out, now, false, true);
    else
        put_mode(out, old, true, false);
}

static void
put_modes(struct painter *p)
{
    struct buf *out = p->out;
    struct term_modes old = { .alternate_scroll = true }, now = term_modes(p->now);
    struct term_cursor old_cursor = { .is_visible = true }, cursor = term_cursor(p->now);
    unsigned old_shape = 0, shape = p->now->cursor_style;
    if (p->old) {
        old = term_modes(p->old);
        old_cursor = term_cursor(p->old);
        old_shape = p->old->cursor_style;
    }
    put_mode(out, 1, old.app_cursor_keys, now.app_cursor_keys);
    put_mode(out, 5, old.is_reverse, now.is_reverse);
    put_mode(out, 66, old.app_keypad, now.app_keypad);
    put_mode(out, 1004, old.focus_events, now.focus_events);
    put_mode(out, 1007, old.alternate_scroll, now.alternate_scroll);
    put_mode(out, 2004, old.bracketed_paste, now.bracketed_paste);
    put_choice(out, old.mouse, now.mouse);
    put_choice(out, old.mouse_encoding, now.mouse_encoding);
    if (old.kitty_keys != now.kitty_keys)
        buf_printf(out, "\x1b[=%u;1u", now.kitty_keys);
    if (old_shape != shape)
        buf_printf(out, "\x1b[%u q", shape);
    move_to(p, cursor.row < p->rows ? cursor.row : p->rows - 1,
            cursor.col < p->cols ? cursor.col : p->cols - 1);
    put_mode(out, 25, old_cursor.is_visible, cursor.is_visible);
}

int
term_diff(const struct term *old, const struct term *now, struct buf *out)
{
    struct painter p = { .old = old, .now = now, .out = out, .uri = "" };
    bool is_resized = old && (old->cols != now->cols || old->rows != now->rows);
    p.cols = old && old->cols < now->cols ? old->cols : now->cols;
    p.rows = old && old->rows < now->rows ? old->rows : now->rows;
    p.is_blank = !old || is_resized;
    if (is_resized) {
        buf_puts(out, "\x1b[H\x1b[J");
    } else if (old) {
        p.row = old->at.row;
        p.col = old->at.is_pending ? p.cols : old->at.col;
        scroll(&p);
    }
    for (unsigned y = 0; y < p.rows; y++)
        put_row(&p, y);
    set_link(&p, "");
    set_style(&p, &(struct term_style){ 0 });
    put_modes(&p);
    return out->failed;
}

/* What was printed last is printed again, at its place. */
static void
put_pending(struct painter *p, unsigned row, unsigned col)
{
    struct term_cell cell;
    term_cell_at(p->now, row, col, &cell);
    if (!cell.width && col)
        term_cell_at(p->now, row, --col, &cell);
    put_cell(p, row, col, &cell);
}

int
term_hand_over(const struct term *now, struct buf *out)
{
    struct painter p = {
        .now = now, .out = out, .cols = now->cols, .rows = now->rows, .uri = ""
    };
    const struct term_pen_at *at = &now->at;
    p.row = at->row;
    p.col = p.cols;
    if (at->is_pending && at->col + 1 == p.cols)
        put_pending(&p, at->row, at->col);
    set_link(&p, term_link_uri(now, at->pen.link));
    set_style(&p, &at->pen);
    return out->failed;
}
