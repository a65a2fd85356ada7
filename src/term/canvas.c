/* SPDX-License-Identifier: MIT */
#include "term/canvas.h"

#include <errno.h>

static struct term *
make_screen(unsigned cols, unsigned rows)
{
    struct term_options how = term_options_default();
    how.cols = cols;
    how.rows = rows;
    how.scrollback_rows = 0;
    how.alternate_rows = 0;
    return term_new(&how);
}

int
term_canvas_init(struct term_canvas *c, unsigned cols, unsigned rows)
{
    *c = (struct term_canvas){ .shown = make_screen(cols, rows),
                               .want = make_screen(cols, rows) };
    if (c->shown && c->want)
        return 0;
    term_canvas_release(c);
    return -ENOMEM;
}

void
term_canvas_release(struct term_canvas *c)
{
    term_free(c->shown);
    term_free(c->want);
    *c = (struct term_canvas){ 0 };
}

static void
note(struct term_canvas *c, const struct buf *out, size_t from)
{
    if (out->n > from)
        term_feed(c->shown, out->p + from, out->n - from, 0);
}

static void
reset(struct term *t)
{
    term_feed(t, "\033c", 2, 0);
}

void
term_canvas_begin(struct term_canvas *c, const char *take, struct buf *out)
{
    size_t from = out->n;
    c->is_on = true;
    reset(c->shown);
    buf_puts(out, take);
    note(c, out, from);
}

void
term_canvas_end(struct term_canvas *c, const char *give, struct buf *out)
{
    c->is_on = false;
    reset(c->want);
    term_diff(c->shown, c->want, out);
    buf_puts(out, give);
}

bool
term_canvas_resize(struct term_canvas *c, unsigned cols, unsigned rows, struct buf *out)
{
    if (cols == term_cols(c->shown) && rows == term_rows(c->shown))
        return false;
    term_resize(c->shown, cols, rows);
    term_resize(c->want, cols, rows);
    size_t from = out->n;
    if (c->is_on)
        buf_puts(out, "\033[m\033[H\033[2J");
    note(c, out, from);
    return true;
}

void
term_canvas_paint(struct term_canvas *c, struct view bytes)
{
    reset(c->want);
    if (bytes.n)
        term_feed(c->want, bytes.p, bytes.n, 0);
}

int
term_canvas_show(struct term_canvas *c, const struct term *screen, struct buf *out)
{
    size_t from = out->n;
    buf_puts(out, "\033[?2026h");
    size_t body = out->n;
    int r = term_diff(c->shown, screen ? screen : c->want, out);
    if (r || out->n == body) {
        out->n = from;
        return r;
    }
    buf_puts(out, "\033[?2026l");
    note(c, out, from);
    return out->failed;
}

unsigned
term_canvas_follow(unsigned start, unsigned window, unsigned whole, unsigned cursor)
{
    if (whole <= window)
        return 0;
    if (cursor < start) /* with what stands above it, if it is all to be seen */
        start = cursor < window ? 0 : cursor;
    if (cursor >= start + window)
        start = cursor - window + 1;
    return start + window > whole ? whole - window : start;
}
