/* SPDX-License-Identifier: MIT */
/*
 * reflow.c -- the primary screen and the scrollback at another width.
 *
 * The screen's rows join the scrollback, all of it is wrapped anew row by row, and the
 * screen takes its rows back from the end. Pages without anything to do are passed on
 * whole. Of a line that goes over many rows only what does not fill a new row yet is
 * held, so that a line without an end costs no memory.
 */
#include "term/term_priv.h"

/* A place that must be found again. */
struct point {
    uint64_t row;    /* number in the old history, then in the new one */
    unsigned col;    /* may stand behind the last column: a wrap is pending */
    uint64_t offset; /* in its line, once its row was met */
    enum { POINT_AHEAD, POINT_MET, POINT_DONE } state;
};

enum { POINT_TOP, POINT_CURSOR, POINT_SAVED, POINTS };

/* Cells from one old row, up to `end` of the line. */
struct segment {
    uint64_t end;
    uint64_t stamp;
};

struct reflow {
    struct term *t;
    struct term_history out;
    struct term_row cells; /* one old row */
    unsigned cols, old_cols;
    struct point points[POINTS];
    uint64_t done, total; /* cells of the line that are out, that have come */
    uint32_t start;       /* t->line's first cell that is not out */
    struct buf segments;
    size_t first_segment;
};

/* -- the line in hand -- */

/* The largest stamp of what goes into the row up to `end`. With the line's last row go
 * all that are left: a row without any text may be among them. */
static uint64_t
take_stamp(struct reflow *r, uint64_t end, bool is_last)
{
    uint64_t stamp = 0;
    struct segment s;
    while ((r->first_segment + 1) * sizeof(s) <= r->segments.n) {
        memcpy(&s, r->segments.p + r->first_segment * sizeof(s), sizeof(s));
        if (stamp < s.stamp)
            stamp = s.stamp;
        r->first_segment += s.end <= end || is_last;
        if (s.end >= end && !is_last)
            break;
    }
    return stamp;
}

static void
settle_points(struct reflow *r, uint64_t end, bool is_last)
{
    for (unsigned i = 0; i < POINTS; i++) {
        struct point *p = &r->points[i];
        if (p->state != POINT_MET || (p->offset >= end && !is_last))
            continue;
        uint64_t col = p->offset - r->done;
        /* Behind a full row a wrap is pending, if it is the text that fills it. */
        uint64_t most = p->offset == r->total ? r->cols : r->cols - 1;
        p->row = r->out.end;
        p->col = (unsigned)(col < most ? col : most);
        p->state = POINT_DONE;
    }
}

/* The next n cells of the line become a row. */
static void
put_row(struct reflow *r, uint32_t n, bool is_wrapped)
{
    struct term_row *line = &r->t->line;
    uint32_t cut = r->start + n, lead = 0, lead_style = 0;
    bool is_split = n > 1 && n == r->cols && cut < line->used &&
                    line->text[cut] == TERM_CELL_TAIL;
    if (is_split) {
        /* A wide character does not fit: it waits, a pad takes its place. */
        n--;
        lead = line->text[cut - 1];
        lead_style = line->style[cut - 1];
        line->text[cut - 1] = TERM_CELL_PAD;
        line->style[cut - 1] = 0;
    }
    struct term_row row = {
        .text = line->used ? line->text + r->start : NULL,
        .style = line->used ? line->style + r->start : NULL,
        .used = n + is_split,
        .is_wrapped = is_wrapped,
        .has_wide = line->has_wide,
        .stamp = take_stamp(r, r->done + n, !is_wrapped),
    };
    settle_points(r, r->done + n, !is_wrapped);
    term_history_push(&r->out, &r->t->tables, &row);
    if (is_split) {
        line->text[cut - 1] = lead;
        line->style[cut - 1] = lead_style;
    }
    r->start += n;
    r->done += n;
    /* On a screen of one column wide characters have no right half. */
    if (r->cols == 1 && r->start < line->used && line->text[r->start] == TERM_CELL_TAIL) {
        r->start++;
        r->done++;
    }
}

/* Does a wide character come next? */
static bool
is_wide_next(const struct reflow *r)
{
    const struct term_row *line = &r->t->line;
    return r->start < line->used && line->text[r->start] & TERM_CELL_WIDE;
}

static void
end_line(struct reflow *r)
{
    struct term_row *line = &r->t->line;
    while (line->used - r->start > r->cols + (r->cols == 1 && is_wide_next(r)))
        put_row(r, r->cols, true);
    uint32_t rest = line->used - r->start;
    put_row(r, rest < r->cols ? rest : r->cols, false);
    term_row_clear(line);
    buf_clear(&r->segments);
    r->first_segment = 0;
    r->start = 0;
    r->done = r->total = 0;
}

/* What of the line is not out yet comes to the front. */
static void
compact(struct reflow *r)
{
    struct term_row *line = &r->t->line;
    uint32_t n = line->used - r->start;
    if (r->start) {
        memmove(line->text, line->text + r->start, n * sizeof(uint32_t));
        memmove(line->style, line->style + r->start, n * sizeof(uint32_t));
    }
    line->used = n;
    r->start = 0;
    size_t used = r->first_segment * sizeof(struct segment);
    if (used) {
        memmove(r->segments.p, r->segments.p + used, r->segments.n - used);
        r->segments.n -= used;
    }
    r->first_segment = 0;
}

