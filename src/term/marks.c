/* SPDX-License-Identifier: MIT */
/* marks.c -- what programs told the terminal that is kept but not acted on. */
#include "term/term_priv.h"

void
term_add_mark(struct term *t, const struct term_mark *mark)
{
    if (!t->marks)
        t->marks = calloc(TERM_MARKS_MAX, sizeof(t->marks[0]));
    if (!t->marks) {
        term_no_memory(t);
        return;
    }
    if (t->n_marks == TERM_MARKS_MAX) {
        t->n_marks--;
        t->first_mark = (t->first_mark + 1) % TERM_MARKS_MAX;
    }
    struct term_stored_mark *m = &t->marks[(t->first_mark + t->n_marks) % TERM_MARKS_MAX];
    t->n_marks++;
    size_t n = mark->text.n < TERM_MARK_TEXT_MAX ? mark->text.n : TERM_MARK_TEXT_MAX;
    if (n)
        memcpy(m->text, mark->text.p, n);
    m->mark = *mark;
    m->mark.text = (struct view){ m->text, n };
}

size_t
term_mark_count(const struct term *t)
{
    return t->n_marks;
}

struct term_mark
term_mark_at(const struct term *t, size_t i)
{
    return t->marks[(t->first_mark + i) % TERM_MARKS_MAX].mark;
}
