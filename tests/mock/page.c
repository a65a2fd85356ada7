/* SPDX-License-Identifier: MIT */
#include "mock/page.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

enum { LINES_CEILING = 512 << 20 };

int
page_init(struct page *p, unsigned cols, unsigned rows)
{
    *p = (struct page){ .copy_fd = -1, .lines = { .ceiling = LINES_CEILING } };
    int r = page_resize(p, cols, rows);
    p->resizes = 0;
    return r;
}

void
page_release(struct page *p)
{
    buf_release(&p->out);
    buf_release(&p->lines);
    free(p->cells);
}

int
page_flush(struct page *p)
{
    int r = p->out.failed;
    if (!r && p->copy_fd >= 0)
        r = file_write_all(p->copy_fd, p->out.p, p->out.n);
    if (!r)
        r = file_write_all(STDOUT_FILENO, p->out.p, p->out.n);
    if (r < 0)
        return r;
    p->total_bytes += p->out.n;
    buf_clear(&p->out);
    return 0;
}

/* What the terminal makes of the rows that are there is its own affair: from here on the
 * lines are not known. */
int
page_resize(struct page *p, unsigned cols, unsigned rows)
{
    assert(cols > 0 && cols <= PAGE_COLS_MAX && rows > 0);
    struct cell *cells = calloc((size_t)cols * PAGE_REGION_MAX, sizeof(*cells));
    if (!cells)
        return -ENOMEM;
    free(p->cells);
    p->cells = cells;
    p->cols = cols;
    p->rows = rows;
    p->resizes++;
    if (p->region_rows > page_region_room(p))
        p->region_rows = page_region_room(p);
    if (p->row >= p->region_rows)
        p->row = p->region_rows ? p->region_rows - 1 : 0;
    if (p->col > cols)
        p->col = cols;
    return 0;
}

/* -- rows of cells -- */

static struct cell *
cells_of(const struct page *p, unsigned row)
{
    return p->cells + (size_t)row * p->cols;
}

static void
blank(struct page *p, unsigned row, unsigned from)
{
    memset(cells_of(p, row) + from, 0, (p->cols - from) * sizeof(struct cell));
}

/* A row's text without the blanks at its end, and \n. */
static int
row_text(const struct page *p, unsigned row, struct buf *out)
{
    const struct cell *cells = cells_of(p, row);
    size_t end = out->n;
    for (unsigned col = 0; col<p->cols; col += cells[col].width> 1 ? 2 : 1) {
        bool is_blank = !cells[col].n || (cells[col].n == 1 && cells[col].text[0] == ' ');
        if (is_blank)
            buf_puts(out, " ");
        else
            buf_append(out, cells[col].text, cells[col].n);
        end = is_blank ? end : out->n;
    }
    if (out->failed)
        return out->failed;
    out->n = end;
    return buf_puts(out, "\n");
}

/* The row is finished: it belongs to those above. */
static void
commit(struct page *p)
{
    if (p->keeps_lines)
        row_text(p, p->row, &p->lines);
    blank(p, p->row, 0);
    p->col = 0;
}

/* Half of a wide character is none. */
static void
split_wide(struct page *p, unsigned col)
{
    struct cell *cells = cells_of(p, p->row);
    if (col > 0 && col < p->cols && cells[col - 1].width == 2)
        cells[col - 1] = cells[col] = (struct cell){ 0 };
}

static void
put(struct page *p, const char *text, size_t n, unsigned width)
{
    assert(width && n <= sizeof(p->cells->text));
    if (p->col + width > p->cols) {
        if (!p->wraps || width > p->cols)
            return;
        commit(p);
    }
    buf_append(&p->out, text, n);
    split_wide(p, p->col);
    split_wide(p, p->col + width);
    struct cell *c = &cells_of(p, p->row)[p->col];
    *c = (struct cell){ .n = (uint8_t)n, .width = (uint8_t)width };
    memcpy(c->text, text, n);
    if (width == 2)
        c[1] = (struct cell){ 0 };
    p->col += width;
}

/* -- text -- */

