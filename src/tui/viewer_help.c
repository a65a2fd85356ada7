/* SPDX-License-Identifier: MIT */
/* viewer_help.c -- which keys there are: a box over the picture, as wide as its longest
 * line, which scrolls where it has no room. */
#include <stdio.h>

#include "term/text.h"
#include "tui/viewer_priv.h"

enum { LINE_BYTES = 128 };

static const char *const live_help[] = {
    "v [      look back",    "s        snapshot", "i        instruction",
    "d        detach",       "q        quit",     "r        draw anew",
    "← → ↑ ↓  another part", "?        this",     NULL,
};

static const char *const review_help[] = {
    "j k ↓ ↑       a line (e y)",
    "space b       a page (f ^F ^B)",
    "d u           half a page (^D ^U)",
    "z w           a page, and of how many lines",
    "g G Ng N%     first, last, line N, percent",
    "← →           left, right",
    "/ ?           search a text on, back",
    "n N           again, the other way",
    "ESC u         highlights on, off",
    "&             only lines with a text",
    "m ' letter    mark, go there ('' back)",
    "[ ]           snapshot, instruction before, after",
    "{ }           a minute before, after",
    "@             go to a time or @byte",
    "=             where this is",
    "T             times and bytes of lines",
    "F             follow the end",
    "i Enter click instruction at this line",
    "s v           save the text, open it in $EDITOR",
    "Y             copy the line",
    "R             draw anew",
    "q             back, or out",
    NULL,
};

static const char *const *
help_of(const struct tui_viewer *v)
{
    return v->is_back ? review_help : live_help;
}

static unsigned
count_lines(const struct tui_viewer *v)
{
    unsigned count = 0;
    while (help_of(v)[count])
        count++;
    return count;
}

static const char *
head_of(const struct tui_viewer *v, char room[LINE_BYTES])
{
    char name[16];
    const char *prefix = tui_prefix_name(v->opt.prefix, name);
    if (v->is_back)
        return "looking back";
    if (v->opt.is_watcher || !v->opt.prefix)
        return "keys";
    snprintf(room, LINE_BYTES, "%s, then (twice: %s itself)", prefix, prefix);
    return room;
}

static unsigned
widest(struct tui_viewer *v)
{
    char room[LINE_BYTES];
    unsigned cols = term_text_cols(&v->widths, term_text(head_of(v, room)));
    for (const char *const *line = help_of(v); *line; line++) {
        unsigned more = term_text_cols(&v->widths, term_text(*line));
        cols = more > cols ? more : cols;
    }
    return cols;
}

/* A box of so many rows and columns, its frame included. */
struct box {
    unsigned top, left, rows, cols;
};

static struct box
place(struct tui_viewer *v)
{
    unsigned cols = term_cols(v->canvas.want), rows = term_rows(v->canvas.want);
    rows -= rows > 4; /* the status line stays */
    struct box b = { .rows = count_lines(v) + 2, .cols = widest(v) + 2 };
    b.rows = b.rows < rows ? b.rows : rows;
    b.cols = b.cols < cols ? b.cols : cols;
    b.top = (rows - b.rows) / 2;
    b.left = (cols - b.cols) / 2;
    return b;
}

/* Lines that have room. */
static unsigned
room_of(const struct box *b)
{
    return b->rows > 2 ? b->rows - 2 : b->rows;
}

static void
go_to(struct buf *out, unsigned row, unsigned col)
{
    buf_printf(out, "\033[%u;%uH", row + 1, col + 1);
}

static void
put_text(struct tui_viewer *v, const struct box *b, unsigned row, const char *text,
         struct buf *out)
{
    if (b->cols <= 2)
        return;
    go_to(out, b->top + row, b->left + 1);
    term_text_put(&v->widths, term_text(text), b->cols - 2, out);
}

static void
put_head(struct tui_viewer *v, const struct box *b, struct buf *out)
{
    char room[LINE_BYTES];
    buf_puts(out, "\033[1m");
    put_text(v, b, 0, head_of(v, room), out);
    buf_puts(out, "\033[22m");
}

void
tui_viewer_put_help(struct tui_viewer *v, struct buf *out)
{
    struct box b = place(v);
    unsigned count = count_lines(v), room = room_of(&b);
    unsigned first = b.rows > 2 ? 1 : 0, last = count > room ? count - room : 0;
    v->help_top = v->help_top < last ? v->help_top : last;
    buf_puts(out, "\033[0;7m");
    for (unsigned y = 0; y < b.rows; y++) {
        go_to(out, b.top + y, b.left);
        buf_printf(out, "\033[%uX", b.cols);
    }
    for (unsigned i = 0; i < room && v->help_top + i < count; i++)
        put_text(v, &b, first + i, help_of(v)[v->help_top + i], out);
    if (first) {
        put_head(v, &b, out);
        put_text(v, &b, b.rows - 1, v->help_top < last ? "↓ more   q closes" : "q closes",
                 out);
    }
    buf_puts(out, "\033[m");
}

static void
scroll(struct tui_viewer *v, int lines)
{
    unsigned by = (unsigned)(lines < 0 ? -lines : lines);
    if (lines < 0)
        v->help_top -= by < v->help_top ? by : v->help_top;
    else
        v->help_top += by; /* the picture knows where it ends */
}

void
tui_viewer_help_key(struct tui_viewer *v, struct tui_key key)
{
    struct box b = place(v);
    int page = (int)room_of(&b);
    bool is_char = key.kind == TUI_KEY_CHAR && !key.has_ctrl && !key.has_alt;
    bool is_wheel = key.kind == TUI_KEY_MOUSE;
    if (is_wheel && key.mouse != TUI_MOUSE_PRESS)
        scroll(v, key.mouse == TUI_MOUSE_WHEEL_UP     ? -3
                  : key.mouse == TUI_MOUSE_WHEEL_DOWN ? 3
                                                      : 0);
    else if (key.kind == TUI_KEY_DOWN || (is_char && key.rune == 'j'))
        scroll(v, 1);
    else if (key.kind == TUI_KEY_UP || (is_char && key.rune == 'k'))
        scroll(v, -1);
    else if (key.kind == TUI_KEY_PAGE_DOWN || (is_char && key.rune == ' '))
        scroll(v, page);
    else if (key.kind == TUI_KEY_PAGE_UP || (is_char && key.rune == 'b'))
        scroll(v, -page);
    else if (!key.is_pasted)
        v->has_help = false;
}
