/* SPDX-License-Identifier: MIT */
/* marks.c -- what programs told the terminal that is kept but not acted on. */
#include "base/utf8.h"
#include "term/term_priv.h"

size_t
term_clean_copy(void *dst, size_t max, struct view text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.n;) {
        uint32_t rune;
        size_t len = (size_t)utf8_next(text.p + i, text.n - i, &rune);
        if (n + len > max)
            break;
        if (len && !term_is_control(rune)) {
            memcpy((uint8_t *)dst + n, text.p + i, len);
            n += len;
        }
        i += len ? len : 1;
    }
    return n;
}

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
    size_t n = term_clean_copy(m->text, TERM_MARK_TEXT_MAX, mark->text);
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
