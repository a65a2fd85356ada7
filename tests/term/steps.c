/* SPDX-License-Identifier: MIT */
/* steps.c -- runs a case step by step; one line a step in the table at the end. */
#include "term/steps.h"

#include "term/checks.h"

typedef bool (*step_fn)(struct steps_run *r, const struct case_step *s);

static void
collect_reply(void *ctx, const void *p, size_t n)
{
    struct steps_run *r = ctx;
    buf_append(&r->replies, p, n);
}

void
steps_run_init(struct steps_run *r, size_t cut)
{
    *r = (struct steps_run){ .opt = term_options_default(), .cut = cut };
    r->opt.cols = 10;
    r->opt.rows = 4;
    r->opt.reply = collect_reply;
    r->opt.ctx = r;
}

void
steps_run_release(struct steps_run *r)
{
    term_free(r->t);
    buf_release(&r->replies);
    buf_release(&r->why);
}

/* -- what is done -- */

static bool
do_size(struct steps_run *r, const struct case_step *s)
{
    r->opt.cols = case_number_at(s, 0);
    r->opt.rows = case_number_at(s, 1);
    return true;
}

static bool
do_option(struct steps_run *r, const struct case_step *s)
{
    if (case_is(s->args[0], "clears_scrollback"))
        r->opt.clears_scrollback = true;
    else if (case_is(s->args[0], "scrollback_rows"))
        r->opt.scrollback_rows = case_number_at(s, 1);
    else if (case_is(s->args[0], "alternate_rows"))
        r->opt.alternate_rows = case_number_at(s, 1);
    else
        buf_puts(&r->why, "no such option");
    return !r->why.n;
}

static bool
do_feed(struct steps_run *r, const struct case_step *s)
{
    /* On the heap and of this size, so that reading past it is seen. */
    struct view all = s->args[0];
    size_t piece = r->cut && r->cut < all.n ? r->cut : all.n;
    uint8_t *copy = malloc(piece ? piece : 1);
    unsigned times = s->n_args > 1 ? case_number_at(s, 1) : 1;
    for (; copy && times; times--) {
        for (size_t at = 0; at < all.n; at += piece) {
            size_t n = all.n - at < piece ? all.n - at : piece;
            memcpy(copy, all.p + at, n);
            term_feed(r->t, copy, n, r->byte_off);
            r->byte_off += n;
        }
    }
    free(copy);
    return copy != NULL;
}

static bool
do_offset(struct steps_run *r, const struct case_step *s)
{
    r->byte_off = case_number(s->args[0]);
    return true;
}

static bool
do_resize(struct steps_run *r, const struct case_step *s)
{
    term_resize(r->t, case_number_at(s, 0), case_number_at(s, 1));
    return true;
}

static bool
do_undamage(struct steps_run *r, const struct case_step *s)
{
    (void)s;
    term_damage_clear(r->t);
    return true;
}

static const struct step {
    const char *name, *shape;
    step_fn fn;
    bool is_early; /* may come before the model is made */
} steps[] = {
    { "size", "nn", do_size, true },
    { "option", "w?n", do_option, true },
    { "feed", "s?n", do_feed, false },
    { "offset", "n", do_offset, false },
    { "resize", "nn", do_resize, false },
    { "undamage", "", do_undamage, false },
    { "row", "ns", check_row, false },
    { "rows", "*s", check_rows, false },
    { "wrapped", "nb", check_row_property, false },
    { "stamp", "nn", check_row_property, false },
    { "line", "ns", check_line, false },
    { "line_wrapped", "nb", check_line_property, false },
    { "line_stamp", "nn", check_line_property, false },
    { "scrollback", "n?n", check_scrollback, false },
    { "final", "*a", check_final, false },
    { "cell", "nns?n", check_cell, false },
    { "style", "nnw*w", check_style, false },
    { "link", "nns", check_link, false },
    { "damage", "nb", check_damage, false },
    { "cursor", "nn", check_cursor, false },
    { "pending", "b", check_cursor_look, false },
    { "visible", "b", check_cursor_look, false },
    { "blink", "b", check_cursor_look, false },
    { "shape", "w", check_cursor_look, false },
    { "mode", "wn", check_mode, false },
    { "title", "s", check_title, false },
    { "icon", "s", check_title, false },
    { "colour", "ww", check_colour, false },
    { "reply", "s", check_reply, false },
    { "marks", "n", check_marks, false },
    { "mark", "nws", check_mark, false },
    { "mark_at", "nnn", check_mark, false },
};

static const struct step *
find(struct view name)
{
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        if (case_is(name, steps[i].name))
            return &steps[i];
    return NULL;
}

const char *
steps_shape(struct view name)
{
    const struct step *step = find(name);
    return step ? step->shape : NULL;
}

bool
steps_do(struct steps_run *r, const struct case_step *s)
{
    const struct step *step = find(s->name);
    if (!step->is_early && !r->t)
        r->t = term_new(&r->opt);
    if (step->is_early ? r->t != NULL : !r->t) {
        buf_puts(&r->why, r->t ? "too late, the model is made" : "out of memory");
        return false;
    }
    return step->fn(r, s);
}
