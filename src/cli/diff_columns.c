/* SPDX-License-Identifier: MIT */
/*
 * diff_columns.c -- the edits in two columns, for a terminal: A on the left, B on the
 * right, between them what has become of it.
 *
 *      7 [user] Fix the test.            7 [user] Fix the test.
 *      8 [tool] Bash                 |   8 [tool] Bash
 *          command: make test        |       command: make check
 *      9 [result] 1 test failed      <
 *                                    >   9 [assistant] All is well.
 *
 * '~' is a turn that has moved. Lines are wrapped, long texts cut: --unified has all of
 * what is different.
 */
#include "cli/diff.h"

enum {
    TEXT_MIN = 12,    /* columns of a text on either side */
    MIDDLE = 3,       /* columns between both */
    TAB = 4,          /* columns */
    ROWS_MAX = 4,     /* of a line of a text */
    TURN_LINES = 12,  /* of a turn that is in one of them */
    CHANGED_MAX = 60, /* … and of one that has changed */
};

static const char red[] = "\033[31m", green[] = "\033[32m", yellow[] = "\033[33m",
                  cyan[] = "\033[36m", faint[] = "\033[2m", bold[] = "\033[1m";

/* What stands in one row, or in more where it is wrapped. */
struct cells {
    struct view text[2];
    uint32_t turn[2]; /* PLAY_NO_ITEM: without its number */
    bool is_cut[2];   /* something before it was left out */
    char mark;
    const char *colour;
    unsigned rows_max;
};

#define NO_CELLS                                                                         \
    (struct cells)                                                                       \
    {                                                                                    \
        .turn = { PLAY_NO_ITEM, PLAY_NO_ITEM }, .mark = ' ', .colour = "", .rows_max = 1 \
    }

struct columns {
    struct cli_diff *d;
    const struct play_side *side[2];
    unsigned gutter, room; /* of a number, of a text */
    struct buf shown[2];   /* a turn as it is read */
    struct play_line_edits lines;
};

static unsigned
digits_of(size_t n)
{
    unsigned digits = 1;
    for (; n >= 10; n /= 10)
        digits++;
    return digits;
}

static unsigned
gutter_of(const struct cli_diff *d)
{
    size_t a = play_side_count(cli_diff_compared(d, 0));
    size_t b = play_side_count(cli_diff_compared(d, 1));
    return digits_of(a > b ? a : b);
}

/* Of a text on either side. */
static unsigned
room_of(const struct cli_diff *d)
{
    unsigned other = MIDDLE + 2 * (gutter_of(d) + 1);
    return d->cols > other ? (d->cols - other) / 2 : 0;
}

bool
cli_diff_has_room(const struct cli_diff *d)
{
    return room_of(d) >= TEXT_MIN;
}

/* -- rows -- */

static void
put_blanks(struct buf *out, unsigned n)
{
    while (n--)
        buf_puts(out, " ");
}

static bool
is_blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}

/* A tab has no width of its own, and would go with what stands before it. */
static size_t
next(struct view text, unsigned used, unsigned *ret_width)
{
    const uint8_t *tab = text.n > 1 ? memchr(text.p + 1, '\t', text.n - 1) : NULL;
    text.n = tab ? (size_t)(tab - text.p) : text.n;
    size_t n = term_cluster_next(text, ret_width);
    if (text.p[0] == '\t')
        *ret_width = TAB - used % TAB;
    return n;
}

/* How much of a text has room in a row: up to a blank, or where it must end. Blanks at
 * the end of it may hang over the edge. */
static size_t
row_end(struct view text, unsigned room)
{
    size_t at = 0, blank = 0;
    unsigned used = 0, width;
    while (at < text.n) {
        struct view rest = { text.p + at, text.n - at };
        size_t n = next(rest, used, &width);
        if (used + width > room && at && !is_blank(rest.p[0]))
            return blank ? blank : at;
        used += width;
        at += n;
        blank = is_blank(rest.p[0]) ? at : blank;
    }
    return at;
}

