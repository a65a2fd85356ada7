/* SPDX-License-Identifier: MIT */
#include "cli/table.h"

#include <unistd.h>

#include "base/file.h"
#include "cli/output.h"
#include "pty/tty.h"

enum {
    GAP = 2,
    LOT = 4096, /* rows */
    FAIR = 23,  /* columns that no other may take from one: an id, two branches deep */
};

struct cell {
    uint32_t at, n; /* in text, which has a ceiling */
    uint16_t cols;
    uint16_t style; /* of SGR; 0: none */
};

void
cli_table_release(struct cli_table *t)
{
    term_widths_release(&t->widths);
    buf_release(&t->text);
    buf_release(&t->cells);
    buf_release(&t->out);
}

void
cli_table_look(struct cli_table *t, int fd)
{
    uint16_t cols, rows;
    bool is_terminal = isatty(fd);
    t->fd = fd;
    t->is_coloured = fd == STDOUT_FILENO && cli_output_has_colours();
    t->cols = !is_terminal ? 0 : pty_size(fd, &cols, &rows) ? cols : 80;
}

/* -- rows come -- */

/* Most texts are of ASCII alone, and take a column a byte. */
static bool
is_ascii_line(const char *p, size_t n)
{
    bool is_plain = true;
    for (size_t i = 0; i < n; i++)
        is_plain &= p[i] >= 0x20 && p[i] < 0x7f;
    return is_plain;
}

void
cli_table_put(struct cli_table *t, const char *text, unsigned style)
{
    size_t n = text ? strlen(text) : 0;
    struct cell cell = { .at = (uint32_t)t->text.n, .style = (uint16_t)style };
    unsigned cols = (unsigned)n;
    if (text && n <= UINT16_MAX && is_ascii_line(text, n))
        buf_append(&t->text, text, n);
    else if (text)
        cols = term_text_put(&t->widths, term_text(text), UINT16_MAX, &t->text);
    cell.cols = (uint16_t)cols;
    cell.n = (uint32_t)t->text.n - cell.at;
    size_t column = t->cells.n / sizeof(cell) % t->count;
    if (cell.cols > t->width[column])
        t->width[column] = cell.cols;
    buf_append(&t->cells, &cell, sizeof(cell));
}

/* -- rows go -- */

/* The widest column that may be cut and is wider than is fair; count: none. */
static size_t
widest(const struct cli_table *t, const unsigned width[CLI_COLUMNS_MAX])
{
    size_t best = t->count;
    for (size_t i = 0; i < t->count; i++)
        if (t->columns[i].min && width[i] > FAIR &&
            (best == t->count || width[i] >= width[best]))
            best = i;
    return best;
}

/* Cuts the columns whose width is not 0 until all fit; false: they do not. */
static bool
cut(const struct cli_table *t, unsigned last, unsigned width[CLI_COLUMNS_MAX])
{
    unsigned sum = 0;
    for (size_t i = 0; i < t->count; i++)
        sum += width[i] ? width[i] + GAP : 0;
    for (size_t i; sum > t->cols + GAP && (i = widest(t, width)) < t->count; sum--)
        width[i]--;
    for (size_t i = t->count; i-- > 0 && sum > t->cols + GAP;) {
        unsigned min = i + 1 == t->count && last ? last : t->columns[i].min,
                 over = sum - t->cols - GAP;
        unsigned room = min && width[i] > min ? width[i] - min : 0;
        width[i] -= over < room ? over : room;
        sum -= over < room ? over : room;
    }
    return sum <= t->cols + GAP;
}

/* The columns' widths without those that go first. */
static bool
fit_without(const struct cli_table *t, unsigned gone, unsigned last,
            unsigned ret[CLI_COLUMNS_MAX])
{
    for (size_t i = 0; i < t->count; i++) {
        unsigned go = t->columns[i].go;
        ret[i] = go && go <= gone ? 0 : t->width[i];
    }
    return cut(t, last, ret);
}

/* The columns' widths on this terminal; 0: left out. */
static void
fit(const struct cli_table *t, unsigned ret[CLI_COLUMNS_MAX])
{
    unsigned last_goes = t->columns[t->count - 1].go;
    memcpy(ret, t->width, sizeof(t->width));
    if (!t->cols)
        return;
    for (unsigned gone = 0; t->last && gone < last_goes; gone++)
        if (fit_without(t, gone, t->last, ret))
            return;
    for (unsigned gone = 0; gone <= t->count; gone++)
        if (fit_without(t, gone, 0, ret))
            return;
}

static void
put_blanks(struct buf *out, unsigned n)
{
    static const char blanks[] = "                                ";
    for (unsigned part; n; n -= part) {
        part = n < sizeof(blanks) - 1 ? n : (unsigned)sizeof(blanks) - 1;
        buf_append(out, blanks, part);
    }
}

static void
put_cell(struct cli_table *t, const struct cell *c, size_t column, unsigned width)
{
    struct view text = { t->text.p + c->at, c->n };
    bool is_styled = t->is_coloured && c->style && c->n;
    if (!width)
        return;
    unsigned took = c->cols <= width ? c->cols : width, left = width - took;
    if (t->columns[column].is_right)
        put_blanks(&t->out, left);
    if (is_styled)
        buf_printf(&t->out, "\033[%um", c->style);
    if (c->cols <= width)
        buf_append(&t->out, text.p, text.n);
    else
        left += took - term_text_put(&t->widths, text, width, &t->out);
    if (is_styled)
        buf_puts(&t->out, "\033[m");
    if (column + 1 < t->count)
        put_blanks(&t->out, GAP + (t->columns[column].is_right ? 0 : left));
}

static void
end_row(struct buf *out)
{
    while (out->n && out->p[out->n - 1] == ' ')
        out->n--;
    buf_append(out, "\n", 1);
}

static void
put_head(struct cli_table *t)
{
    struct buf cells = t->cells;
    t->cells = (struct buf){ 0 };
    for (size_t i = 0; i < t->count; i++) {
        bool is_there = t->width[i] || !(t->spare >> i & 1);
        cli_table_put(t, is_there ? t->columns[i].title : NULL, 2);
    }
    buf_append(&t->cells, cells.p, cells.n);
    t->cells.failed = t->cells.failed ? t->cells.failed : cells.failed;
    buf_release(&cells);
}

int
cli_table_flush(struct cli_table *t, bool is_end, struct err *err)
{
    unsigned width[CLI_COLUMNS_MAX];
    size_t rows = t->cells.n / sizeof(struct cell) / t->count;
    if (!is_end && rows < LOT)
        return 0;
    if (rows && t->cols && !t->has_head)
        put_head(t);
    t->has_head = true;
    fit(t, width);
    size_t count = t->cells.n / sizeof(struct cell);
    for (size_t i = 0; i < count; i++) {
        struct cell cell;
        memcpy(&cell, t->cells.p + i * sizeof(cell), sizeof(cell));
        put_cell(t, &cell, i % t->count, width[i % t->count]);
        if (i % t->count == t->count - 1)
            end_row(&t->out);
    }
    int r = t->text.failed    ? t->text.failed
            : t->cells.failed ? t->cells.failed
                              : t->out.failed;
    if (!r)
        r = file_write_all(t->fd, t->out.p, t->out.n);
    buf_clear(&t->text);
    buf_clear(&t->cells);
    buf_clear(&t->out);
    return r < 0 ? err_code(err, r, "cannot write to standard %s",
                            t->fd == STDOUT_FILENO ? "output" : "error")
                 : 0;
}
