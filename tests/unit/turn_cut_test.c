/* SPDX-License-Identifier: MIT */
/* turn_cut_test.c -- the beginning of a text with what was left out; JSON without blanks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/text_view.h"
#include "turn/compact.h"
#include "turn/cut_priv.h"

static void
cuts(const char *text, struct turn_cut cut, const char *want)
{
    AUTO(buf) out = { 0 };
    turn_cut_put(text_view(text), &cut, &out);
    assert_string_equal(buf_str(&out), want);
}

static void
a_text_that_fits_is_put_whole(void **state)
{
    (void)state;
    cuts("one", (struct turn_cut){ 1, 3, false }, "one\n");
    cuts("one\ntwo", (struct turn_cut){ 2, 7, false }, "one\n  two\n");
    cuts("one\n\ntwo\n\n\n", (struct turn_cut){ 0, 0, false }, "one\n\n  two\n");
    cuts("", (struct turn_cut){ 1, 1, false }, "(empty)\n");
    cuts("\n\n", (struct turn_cut){ 1, 1, false }, "(empty)\n");
}

static void
lines_that_are_left_out_are_counted(void **state)
{
    (void)state;
    cuts("1\n2\n3", (struct turn_cut){ 2, 0, false }, "1\n  2\n  … 1 more line\n");
    cuts("1\n2\n3\n4\n", (struct turn_cut){ 2, 0, false }, "1\n  2\n  … 2 more lines\n");
    cuts("1\n22\n333", (struct turn_cut){ 1, 0, true }, "1\n  … 6 more bytes\n");
    cuts("1\n2", (struct turn_cut){ 1, 0, true }, "1\n  … 1 more byte\n");
    cuts("1\n2\n3", (struct turn_cut){ 0, 3, false }, "1\n  2\n  … 1 more line\n");
    cuts("1\n2\n3", (struct turn_cut){ 0, 2, false }, "1\n\n  … 3 more bytes\n");
}

static void
a_line_is_cut_between_characters(void **state)
{
    (void)state;
    cuts("abcdef", (struct turn_cut){ 5, 4, false }, "abcd\n  … 2 more bytes\n");
    cuts("ab\303\274d", (struct turn_cut){ 5, 3, false }, "ab\n  … 3 more bytes\n");
    cuts("ab\303\274d", (struct turn_cut){ 5, 4, false },
         "ab\303\274\n  … 1 more byte\n");
    cuts("\360\237\230\200x", (struct turn_cut){ 0, 3, false }, "\n  … 5 more bytes\n");
}

/* want NULL: it is refused. */
static void
compacts(const char *json, const char *want)
{
    AUTO(buf) out = { 0 };
    buf_puts(&out, "before:");
    assert_int_equal(turn_compact(text_view(json), &out), want != NULL);
    assert_int_equal(strncmp(buf_str(&out), "before:", 7), 0);
    assert_string_equal(buf_str(&out) + 7, want ? want : "");
}

static void
blanks_go_but_those_in_strings(void **state)
{
    (void)state;
    compacts(" { \"a b\" : [ 1 , \"x \\\" y\" ,\ttrue\r\n] , \"\" : null } \n",
             "{\"a b\":[1,\"x \\\" y\",true],\"\":null}");
    compacts("\"\\\\\"", "\"\\\\\"");
    compacts("[ 0 , -0 , 0.5 , 10 , 1e5 , -2E-3 , 2E+3 ]",
             "[0,-0,0.5,10,1e5,-2E-3,2E+3]");
    compacts("[\"007\", \"-01\"]", "[\"007\",\"-01\"]");
    compacts("7", "7");
}

static void
what_is_no_strict_json_is_refused_and_leaves_nothing(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",      " ",       "{",       "[1] 2",     "[1]x",
        "[007]", "[ -01 ]", "[1, 00]", "[\"a\n\"]", "{\"a\":\"\\ud800\"}",
        "[1,]"
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        compacts(bad[i], NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_that_fits_is_put_whole),
        cmocka_unit_test(lines_that_are_left_out_are_counted),
        cmocka_unit_test(a_line_is_cut_between_characters),
        cmocka_unit_test(blanks_go_but_those_in_strings),
        cmocka_unit_test(what_is_no_strict_json_is_refused_and_leaves_nothing),
    };
    return cmocka_run_group_tests_name("turn_cut", tests, NULL, NULL);
}
