/* SPDX-License-Identifier: MIT */
#include "support/subject.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "support/measure.h"

void
subject_init(struct subject *s, const struct term_options *opt)
{
    *s = (struct subject){ .before = measure_heap_bytes() };
    s->t = term_new(opt);
    assert_non_null(s->t);
}

void
subject_release(struct subject *s)
{
    term_free(s->t);
    *s = (struct subject){ 0 };
}

struct term_options
subject_options(uint32_t most_rows)
{
    struct term_options opt = term_options_default();
    opt.scrollback_rows = most_rows;
    opt.alternate_rows = most_rows;
    return opt;
}

void
subject_feed(struct subject *s, const void *p, size_t n)
{
    term_feed(s->t, p, n, s->off);
    s->off += n;
}

void
subject_puts(struct subject *s, const char *text)
{
    subject_feed(s, text, strlen(text));
}

size_t
subject_cost(const struct subject *s)
{
    size_t now = measure_heap_bytes();
    return now > s->before ? now - s->before : 0;
}

void
subject_check_cost(const struct subject *s, size_t most, const char *what)
{
    if (subject_cost(s) > most)
        fail_msg("%s: %zu bytes of heap, more than %zu", what, subject_cost(s), most);
}

void
subject_check_alive(struct subject *s)
{
    struct term_cursor cursor = term_cursor(s->t);
    struct term_cell cell;
    assert_true(cursor.row < term_rows(s->t) && cursor.col < term_cols(s->t));
    subject_puts(s, "\x1b[!p\x1b[H\x1b[2Jx");
    term_cell_at(s->t, 0, 0, &cell);
    assert_int_equal(cell.text.n, 1);
    assert_int_equal(cell.text.p[0], 'x');
    assert_int_equal(term_cursor(s->t).col, term_cols(s->t) > 1);
    assert_int_equal(term_error(s->t), 0);
}
