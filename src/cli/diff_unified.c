/* SPDX-License-Identifier: MIT */
/*
 * diff_unified.c -- the edits as `diff -u` has them, with turns in place of lines.
 *
 * Every line of a text stands behind ' ', '-' or '+', so that none can pass for one of
 * ours. '~' is a turn that has moved, in one line at both of its places; '…' is what was
 * left out of a text.
 */
#include "cli/diff.h"

enum {
    SAME_LINES = 3,   /* of a turn that is the same; and around what has changed in one */
    MOVED_BYTES = 200 /* of one that has moved, about */
};

static const char red[] = "\033[31m", green[] = "\033[32m", cyan[] = "\033[36m",
                  faint[] = "\033[2m";

struct unified {
    struct cli_diff *d;
    const struct play_side *a, *b;
    struct buf shown_a, shown_b; /* a turn as it is read */
    struct play_line_edits lines;
};

static void
put_line(struct cli_diff *d, char mark, struct view line, const char *colour)
{
    cli_diff_colour(d, colour);
    buf_append(&d->text, &mark, 1);
    buf_append(&d->text, line.p, line.n);
    cli_diff_colour(d, "");
    buf_puts(&d->text, "\n");
}

static void
put_more(struct cli_diff *d, size_t n, const char *what)
{
    cli_diff_colour(d, faint);
    buf_printf(&d->text, "… %zu %s%s", n, what, n == 1 ? "" : "s");
    cli_diff_colour(d, "");
    buf_puts(&d->text, "\n");
}

/* At most so many lines of a text. */
static void
put_text(struct cli_diff *d, char mark, struct view text, size_t max, const char *colour)
{
    size_t more = 0;
    for (size_t i = 0; text.n; i++) {
        const uint8_t *end = memchr(text.p, '\n', text.n);
        size_t n = end ? (size_t)(end - text.p) : text.n;
        if (i < max)
            put_line(d, mark, (struct view){ text.p, n }, colour);
        else
            more++;
        n += end != NULL;
        text = (struct view){ text.p + n, text.n - n };
    }
    if (more)
        put_more(d, more, "more line");
}

static struct view
show(const struct play_side *s, uint32_t turn, bool is_one_line, struct buf *room)
{
    buf_clear(room);
    room->ceiling = SIZE_MAX;
    (void)play_side_show(s, play_side_at(s, turn), is_one_line, room);
    return (struct view){ room->p, room->n };
}

static bool
are_same(struct view a, struct view b)
{
    return a.n == b.n && (!a.n || !memcmp(a.p, b.p, a.n));
}

/* -- what has changed within a turn -- */

static const struct view *
line_of(const struct buf *lines, uint32_t i)
{
    return (const struct view *)(const void *)lines->p + i;
}

/* First what is gone, up to the next line that is the same, then what is new. */
static void
put_line_edits(struct unified *u, size_t from, size_t to)
{
    const struct play_edits *e = &u->lines.edits;
    while (from < to) {
        size_t end = from;
        for (; end < to && play_edit_at(e, end)->kind != PLAY_SAME; end++) {
            const struct play_edit *x = play_edit_at(e, end);
            if (x->kind != PLAY_INSERTED && x->kind != PLAY_MOVED_HERE)
                put_line(u->d, '-', *line_of(&u->lines.a, x->a), red);
        }
        for (size_t i = from; i < end; i++) {
            const struct play_edit *x = play_edit_at(e, i);
            if (x->kind != PLAY_DELETED && x->kind != PLAY_MOVED_AWAY)
                put_line(u->d, '+', *line_of(&u->lines.b, x->b), green);
        }
        for (from = end; from < to && play_edit_at(e, from)->kind == PLAY_SAME; from++)
            put_line(u->d, ' ', *line_of(&u->lines.a, play_edit_at(e, from)->a), "");
    }
}

