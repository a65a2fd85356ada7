/* SPDX-License-Identifier: MIT */
/* lines.c -- rows for reading: screen, scrollback, marked lines, all of them in order. */
#include <errno.h>

#include "base/utf8.h"
#include "term/term_priv.h"

/* A line may be of 10,000 clusters. */
enum { LINE_CEILING = 16 << 20 };

void
term_line_release(struct term_line *line)
{
    buf_release(&line->text);
    buf_release(&line->memory);
    *line = (struct term_line){ 0 };
}

static void
begin_line(struct term_line *line)
{
    line->text.ceiling = line->memory.ceiling = LINE_CEILING;
    buf_clear(&line->text);
    buf_clear(&line->memory);
    line->is_alternate = false;
}

/* Columns start..end, whose text begins at text_start and was the last to be added. */
static void
add_span(struct term_line *line, uint32_t start, uint32_t end, size_t text_start,
         const struct term_style *style, const char *uri)
{
    static const struct term_style plain;
    if (!memcmp(style, &plain, sizeof(plain)))
        return;
    struct term_span span = {
        .start = start,
        .end = end,
        .text_start = text_start,
        .text_end = line->text.n,
        .style = *style,
        .uri = uri,
    };
    buf_append(&line->memory, &span, sizeof(span));
}

static void
cut_spans(struct term_line *line)
{
    for (size_t at = 0; at < line->memory.n; at += sizeof(struct term_span)) {
        struct term_span span;
        memcpy(&span, line->memory.p + at, sizeof(span));
        if (span.text_start > line->text.n)
            span.text_start = line->text.n;
        if (span.text_end > line->text.n)
            span.text_end = line->text.n;
        memcpy(line->memory.p + at, &span, sizeof(span));
    }
}

/* Spaces at the end go, of the text; spans still tell of them. */
static int
end_line(struct term_line *line)
{
    struct buf *text = &line->text;
    size_t n = text->n;
    while (text->n && text->p[text->n - 1] == ' ') {
        text->n--;
        line->cols--;
    }
    if (text->n < n)
        cut_spans(line);
    line->spans = (const void *)line->memory.p;
    line->n_spans = line->memory.n / sizeof(struct term_span);
    if (text->failed || line->memory.failed)
        return -ENOMEM;
    buf_str(text); /* a NUL behind it, for convenience */
    return text->failed;
}

static void
add_text(struct term_line *line, struct view text)
{
    if (text.n)
        buf_append(&line->text, text.p, text.n);
    else
        buf_puts(&line->text, " ");
}

static void
add_ascii(struct term_line *line, const uint8_t *text, size_t n)
{
    uint8_t *p = buf_grow(&line->text, n);
    for (size_t i = 0; p && i < n; i++)
        p[i] = text[i] ? text[i] : ' ';
}

/* -- from the scrollback -- */

/* Cells from col up to `end`; bytes that are a cell each by the run. Returns the column
 * behind them. */
static uint32_t
add_cells(struct term_line *line, const struct term_packed *packed,
          struct term_packed_cell *cell, uint32_t col, uint32_t end)
{
    while (col < end) {
        struct view rest = { packed->text.p + cell->pos, packed->text.n - cell->pos };
        size_t n = 0, most = end - col < rest.n ? end - col : rest.n;
        while (n < most && rest.p[n] >= 0x20 && rest.p[n] < 0x7f)
            n++;
        buf_append(&line->text, rest.p, n);
        cell->pos += n;
        col += (uint32_t)n;
        if (col >= end || !term_packed_next_cell(packed, cell))
            break;
        add_text(line, cell->text);
        line->has_pad = cell->flags & TERM_CELL_PAD && col + 1 == packed->cells;
        col += cell->flags & TERM_CELL_WIDE ? 2 : 1;
    }
    return col;
}