static size_t
utf8_len(const char *s)
{
    unsigned char c = (unsigned char)*s;
    return c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

/* True of the characters that steps.c uses: accents, CJK, and emoji that no terminal
 * takes for narrow. */
static unsigned
width_of(const char *s, size_t n)
{
    if (n == 2 && ((unsigned char)s[0] == 0xcc || (unsigned char)s[0] == 0xcd))
        return 0; /* U+0300 … U+037F */
    return n == 4 || (n == 3 && (unsigned char)s[0] >= 0xe3) ? 2 : 1; /* U+3000 … */
}

/* A character and the accents behind it. */
static size_t
cluster_len(const char *s)
{
    size_t n = utf8_len(s);
    while (s[n] && !width_of(s + n, utf8_len(s + n)))
        n += utf8_len(s + n);
    return n;
}

void
page_puts(struct page *p, const char *text)
{
    while (*text) {
        size_t n = cluster_len(text);
        put(p, text, n, width_of(text, utf8_len(text)));
        text += n;
    }
}

void
page_printf(struct page *p, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    page_puts(p, text);
}

void
page_style(struct page *p, const char *sequence)
{
    buf_puts(&p->out, sequence);
}

void
page_colour(struct page *p, unsigned rgb)
{
    buf_printf(&p->out, "\x1b[38;2;%u;%u;%um", rgb >> 16 & 255, rgb >> 8 & 255,
               rgb & 255);
}

/* -- the cursor -- */

void
page_newline(struct page *p)
{
    buf_puts(&p->out, "\r\n");
    if (!p->is_region) {
        commit(p);
        return;
    }
    assert(p->row + 1 < page_region_room(p));
    p->row++;
    p->col = 0;
    if (p->row >= p->region_rows)
        p->region_rows = p->row + 1;
}

void
page_return(struct page *p)
{
    buf_puts(&p->out, "\r");
    p->col = 0;
}

void
page_back(struct page *p)
{
    assert(p->col > 0 && p->col < p->cols);
    buf_puts(&p->out, "\b");
    p->col--;
}

void
page_goto_col(struct page *p, unsigned col)
{
    p->col = col < p->cols ? col : p->cols - 1;
    buf_printf(&p->out, "\x1b[%uG", p->col + 1);
}

/* Terminals do not agree on what is erased while a full row waits to wrap: nothing is
 * left to erase there. */
void
page_clear_right(struct page *p)
{
    if (p->col >= p->cols)
        return;
    buf_puts(&p->out, "\x1b[K");
    split_wide(p, p->col);
    blank(p, p->row, p->col);
}

/* -- the region -- */

unsigned
page_region_room(const struct page *p)
{
    return p->rows < PAGE_REGION_MAX ? p->rows : (unsigned)PAGE_REGION_MAX;
}

void
page_region_open(struct page *p)
{
    assert(!p->is_region && p->col == 0);
    p->is_region = true;
    p->region_rows = 1;
}

void
page_region_goto(struct page *p, unsigned row)
{
    assert(p->is_region && row < p->region_rows);
    if (row < p->row)
        buf_printf(&p->out, "\x1b[%uA", p->row - row);
    else if (row > p->row)
        buf_printf(&p->out, "\x1b[%uB", row - p->row);
    p->row = row;
    page_return(p);
}

/* From below, row by row, as the line editors of some agents do it. */
void
page_region_cut(struct page *p)
{
    unsigned last = p->row;
    while (p->region_rows > last + 1) {
        page_region_goto(p, p->region_rows - 1);
        buf_puts(&p->out, "\x1b[2K");
        blank(p, p->row, 0);
        page_region_goto(p, last);
        p->region_rows--;
    }
}

void
page_region_close(struct page *p)
{
    if (!p->is_region)
        return;
    page_region_goto(p, 0);
    buf_puts(&p->out, "\x1b[J");
    for (unsigned row = 0; row < p->region_rows; row++)
        blank(p, row, 0);
    p->is_region = false;
    p->region_rows = 0;
}

/* -- the truth -- */

int
page_final_lines(const struct page *p, struct buf *ret)
{
    int r = p->lines.failed;
    if (!r)
        r = buf_append(ret, p->lines.p, p->lines.n);
    for (unsigned row = 0; !r && row < (p->is_region ? p->region_rows : 1); row++)
        r = row_text(p, row, ret);
    while (!r && ret->n && ret->p[ret->n - 1] == '\n' &&
           (ret->n == 1 || ret->p[ret->n - 2] == '\n'))
        ret->n--;
    return r;
}