/* Appends it, and returns how many columns it took. */
static unsigned
put_row_text(struct view text, unsigned room, struct buf *out)
{
    unsigned used = 0, width;
    while (text.n) {
        size_t n = next(text, used, &width);
        if (used + width > room)
            break;
        if (is_blank(text.p[0]))
            put_blanks(out, width);
        else
            buf_append(out, text.p, n);
        used += width;
        text = (struct view){ text.p + n, text.n - n };
    }
    return used;
}

/* The same, and "…" where it does not fit. */
static unsigned
put_cut_text(struct columns *c, struct view text, unsigned room, struct buf *out)
{
    AUTO(buf) flat = { .ceiling = SIZE_MAX };
    unsigned used = 0, width;
    while (text.n && used <= room) {
        size_t n = next(text, used, &width);
        if (text.p[0] == '\t')
            put_blanks(&flat, width);
        else
            buf_append(&flat, text.p, n);
        used += width;
        text = (struct view){ text.p + n, text.n - n };
    }
    return term_text_put(&c->d->widths, (struct view){ flat.p, flat.n }, room, out);
}

/* The next row of one side; the last one that may be takes all that is left, cut. */
static void
put_side(struct columns *c, struct cells *cells, size_t i, unsigned row, bool is_padded)
{
    struct cli_diff *d = c->d;
    struct view *text = &cells->text[i];
    unsigned room = c->room, used = 0;
    cli_diff_colour(d, faint);
    if (!row && cells->turn[i] != PLAY_NO_ITEM)
        buf_printf(&d->text, "%*u ", (int)c->gutter, cells->turn[i] + 1);
    else
        put_blanks(&d->text, c->gutter + 1);
    cli_diff_colour(d, "");
    cli_diff_colour(d, *cells->colour ? cells->colour : "");
    if (!row && cells->is_cut[i] && text->n) {
        buf_puts(&d->text, "…");
        used = 1;
    }
    if (row + 1 < cells->rows_max) {
        size_t n = row_end(*text, room - used);
        used += put_row_text((struct view){ text->p, n }, room - used, &d->text);
        *text = (struct view){ text->p + n, text->n - n };
    } else {
        used += put_cut_text(c, *text, room - used, &d->text);
        *text = (struct view){ 0 };
    }
    cli_diff_colour(d, "");
    if (is_padded)
        put_blanks(&d->text, used < room ? room - used : 0);
}

static void
end_row(struct buf *out)
{
    while (out->n && out->p[out->n - 1] == ' ')
        out->n--;
    buf_puts(out, "\n");
}

static void
put_cells(struct columns *c, struct cells cells)
{
    struct cli_diff *d = c->d;
    for (unsigned row = 0; !row || cells.text[0].n || cells.text[1].n; row++) {
        put_side(c, &cells, 0, row, true);
        cli_diff_colour(d, cells.colour);
        buf_printf(&d->text, " %c ", cells.mark);
        cli_diff_colour(d, "");
        put_side(c, &cells, 1, row, false);
        end_row(&d->text);
    }
}

/* A line of ours, over both. */
static void
put_note(struct columns *c, const char *colour, const char *text)
{
    struct cli_diff *d = c->d;
    cli_diff_colour(d, colour);
    (void)term_text_put(&d->widths, term_text(text), d->cols, &d->text);
    cli_diff_colour(d, "");
    buf_puts(&d->text, "\n");
}

/* -- turns -- */

static struct view
show(struct columns *c, size_t i, uint32_t turn, bool is_one_line)
{
    struct buf *room = &c->shown[i];
    buf_clear(room);
    room->ceiling = SIZE_MAX;
    (void)play_side_show(c->side[i], play_side_at(c->side[i], turn), is_one_line, room);
    return (struct view){ room->p, room->n };
}

static void
put_same(struct columns *c, const struct play_edit *e)
{
    struct cells cells = NO_CELLS;
    cells.colour = faint;
    cells.turn[0] = e->a;
    cells.turn[1] = e->b;
    cells.text[0] = cells.text[1] = show(c, 0, e->a, true);
    put_cells(c, cells);
}