int
term_line_from_packed(const struct term_packed *packed, struct term_line *line)
{
    begin_line(line);
    line->cols = line->row_cols = packed->cells;
    line->last_write_byte = packed->stamp;
    line->is_wrapped = packed->is_wrapped;
    line->has_pad = false;
    struct term_packed_cell cell = { 0 };
    struct term_run run = { 0 };
    uint32_t col = 0;
    while (term_packed_next_run(packed, &run)) {
        size_t text_start = line->text.n;
        if (packed->is_ascii) {
            add_ascii(line, packed->text.p + run.start, run.end - run.start);
        } else {
            col = add_cells(line, packed, &cell, col, run.end);
        }
        const char *uri;
        struct term_style style = term_page_style(packed->page, run.style, &uri);
        add_span(line, run.start, run.end, text_start, &style, uri);
    }
    return end_line(line);
}

/* -- from a screen -- */

struct view
term_cell_text(const struct term_tables *tables, uint32_t cell, uint8_t scratch[4])
{
    uint32_t value = cell & TERM_CELL_VALUE;
    if (cell & TERM_CELL_CLUSTER)
        return term_cluster_text(tables, value);
    if (!value || cell & (TERM_CELL_TAIL | TERM_CELL_PAD))
        return (struct view){ 0 };
    return (struct view){ scratch, utf8_put(scratch, value) };
}

int
term_line_from_row(const struct term *t, const struct term_row *row,
                   struct term_line *line)
{
    uint32_t cells = term_row_length(row);
    begin_line(line);
    line->cols = line->row_cols = cells;
    line->last_write_byte = row->stamp;
    line->is_wrapped = row->is_wrapped;
    line->has_pad = cells && row->text[cells - 1] == TERM_CELL_PAD;
    for (uint32_t i = 0, end; i < cells; i = end) {
        size_t text_start = line->text.n;
        for (end = i; end < cells && row->style[end] == row->style[i]; end++) {
            uint8_t scratch[4];
            if (row->text[end] != TERM_CELL_TAIL)
                add_text(line, term_cell_text(&t->tables, row->text[end], scratch));
        }
        const struct term_style *style = term_style_of(&t->tables, row->style[i]);
        add_span(line, i, end, text_start, style,
                 style->link ? term_link_text(&t->tables, style->link) : NULL);
    }
    return end_line(line);
}

size_t
term_scrollback_count(const struct term *t)
{
    return term_history_count(&t->scrollback);
}

uint64_t
term_scrollback_dropped(const struct term *t)
{
    return t->scrollback.dropped;
}

uint64_t
term_alternate_dropped(const struct term *t)
{
    return t->marked.dropped;
}

int
term_line_at(const struct term *t, size_t index, struct term_line *line)
{
    size_t count = term_history_count(&t->scrollback);
    if (index >= count)
        return term_line_from_row(t, t->screen->rows[index - count], line);
    struct term_packed packed;
    term_history_open(&t->scrollback, index, &packed);
    return term_line_from_packed(&packed, line);
}

void
term_cell_at(const struct term *t, unsigned row, unsigned col, struct term_cell *ret)
{
    const struct term_row *r = t->screen->rows[row];
    *ret = (struct term_cell){ .width = 1 };
    if (col >= r->used)
        return;
    uint32_t cell = r->text[col];
    ret->text = term_cell_text(&t->tables, cell, ret->room);
    ret->style = *term_style_of(&t->tables, r->style[col]);
    if (cell == TERM_CELL_TAIL)
        ret->width = 0;
    else if (cell & TERM_CELL_WIDE && t->cols > 1)
        ret->width = 2;
}

const char *
term_link_uri(const struct term *t, uint16_t link)
{
    return link < t->tables.links.n ? term_link_text(&t->tables, link) : "";
}

/* -- the alternate screen's marked lines -- */

void
term_keep_alternate(struct term *t)
{
    struct term_screen *s = &t->screens[1];
    if (!t->opt.alternate_rows)
        return;
    for (unsigned y = 0; y < t->rows; y++)
        if (s->rows[y]->stamp > t->kept_byte && term_row_length(s->rows[y]))
            term_history_push(&t->marked, &t->tables, s->rows[y]);
    t->kept_byte = t->byte_off;
}

/* -- final lines -- */

/* Lines of one kind, one after the other: first those of a history, then rows. */
struct source {
    const struct term *t;
    const struct term_history *history;
    struct term_row **rows;
    size_t next, n_packed, end;
    uint64_t fresh_byte; /* rows that are not newer are left out */
    bool is_alternate;
    bool is_open; /* the next line is in `packed` */
    struct term_packed packed;
};

