/* SPDX-License-Identifier: MIT */
/*
 * draft_undo.c -- changes of a draft, and back.
 *
 * d->undo is a stack: of each step the bytes that it took out, then the step. Without
 * memory for one there is none before it either: what can be undone is always right.
 */
#include <string.h>

#include "tui/draft_priv.h"
#include "tui/field_priv.h"

struct step {
    size_t at;
    size_t inserted, removed; /* bytes */
    size_t cursor;            /* before it */
};

static struct step
step_before(const struct tui_draft *d, size_t end)
{
    struct step step;
    memcpy(&step, d->undo.p + end - sizeof(step), sizeof(step));
    return step;
}

static void
forget(struct tui_draft *d)
{
    buf_clear(&d->undo);
    d->n_undo = 0;
}

static void
forget_oldest(struct tui_draft *d)
{
    size_t end = d->undo.n;
    for (unsigned i = 1; i < d->n_undo; i++)
        end -= sizeof(struct step) + step_before(d, end).removed;
    tui_field_replace(&d->undo, BUF_CEILING, 0, end, (struct view){ NULL, 0 });
    d->n_undo--;
}

/* -- noting -- */

/* Makes the last step one with this change, where they belong together. */
static bool
join(struct tui_draft *d, const struct step *more, struct view removed)
{
    if (!d->n_undo)
        return false;
    struct step last = step_before(d, d->undo.n);
    size_t bytes = d->undo.n - sizeof(last) - last.removed; /* where they are */
    bool goes_on = !more->removed && more->at == last.at + last.inserted;
    bool is_left = !more->inserted && !last.inserted &&
                   more->at + more->removed == last.at;
    bool is_right = !more->inserted && !last.inserted && more->at == last.at;
    if (!goes_on && !is_left && !is_right)
        return false;
    if (!goes_on &&
        !tui_field_replace(&d->undo, BUF_CEILING, is_left ? bytes : bytes + last.removed,
                           0, removed))
        return false;
    last.at = is_left ? more->at : last.at;
    last.inserted += more->inserted;
    last.removed += more->removed;
    memcpy(d->undo.p + d->undo.n - sizeof(last), &last, sizeof(last));
    return true;
}

static void
note(struct tui_draft *d, const struct step *step, enum tui_draft_run run)
{
    struct view removed = { d->text.p + step->at, step->removed };
    bool is_joined = run != TUI_DRAFT_ALONE && run == d->run && join(d, step, removed);
    d->run = run;
    if (is_joined)
        return;
    if (d->n_undo == TUI_DRAFT_UNDO)
        forget_oldest(d);
    buf_append(&d->undo, removed.p, removed.n);
    buf_append(&d->undo, step, sizeof(*step));
    d->n_undo++;
    if (d->undo.failed)
        forget(d);
}

/* -- doing and undoing -- */

bool
tui_draft_change(struct tui_draft *d, size_t at, size_t n, struct view by,
                 enum tui_draft_run run)
{
    struct step step = { at, by.n, n, d->cursor };
    if (!n && !by.n)
        return false;
    d->is_full = d->text.n - n + by.n > TUI_DRAFT_BYTES ||
                 buf_reserve(&d->text, by.n) < 0;
    d->text.failed = 0;
    if (d->is_full)
        return false;
    note(d, &step, run);
    tui_field_replace(&d->text, BUF_CEILING, at, n, by);
    tui_draft_rewrap(d, at);
    d->cursor = at + by.n;
    return true;
}

bool
tui_draft_undo(struct tui_draft *d)
{
    d->run = TUI_DRAFT_ALONE;
    if (!d->n_undo)
        return false;
    struct step last = step_before(d, d->undo.n);
    size_t bytes = d->undo.n - sizeof(last) - last.removed;
    if (!tui_field_replace(&d->text, BUF_CEILING, last.at, last.inserted,
                           (struct view){ d->undo.p + bytes, last.removed }))
        return false;
    tui_draft_rewrap(d, last.at);
    d->cursor = last.cursor;
    d->undo.n = bytes;
    d->n_undo--;
    return true;
}