/* One that is in one of them. */
static void
put_single(struct columns *c, size_t i, uint32_t turn)
{
    struct cells cells = NO_CELLS;
    struct view text = show(c, i, turn, false);
    size_t more = 0;
    cells.mark = i ? '>' : '<';
    cells.colour = i ? green : red;
    cells.rows_max = ROWS_MAX;
    cells.turn[i] = turn;
    for (size_t line = 0; text.n; line++) {
        const uint8_t *end = memchr(text.p, '\n', text.n);
        size_t n = end ? (size_t)(end - text.p) : text.n;
        cells.text[i] = (struct view){ text.p, n };
        if (line < TURN_LINES)
            put_cells(c, cells);
        else
            more++;
        cells.turn[i] = PLAY_NO_ITEM;
        n += end != NULL;
        text = (struct view){ text.p + n, text.n - n };
    }
    if (!more)
        return;
    char note[64];
    (void)snprintf(note, sizeof(note), "… %zu more line%s", more, more == 1 ? "" : "s");
    cells.text[i] = term_text(note);
    put_cells(c, cells);
}

static void
put_moved(struct columns *c, const struct play_edit *e)
{
    size_t i = e->kind == PLAY_MOVED_AWAY ? 0 : 1;
    uint32_t here = i ? e->b : e->a, there = i ? e->a : e->b;
    struct cells cells = NO_CELLS;
    AUTO(buf) text = { .ceiling = SIZE_MAX };
    struct view shown = show(c, i, here, true);
    buf_printf(&text, "(%s %u) ", i ? "from" : "to", there + 1);
    buf_append(&text, shown.p, shown.n);
    cells.mark = '~';
    cells.colour = cyan;
    cells.turn[i] = here;
    cells.text[i] = (struct view){ text.p, text.n };
    put_cells(c, cells);
}

/* -- what has changed within a turn -- */

/* Two lines whose beginnings are the same for nearly all rows that they have begin near
 * the place where they are not. */
static void
cut_same(const struct columns *c, struct cells *cells)
{
    struct view a = cells->text[0], b = cells->text[1];
    size_t same = 0, n = a.n < b.n ? a.n : b.n;
    while (same < n && a.p[same] == b.p[same])
        same++;
    if (term_text_cols(&c->d->widths, (struct view){ a.p, same }) <
        (ROWS_MAX - 1) * c->room)
        return;
    size_t skip = same - c->room;
    while (skip && (a.p[skip] & 0xc0) == 0x80)
        skip--;
    for (size_t i = 0; i < 2; i++) {
        struct view *t = &cells->text[i];
        *t = (struct view){ t->p + skip, t->n - skip };
        cells->is_cut[i] = skip > 0;
    }
}

static void
put_line_edit(struct columns *c, const struct play_edit *e, const uint32_t turn[2])
{
    const struct view *a = (const struct view *)(const void *)c->lines.a.p;
    const struct view *b = (const struct view *)(const void *)c->lines.b.p;
    struct cells cells = NO_CELLS;
    bool is_of_a = e->kind != PLAY_INSERTED && e->kind != PLAY_MOVED_HERE;
    bool is_of_b = e->kind != PLAY_DELETED && e->kind != PLAY_MOVED_AWAY;
    bool is_same = e->kind == PLAY_SAME;
    if (is_of_a)
        cells.text[0] = a[e->a];
    if (is_of_b)
        cells.text[1] = b[e->b];
    cells.turn[0] = turn[0];
    cells.turn[1] = turn[1];
    cells.mark = is_same ? ' ' : !is_of_b ? '<' : !is_of_a ? '>' : '|';
    cells.colour = is_same ? "" : yellow;
    cells.rows_max = is_same ? 1 : ROWS_MAX;
    if (is_of_a && is_of_b && !is_same)
        cut_same(c, &cells);
    put_cells(c, cells);
}

static void
put_count(struct columns *c, size_t n, const char *what)
{
    struct cells cells = NO_CELLS;
    char note[64];
    (void)snprintf(note, sizeof(note), "… %zu %s%s", n, what, n == 1 ? "" : "s");
    cells.text[0] = cells.text[1] = term_text(note);
    cells.colour = faint;
    put_cells(c, cells);
}

