/* SPDX-License-Identifier: MIT */
/*
 * memory_test.c -- the terminal model without memory: whichever allocation fails, once or
 * from then on, nothing breaks, and what was lost for it is owned up to by term_error().
 *
 * The linker sends our allocations through support/alloc_faults.c (--wrap).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "support/alloc_faults.h"
#include "term/dump.h"

static const char *const session[] = {
    "plain\r\n\x1b[1;31mred\x1b[m \xe6\xbc\xa2\xe5\xad\x97 e\xcc\x81\r\n",
    "\x1b]8;;http://x/\a\x1b[58:2::1:2:3mlink\x1b]8;;\a\x1b[m that is long enough to "
    "wrap\r\n",
    "\x1b]2;title\a\x1b[22t\x1b]4;1;#123456\a\x1b]133;A\a\x1b[44m\x1b[2J\x1b["
    "m1\r\n2\r\n3\r\n4\r\n",
    "\x1b[?1049h\x1b[3;3Halternate\x1b[5L\x1b[4hin\x1b[4l\x1b[?1049l\x1b[5;1Hlast",
};

static void
run_session(struct term *t)
{
    for (size_t i = 0; i < sizeof(session) / sizeof(session[0]); i++) {
        term_feed(t, session[i], strlen(session[i]), i * 1000);
        term_resize(t, i % 2 ? 30 : 9, i % 2 ? 5 : 3);
    }
}

/* All that can be seen of a session in which the n-th allocation fails; 0: none does. */
static void
play(unsigned n, bool is_for_ever, struct buf *out, int *ret_error)
{
    struct term_options opt = term_options_default();
    opt.cols = 20;
    opt.rows = 4;
    struct term *t = term_new(&opt);
    assert_non_null(t);
    faults.count = 0;
    faults.fail_at = n;
    faults.is_for_ever = is_for_ever;
    faults.is_on = true;
    run_session(t);
    faults.is_on = false;
    *ret_error = term_error(t);
    dump_all(out, t);
    term_free(t);
}

/* What was lost is to be found in the dump, the word about it aside. */
static bool
is_same(struct buf *a, struct buf *b)
{
    static const char word[] = "error";
    const char *x = strstr(buf_str(a), word), *y = strstr(buf_str(b), word);
    return x && y && !strcmp(strchr(x, '\n'), strchr(y, '\n'));
}

static void
what_is_lost_for_want_of_memory_is_told(void **state)
{
    (void)state;
    AUTO(buf) good = { 0 };
    int error;
    play(0, false, &good, &error);
    assert_int_equal(error, 0);
    unsigned allocations = faults.count;
    assert_in_range(allocations, 50, 5000);
    for (unsigned n = 1; n <= allocations; n++) {
        AUTO(buf) once = { 0 };
        play(n, false, &once, &error);
        if (!is_same(&good, &once))
            assert_int_equal(error, -ENOMEM);
        AUTO(buf) ever = { 0 };
        play(n, true, &ever, &error);
    }
}

static void
a_restore_without_memory_says_so(void **state)
{
    (void)state;
    struct term_options opt = term_options_default();
    struct term *t = term_new(&opt), *copy;
    struct err err;
    AUTO(buf) bytes = { 0 };
    assert_non_null(t);
    run_session(t);
    assert_int_equal(term_snapshot(t, true, &bytes), 0);
    for (unsigned n = 1;; n++) {
        faults.count = 0;
        faults.fail_at = n;
        faults.is_for_ever = false;
        faults.is_on = true;
        int e = term_restore((struct view){ bytes.p, bytes.n }, &opt, &copy, &err);
        faults.is_on = false;
        if (!e)
            term_free(copy);
        else
            assert_int_equal(e, -ENOMEM);
        if (faults.count < n)
            break;
    }
    term_free(t);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_lost_for_want_of_memory_is_told),
        cmocka_unit_test(a_restore_without_memory_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