/* Where the lines end that are not blank. */
static size_t
end_of_text(const struct term_history *h, struct term_row **rows, size_t n)
{
    size_t n_packed = term_history_count(h);
    while (n && !term_row_length(rows[n - 1]))
        n--;
    struct term_packed packed = { 0 };
    for (; !n && n_packed; n_packed--) {
        term_history_open(h, n_packed - 1, &packed);
        if (packed.cells)
            break;
    }
    return n_packed + n;
}

static void
skip_kept(struct source *s)
{
    while (s->is_alternate && s->next >= s->n_packed && s->next < s->end) {
        const struct term_row *row = s->rows[s->next - s->n_packed];
        if (row->stamp > s->fresh_byte && term_row_length(row))
            return;
        s->next++;
    }
}

/* Where the next line stands; false: there is none. It is then open for give(). */
static bool
peek(struct source *s, uint64_t *ret_stamp)
{
    skip_kept(s);
    if (s->next >= s->end)
        return false;
    if (s->next >= s->n_packed) {
        *ret_stamp = s->rows[s->next - s->n_packed]->stamp;
        return true;
    }
    if (!s->is_open)
        term_history_open(s->history, s->next, &s->packed);
    s->is_open = true;
    *ret_stamp = s->packed.stamp;
    return true;
}

static int
give(struct source *s, struct term_line *line, term_line_fn fn, void *ctx)
{
    int e = s->next >= s->n_packed
                ? term_line_from_row(s->t, s->rows[s->next - s->n_packed], line)
                : term_line_from_packed(&s->packed, line);
    s->next++;
    s->is_open = false;
    line->is_alternate = s->is_alternate;
    return e < 0 ? e : fn(ctx, line);
}

static struct source
main_source(const struct term *t)
{
    return (struct source){
        .t = t,
        .history = &t->scrollback,
        .rows = t->screens[0].rows,
        .n_packed = term_history_count(&t->scrollback),
    };
}

static struct source
marked_source(const struct term *t, bool with_screen)
{
    size_t n_packed = term_history_count(&t->marked);
    return (struct source){
        .t = t,
        .history = &t->marked,
        .rows = t->screens[1].rows,
        .n_packed = n_packed,
        .end = n_packed + (with_screen && t->opt.alternate_rows ? t->rows : 0),
        .fresh_byte = t->kept_byte,
        .is_alternate = true,
    };
}

static int
walk(struct source *main_lines, struct source *marked, term_line_fn fn, void *ctx)
{
    struct term_line line = { 0 };
    uint64_t at, marked_at;
    int e = 0;
    while (!e) {
        bool has_main = peek(main_lines, &at), has_marked = peek(marked, &marked_at);
        if (!has_main && !has_marked)
            break;
        bool is_marked = has_marked && (!has_main || marked_at <= at);
        e = give(is_marked ? marked : main_lines, &line, fn, ctx);
    }
    term_line_release(&line);
    return e;
}

int
term_final_lines(const struct term *t, term_line_fn fn, void *ctx)
{
    struct source main_lines = main_source(t), marked = marked_source(t, true);
    main_lines.end = end_of_text(main_lines.history, main_lines.rows, t->rows);
    return walk(&main_lines, &marked, fn, ctx);
}

/* -- from a place on -- */

struct term_line_numbers
term_line_numbers(const struct term *t)
{
    return (struct term_line_numbers){ t->scrollback.end, t->marked.end };
}

static size_t
index_of(const struct term_history *h, uint64_t number)
{
    uint64_t from = number > h->dropped ? number : h->dropped;
    return (size_t)((from < h->end ? from : h->end) - h->dropped);
}

int
term_lines_from(const struct term *t, struct term_line_numbers from, bool with_alternate,
                term_line_fn fn, void *ctx)
{
    struct source main_lines = main_source(t), marked = marked_source(t, with_alternate);
    unsigned n = t->rows;
    while (n && !term_row_length(main_lines.rows[n - 1]))
        n--;
    main_lines.end = main_lines.n_packed + n;
    main_lines.next = index_of(&t->scrollback, from.line);
    marked.next = index_of(&t->marked, from.marked);
    return walk(&main_lines, &marked, fn, ctx);
}