static int
put_changed(struct columns *c, const struct play_edit *edit)
{
    struct view a = show(c, 0, edit->a, false), b = show(c, 1, edit->b, false);
    if (a.n == b.n && !memcmp(a.p, b.p, a.n)) { /* 1 and "1" */
        a = play_side_text(c->side[0], play_side_at(c->side[0], edit->a));
        b = play_side_text(c->side[1], play_side_at(c->side[1], edit->b));
    }
    int r = play_compare_lines(a, b, &c->lines);
    if (r < 0)
        return r;
    uint32_t turn[2] = { edit->a, edit->b };
    const struct play_edits *e = &c->lines.edits;
    size_t from = 0, start, end, left = CHANGED_MAX;
    while (play_edits_hunk(e, 1, from, &start, &end)) {
        if (!from && start) { /* what kind of turn it is is always told */
            put_line_edit(c, play_edit_at(e, from++), turn);
            turn[0] = turn[1] = PLAY_NO_ITEM;
        }
        if (start > from)
            put_count(c, start - from, "same line");
        for (from = start; from < end && left; from++, left--) {
            put_line_edit(c, play_edit_at(e, from), turn);
            turn[0] = turn[1] = PLAY_NO_ITEM;
        }
        if (!left)
            break;
    }
    if (from < play_edits_count(e))
        put_count(c, play_edits_count(e) - from, left ? "same line" : "more line");
    return 0;
}

/* -- all -- */

static int
put_edit(struct columns *c, const struct play_edit *e)
{
    switch (e->kind) {
    case PLAY_SAME:
        put_same(c, e);
        break;
    case PLAY_DELETED:
        put_single(c, 0, e->a);
        break;
    case PLAY_INSERTED:
        put_single(c, 1, e->b);
        break;
    case PLAY_CHANGED:
        return put_changed(c, e);
    case PLAY_MOVED_AWAY:
    case PLAY_MOVED_HERE:
        put_moved(c, e);
        break;
    }
    return c->shown[0].failed ? c->shown[0].failed : c->shown[1].failed;
}

/* What lies between two hunks. */
static void
put_skipped(struct columns *c, size_t n)
{
    char note[64];
    if (!n)
        return;
    (void)snprintf(note, sizeof(note), "… %zu %s%s the same", n, cli_diff_thing(c->d),
                   n == 1 ? " is" : "s are");
    put_note(c, faint, note);
}

/* Which events the turns of a hunk are; passes them. */
static void
put_events(struct columns *c, size_t start, size_t end, size_t before[2])
{
    AUTO(buf) text = { 0 };
    size_t n[2] = { 0, 0 };
    cli_diff_pass(c->d, start, end, n);
    cli_diff_events(c->d, before, n, &text);
    if (text.n)
        put_note(c, faint, buf_str(&text));
    before[0] += n[0];
    before[1] += n[1];
}

static int
put_all(struct columns *c)
{
    struct cli_diff *d = c->d;
    size_t from = 0, start, end, before[2] = { 0, 0 };
    int r = 0;
    while (!r && play_edits_hunk(&d->edits, CLI_DIFF_CONTEXT, from, &start, &end)) {
        put_skipped(c, start - from);
        cli_diff_pass(d, from, start, before);
        put_events(c, start, end, before);
        for (size_t i = start; i < end && !r; i++) {
            r = put_edit(c, play_edit_at(&d->edits, i));
            if (!r)
                r = cli_diff_flush(d, false);
        }
        from = end;
    }
    if (!r)
        put_skipped(c, play_edits_count(&d->edits) - from);
    return r;
}

int
cli_diff_columns(struct cli_diff *d)
{
    struct columns c = { .d = d,
                         .side = { cli_diff_compared(d, 0), cli_diff_compared(d, 1) },
                         .gutter = gutter_of(d),
                         .room = room_of(d) };
    struct cells head = NO_CELLS;
    if (play_edits_are_none(&d->edits))
        return 0;
    for (size_t i = 0; i < 2; i++)
        head.text[i] = term_text(buf_str(&d->sides[i].label));
    head.colour = bold;
    buf_puts(&d->text, "\n");
    put_cells(&c, head);
    int r = put_all(&c);
    buf_release(&c.shown[0]);
    buf_release(&c.shown[1]);
    play_line_edits_release(&c.lines);
    return r;
}
