/* SPDX-License-Identifier: MIT */
/* ignore_test.c -- what .gitignore files say; git_view_test.py asks git itself. */
#include "snap/ignore_priv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct snap_ignore *
make_in(const char *text, const char *dir, const struct snap_ignore *above)
{
    struct view v = { (const uint8_t *)text, strlen(text) };
    struct snap_ignore *s = snap_ignore_new(v, dir, above);
    assert_non_null(s);
    return s;
}

/* Each of `hit` is ignored by the text and none of `miss`; a folder ends with a slash,
 * names are parted by blanks. */
static void
check_each(const struct snap_ignore *s, const char *names, bool expected)
{
    char list[512];
    snprintf(list, sizeof(list), "%s", names);
    char *rest = NULL;
    for (char *p = strtok_r(list, " ", &rest); p; p = strtok_r(NULL, " ", &rest)) {
        size_t n = strlen(p);
        bool is_dir = p[n - 1] == '/';
        if (is_dir)
            p[n - 1] = 0;
        if (snap_ignore_has(s, p, is_dir) != expected)
            fail_msg("'%s'%s", p, expected ? " is not ignored" : " is ignored");
    }
}

static void
check(const char *text, const char *hit, const char *miss)
{
    struct snap_ignore *s = make_in(text, "", NULL);
    check_each(s, hit, true);
    check_each(s, miss, false);
    snap_ignore_free(s);
}

static void
a_name_is_ignored_wherever_it_is(void **state)
{
    (void)state;
    check("core\n", "core core/ a/core a/b/core", "cores acore core.c a/corex");
    check("*.o\n", "x.o .o a/x.o a.o/", "x.oo o a/o");
    check("build/\n", "build/ a/build/", "build a/build");
}

static void
a_path_is_of_its_files_folder(void **state)
{
    (void)state;
    check("/core\n", "core core/", "a/core");
    check("a/b\n", "a/b", "x/a/b b");
    check("/*.c\n", "x.c", "a/x.c");
    check("a/*\n", "a/b a/c/", "a a/b/c");
    check("/a?b\n/c[!x]d\n/e[.-0]f\n", "axb cyd e.f", "a/b c/d e/f");
}

static void
two_stars_are_any_folders(void **state)
{
    (void)state;
    check("**/x\n", "x a/x a/b/x", "ax a/bx");
    check("a/**\n", "a/b a/b/c", "a/ x/a/b");
    check("a/**/b\n", "a/b a/x/b a/x/y/b", "ab a/xb");
    check("a/**\\/b\n", "a/x/b a/x/y/b", "a/b");
    check("a**b\n", "ab axb x/axb", "a/b");
    check("a**/b\n", "ab a/b ax/b ax/y/b", "a/bx x/ab");
}

static void
the_last_one_that_fits_decides(void **state)
{
    (void)state;
    check("*.o\n!keep.o\n", "x.o", "keep.o a/keep.o");
    check("!keep.o\n*.o\n", "x.o keep.o", "x");
    check("*\n!*/\n!*.c\n", "x a/x", "x.c a/ a/x.c");
}

static void
a_deeper_file_decides_before_those_above(void **state)
{
    (void)state;
    struct snap_ignore *root = make_in("*.o\n/only\n", "", NULL);
    struct snap_ignore *none = make_in("", "a", root);
    struct snap_ignore *deep = make_in("!x.o\n/only.c\nb/c\n", "a/b", none);
    check_each(deep, "y.o a/y.o a/b/y.o only a/b/only.c a/b/b/c", true);
    check_each(deep, "a/b/x.o a/b/c/x.o a/only a/b/only a/only.c a/b/c/only.c ab/b/c",
               false);
    check_each(deep, "x.o a/x.o a/bx.o", true); /* not of that folder */
    snap_ignore_free(deep);
    snap_ignore_free(none);
    snap_ignore_free(root);
}

static void
lines_are_read_as_git_reads_them(void **state)
{
    (void)state;
    check("\xef\xbb\xbf"
          "a\r\nb\r\nc",
          "a b c",
          "\xef\xbb\xbf"
          "a");
    check("#a\n\\#b\n\\!c\n\n   \n!\n/\n", "#b !c", "a #a b c");
    struct snap_ignore *s = make_in("a  \nb\\ \nc\\  \nd\t\n", "", NULL);
    assert_true(snap_ignore_has(s, "a", false));
    assert_true(snap_ignore_has(s, "b ", false));
    assert_true(snap_ignore_has(s, "c ", false));
    assert_true(snap_ignore_has(s, "d\t", false));
    assert_false(snap_ignore_has(s, "b", false) || snap_ignore_has(s, "d", false));
    snap_ignore_free(s);
}

static void
what_is_no_pattern_fits_nothing(void **state)
{
    (void)state;
    check("[\n[a\n[[:nope:]]\na\\\n[[:alpha:\n", "", "[ [a a a\\ n");
    check("[]a]\n[!a-y]z\nx[a-]\n[[:digit:]-9]q\n", "] a zz Az x- xa 5q -q 9q",
          "az b xb");
}

/* As a walk asks: one in the middle of a file that is too long is not half a pattern. */
static void
a_file_that_is_too_long_ends_with_a_whole_line(void **state)
{
    (void)state;
    AUTO(buf) text = { 0 };
    buf_puts(&text, "first\n");
    while (text.n < SNAP_IGNORE_FILE_MAX - 1)
        buf_puts(&text, "#");
    text.p[text.n - 1] = '\n';
    buf_puts(&text, "*.o\n");
    struct snap_ignore *s = snap_ignore_new((struct view){ text.p, SNAP_IGNORE_FILE_MAX },
                                            "", NULL);
    assert_true(snap_ignore_has(s, "first", false));
    assert_false(snap_ignore_has(s, "x", false)); /* the star alone */
    snap_ignore_free(s);
}

static void
sets_in_every_place_fit_into_memory(void **state)
{
    (void)state;
    AUTO(buf) text = { 0 };
    while (text.n < SNAP_IGNORE_FILE_MAX - 8)
        buf_puts(&text, "[a]");
    buf_puts(&text, "\nx\n");
    struct snap_ignore *s = snap_ignore_new((struct view){ text.p, text.n }, "", NULL);
    assert_non_null(s);
    assert_true(snap_ignore_has(s, "x", false));
    assert_false(snap_ignore_has(s, "a", false));
    snap_ignore_free(s);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_ignored_wherever_it_is),
        cmocka_unit_test(a_path_is_of_its_files_folder),
        cmocka_unit_test(two_stars_are_any_folders),
        cmocka_unit_test(the_last_one_that_fits_decides),
        cmocka_unit_test(a_deeper_file_decides_before_those_above),
        cmocka_unit_test(lines_are_read_as_git_reads_them),
        cmocka_unit_test(what_is_no_pattern_fits_nothing),
        cmocka_unit_test(a_file_that_is_too_long_ends_with_a_whole_line),
        cmocka_unit_test(sets_in_every_place_fit_into_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