static int
put_changed(struct unified *u, const struct play_edit *edit)
{
    struct view a = show(u->a, edit->a, false, &u->shown_a);
    struct view b = show(u->b, edit->b, false, &u->shown_b);
    if (are_same(a, b)) { /* 1 and "1" */
        a = play_side_text(u->a, play_side_at(u->a, edit->a));
        b = play_side_text(u->b, play_side_at(u->b, edit->b));
    }
    int r = play_compare_lines(a, b, &u->lines);
    const struct play_edits *e = &u->lines.edits;
    size_t from = 0, start, end;
    while (!r && play_edits_hunk(e, SAME_LINES, from, &start, &end)) {
        if (!from && start > 1) { /* what kind of turn it is is always told */
            put_line_edits(u, 0, 1);
            from = 1;
        }
        if (start > from)
            put_more(u->d, start - from, "same line");
        put_line_edits(u, start, end);
        from = end;
    }
    if (!r && from < play_edits_count(e))
        put_more(u->d, play_edits_count(e) - from, "same line");
    return r;
}

/* -- turns -- */

/* Cut between characters. */
static void
put_moved(struct unified *u, const struct play_edit *edit)
{
    struct cli_diff *d = u->d;
    bool is_away = edit->kind == PLAY_MOVED_AWAY;
    struct view text = show(u->a, edit->a, true, &u->shown_a);
    cli_diff_colour(d, cyan);
    buf_printf(&d->text, "~%s %u moved %s %u: ", cli_diff_thing(d),
               (is_away ? edit->a : edit->b) + 1, is_away ? "to" : "from",
               (is_away ? edit->b : edit->a) + 1);
    (void)term_text_put(&d->widths, text, MOVED_BYTES, &d->text);
    cli_diff_colour(d, "");
    buf_puts(&d->text, "\n");
}

static int
put_edit(struct unified *u, const struct play_edit *edit)
{
    switch (edit->kind) {
    case PLAY_SAME:
        put_text(u->d, ' ', show(u->a, edit->a, false, &u->shown_a), SAME_LINES, "");
        break;
    case PLAY_DELETED:
        put_text(u->d, '-', show(u->a, edit->a, false, &u->shown_a), SIZE_MAX, red);
        break;
    case PLAY_INSERTED:
        put_text(u->d, '+', show(u->b, edit->b, false, &u->shown_b), SIZE_MAX, green);
        break;
    case PLAY_CHANGED:
        return put_changed(u, edit);
    case PLAY_MOVED_AWAY:
    case PLAY_MOVED_HERE:
        put_moved(u, edit);
        break;
    }
    return u->shown_a.failed ? u->shown_a.failed : u->shown_b.failed;
}

/* Where the hunk begins, and how many turns of each it has; as `diff -u` counts: of none
 * it is the one before. Then their events. */
static void
put_hunk_head(struct cli_diff *d, size_t start, size_t end, const size_t before[2])
{
    AUTO(buf) events = { 0 };
    size_t n[2] = { 0, 0 };
    cli_diff_pass(d, start, end, n);
    cli_diff_colour(d, cyan);
    buf_printf(&d->text, "@@ -%zu,%zu +%zu,%zu @@", before[0] + (n[0] > 0), n[0],
               before[1] + (n[1] > 0), n[1]);
    cli_diff_events(d, before, n, &events);
    if (events.n)
        buf_printf(&d->text, " %s", buf_str(&events));
    cli_diff_colour(d, "");
    buf_puts(&d->text, "\n");
}

static int
put_hunks(struct unified *u)
{
    struct cli_diff *d = u->d;
    size_t from = 0, start, end, before[2] = { 0, 0 };
    int r = 0;
    while (!r && play_edits_hunk(&d->edits, CLI_DIFF_CONTEXT, from, &start, &end)) {
        cli_diff_pass(d, from, start, before);
        put_hunk_head(d, start, end, before);
        for (size_t i = start; i < end && !r; i++) {
            r = put_edit(u, play_edit_at(&d->edits, i));
            if (!r)
                r = cli_diff_flush(d, false);
        }
        cli_diff_pass(d, start, end, before);
        from = end;
    }
    return r;
}

int
cli_diff_unified(struct cli_diff *d)
{
    struct unified u = { .d = d,
                         .a = cli_diff_compared(d, 0),
                         .b = cli_diff_compared(d, 1) };
    if (play_edits_are_none(&d->edits))
        return 0;
    buf_printf(&d->text, "\n--- %s\n", buf_str(&d->sides[0].label));
    buf_printf(&d->text, "+++ %s\n", buf_str(&d->sides[1].label));
    int r = put_hunks(&u);
    buf_release(&u.shown_a);
    buf_release(&u.shown_b);
    play_line_edits_release(&u.lines);
    return r;
}