static void
add_cells(struct reflow *r, const struct term_row *cells, uint64_t number)
{
    struct term_row *line = &r->t->line;
    uint32_t n = cells->used;
    bool has_pad = false;
    for (unsigned i = 0; i < POINTS; i++) {
        struct point *p = &r->points[i];
        if (p->state == POINT_AHEAD && p->row == number) {
            p->offset = r->total + p->col;
            p->state = POINT_MET;
        }
    }
    compact(r);
    if (cells->is_wrapped && n == r->old_cols && cells->text[n - 1] == TERM_CELL_PAD) {
        has_pad = true;
        n--;
    }
    bool is_half = r->old_cols == 1 && n && cells->text[0] & TERM_CELL_WIDE;
    uint32_t full = cells->is_wrapped && !has_pad ? r->old_cols : n;
    if (!term_row_reserve(line, line->used + full + is_half)) {
        term_no_memory(r->t);
        return;
    }
    if (n) {
        memcpy(line->text + line->used, cells->text, n * sizeof(uint32_t));
        memcpy(line->style + line->used, cells->style, n * sizeof(uint32_t));
    }
    line->used += n;
    if (is_half) {
        line->text[line->used] = TERM_CELL_TAIL;
        line->style[line->used] = cells->style[0];
        line->used++;
        n++;
        full++;
    }
    line->has_wide |= cells->has_wide;
    if (!term_row_extend(line, line->used + full - n))
        term_no_memory(r->t);
    r->total += full;
    struct segment s = { .end = r->total, .stamp = cells->stamp };
    if (buf_append(&r->segments, &s, sizeof(s)) < 0)
        term_no_memory(r->t);
}

static void
add_row(struct reflow *r, const struct term_packed *packed, uint64_t number)
{
    struct term *t = r->t;
    term_row_clear(&r->cells);
    if (!term_packed_to_row(packed, &t->tables, &r->cells))
        term_no_memory(t);
    add_cells(r, &r->cells, number);
    if (!packed->is_wrapped) {
        end_line(r);
    } else {
        /* One cell more than a row is kept: is it a tail? is there more at all? */
        while (t->line.used - r->start > r->cols + 1)
            put_row(r, r->cols, true);
    }
    if (term_tables_is_full(&t->tables))
        term_collect(t);
}

/* -- all lines -- */

static bool
is_met_on(const struct reflow *r, const struct term_page *page)
{
    for (unsigned i = 0; i < POINTS; i++)
        if (r->points[i].row >= page->start && r->points[i].row < page->start + page->n)
            return true;
    return false;
}

/* How many rows a page's rows will be, at least. */
static uint64_t
least_rows(const struct term_page *page, unsigned cols)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < page->n; i++) {
        struct term_packed packed;
        if (term_page_open(page, i, &packed))
            n += packed.cells / cols;
    }
    return n;
}

/* Rows that would go past the ceiling need not be wrapped at all. */
static void
drop_those_that_must_go(struct reflow *r, struct term_history *in)
{
    uint64_t n = 0;
    size_t keep = 0;
    while (keep < in->n && n <= r->out.ceiling)
        n += least_rows(in->pages[in->first + in->n - ++keep], r->cols);
    while (in->n > keep)
        term_page_free(term_history_take_page(in));
}

static void
wrap_anew(struct reflow *r)
{
    struct term_history *in = &r->t->scrollback;
    uint64_t dropped = in->dropped;
    bool is_in_line = false;
    struct term_page *page;
    drop_those_that_must_go(r, in);
    r->out.dropped = r->out.end = in->dropped;
    while ((page = term_history_take_page(in))) {
        uint64_t first = page->start > dropped ? page->start : dropped;
        if (r->old_cols > 1 && !page->has_wrapped && !is_in_line &&
            page->widest <= r->cols && first == page->start && !is_met_on(r, page)) {
            term_history_push_page(&r->out, page);
            term_history_trim(&r->out);
            continue;
        }
        for (uint64_t number = first; number < page->start + page->n; number++) {
            struct term_packed packed;
            if (!term_page_open(page, (uint32_t)(number - page->start), &packed))
                continue;
            /* The screen's rows are apart: their pages go when it takes them back. */
            if (number == r->points[POINT_TOP].row && !is_in_line)
                r->out.is_sealed = true;
            add_row(r, &packed, number);
            is_in_line = packed.is_wrapped;
        }
        term_page_free(page);
    }
    if (is_in_line)
        end_line(r);
    r->out.error = in->error ? in->error : r->out.error;
    r->out.edition = in->edition + 1;
    term_history_release(in);
    *in = r->out;
}

/* -- the screen -- */

static unsigned
rows_in_use(const struct term *t, unsigned cursor_row)
{
    unsigned n = t->rows;
    while (n > cursor_row + 1 && !term_row_length(t->screens[0].rows[n - 1]))
        n--;
    return n;
}

/* Takes rows back from the end of the scrollback: `top` is the first one's number. Those
 * that do not fit are dropped. */
static void
take_back(struct term *t, uint64_t top)
{
    struct term_history *h = &t->scrollback;
    while (h->end > top) {
        uint64_t y = h->end - 1 - top;
        struct term_packed packed;
        term_history_open(h, term_history_count(h) - 1, &packed);
        if (y < t->rows &&
            !term_packed_to_row(&packed, &t->tables, t->screens[0].rows[y]))
            term_no_memory(t);
        term_history_pop(h);
    }
}

static void
place(struct term *t, struct term_pen_at *at, const struct point *p, uint64_t top)
{
    uint64_t row = p->row > top ? p->row - top : 0;
    at->row = row < t->rows ? (unsigned)row : t->rows - 1;
    at->is_pending = p->col >= t->cols && term_has(t, TERM_MODE_AUTOWRAP);
    at->col = p->col < t->cols ? p->col : t->cols - 1;
}

static void
resize_primary(struct term *t, const struct term_size *size, struct term_pen_at *cursor)
{
    unsigned cols = size->cols, rows = size->rows;
    struct term_pen_at *saved = &t->screens[0].saved;
    struct term_history *h = &t->scrollback;
    uint64_t base = h->end;
    unsigned n = rows_in_use(t, cursor->row);
    bool was_full = n == t->rows;
    struct reflow r = { .t = t, .cols = cols, .old_cols = t->cols };
    r.points[POINT_TOP] = (struct point){ .row = base };
    r.points[POINT_CURSOR] = (struct point){ .row = base + cursor->row,
                                             .col = cursor->col + cursor->is_pending };
    unsigned saved_row = saved->row < n ? saved->row : n - 1;
    unsigned below_text = saved->row - saved_row;
    r.points[POINT_SAVED] = (struct point){ .row = base + saved_row,
                                            .col = saved->col + saved->is_pending };

    /* Until the screen has taken its own back, there are more rows than at most. */
    uint32_t ceiling = h->ceiling;
    uint64_t room = (uint64_t)ceiling + rows + n * ((uint64_t)t->cols / cols + 2);
    h->ceiling = r.out.ceiling = room < UINT32_MAX ? (uint32_t)room : UINT32_MAX;
    h->is_held = h->is_sealed = r.out.is_held = true;
    for (unsigned y = 0; y < n; y++)
        term_history_push(h, &t->tables, t->screens[0].rows[y]);
    if (cols != t->cols) {
        wrap_anew(&r);
        buf_release(&r.segments);
        term_row_release(&r.cells);
    }
    term_size_commit(t, size);
    for (unsigned y = 0; y < t->rows; y++)
        term_row_clear(t->screens[0].rows[y]);

    /* A full screen stays full, from the scrollback; else its top stays on top. */
    uint64_t least = h->end - h->dropped > t->rows ? h->end - t->rows : h->dropped;
    uint64_t top = r.points[POINT_TOP].row;
    if (was_full || top < least)
        top = least;
    if (top > r.points[POINT_CURSOR].row)
        top = r.points[POINT_CURSOR].row;
    if (top < h->dropped)
        top = h->dropped;
    take_back(t, top);
    h->ceiling = ceiling;
    h->is_held = h->is_sealed = false;
    term_history_trim(h);
    place(t, cursor, &r.points[POINT_CURSOR], top);
    if (saved == cursor)
        return;
    r.points[POINT_SAVED].row += below_text;
    place(t, saved, &r.points[POINT_SAVED], top);
}

/* The alternate screen: its rows are cut below the cursor, then above it. */
static void
lift_alternate(struct term *t, unsigned rows)
{
    struct term_screen *s = &t->screens[1];
    if (!term_is_alternate(t) || t->at.row < rows)
        return;
    unsigned n = t->at.row + 1 - rows;
    memcpy(t->spare, s->rows, n * sizeof(s->rows[0]));
    memmove(s->rows, s->rows + n, (t->rows - n) * sizeof(s->rows[0]));
    memcpy(s->rows + t->rows - n, t->spare, n * sizeof(s->rows[0]));
    for (unsigned y = t->rows - n; y < t->rows; y++)
        term_row_clear(s->rows[y]);
    t->at.row -= n;
}

void
term_resize(struct term *t, unsigned cols, unsigned rows)
{
    term_limit_size(&cols, &rows);
    if (cols == t->cols && rows == t->rows)
        return;
    struct term_size size;
    if (!term_size_prepare(t, cols, rows, &size)) {
        term_no_memory(t);
        return;
    }
    if (term_is_alternate(t) && (cols < t->cols || rows < t->rows))
        term_keep_alternate(t); /* some of it is cut off */
    lift_alternate(t, rows);
    bool is_primary = !term_is_alternate(t);
    resize_primary(t, &size, is_primary ? &t->at : &t->screens[0].saved);
    if (!is_primary)
        term_move(t, t->at.row, t->at.col);
    t->join.rune = 0;
    t->join_col = 0;
}
