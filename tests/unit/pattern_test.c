/* SPDX-License-Identifier: MIT */
/* pattern_test.c -- what is looked for in lines: texts, regexes, what they must hold. */
#include "library/pattern_priv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "library/literal_priv.h"
#include "support/text_view.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct pattern *
make(const char *query, bool is_regex)
{
    struct pattern *p = NULL;
    struct err err = { 0 };
    if (pattern_new(&p, text_view(query), is_regex, &err) < 0)
        fail_msg("'%s': %s", query, err.text);
    return p;
}

/* Appends each match as [found], its line's number before it. */
static void
find(const char *query, bool is_regex, const char *text, struct buf *out)
{
    struct pattern *p = make(query, is_regex);
    struct pattern_hit hit;
    assert_int_equal(pattern_begin(p, text_view(text)), 0);
    while (pattern_next(p, &hit) > 0) {
        unsigned line = 0;
        for (size_t i = 0; i < hit.line; i++)
            line += text[i] == '\n';
        assert_true(hit.line == 0 || text[hit.line - 1] == '\n');
        assert_true(text[hit.line_end] == '\n' || !text[hit.line_end]);
        assert_true(hit.line <= hit.start && hit.start <= hit.end);
        assert_true(hit.end <= hit.line_end);
        buf_printf(out, "%u[%.*s]", line, (int)(hit.end - hit.start), text + hit.start);
    }
    pattern_free(p);
}

static void
check_found(const char *query, bool is_regex, const char *text, const char *expected)
{
    AUTO(buf) out = { 0 };
    find(query, is_regex, text, &out);
    if (strcmp(buf_str(&out), expected) != 0)
        fail_msg("'%s' in '%s': %s, not %s", query, text, buf_str(&out), expected);
}

static void
a_text_is_found_once_in_each_line(void **state)
{
    (void)state;
    static const char *const all[][3] = {
        { "an", "banana\nb\nAnan an\n", "0[an]2[An]" },
        { "An", "banana\nAnan an\n", "1[An]" },
        { "b", "a\nb\n", "1[b]" },
        { "b", "a\nb", "1[b]" },
        { "%_*\"'", "x %_*\"' y\n", "0[%_*\"']" },
        { "aab", "aaab\n", "0[aab]" },
        { "ä", "Ä ä\n", "0[ä]" },
        { "\xa4", "ä\n", "0[\xa4]" },
        { "🦊", "a 🦊\n", "0[🦊]" },
        { " ", "a b\n\n c\n", "0[ ]2[ ]" },
        { "x", "", "" },
        { "x", "\n\n", "" },
    };
    for (size_t i = 0; i < COUNT(all); i++)
        check_found(all[i][0], false, all[i][1], all[i][2]);
}

static void
what_holds_a_newline_is_in_no_line(void **state)
{
    (void)state;
    struct pattern *p = make("a\nb", false);
    assert_true(pattern_is_hopeless(p));
    pattern_free(p);
    check_found("a\nb", false, "a\nb\n", "");
    check_found("a\nb", true, "a\nb\n", "");
    check_found("a\\nb", true, "a\nb\n", "");
    check_found("a\\s*b", true, "a\nb\n", "");
}

static void
a_regex_sees_one_line_at_a_time(void **state)
{
    (void)state;
    static const char *const all[][3] = {
        { "^b", "ab\nba\n", "1[b]" },
        { "b$", "ab\nba\n", "0[b]" },
        { "\\Aa.*c\\z", "a\nabc\n", "1[abc]" },
        { "x*", "a\n\nxx\n", "0[]1[]2[xx]" },
        { "[^a]", "aaa\nab\n", "1[b]" },
        { "err(or|no)", "Error\nERRNO\nerr\n", "0[Error]1[ERRNO]" },
        { "Err(or|no)", "Error\nerror\n", "0[Error]" },
        { "\\S+ing", "SING\nthing\n", "0[SING]1[thing]" },
        { "\\bTür\\b", "Tür\nTürme\n", "0[Tür]" },
        { "ü", "Ü\n", "0[Ü]" }, /* unlike the bytes of a text */
        { "^.$", "🦊\n", "0[🦊]" },
        { "foo\\Kbar", "foobar\n", "0[bar]" },
        { "a|b", "b\n", "0[b]" },
        { "colou?r", "color\ncolour\n", "0[color]1[colour]" },
    };
    for (size_t i = 0; i < COUNT(all); i++)
        check_found(all[i][0], true, all[i][1], all[i][2]);
}

static void
lines_that_are_no_utf_8_are_searched_too(void **state)
{
    (void)state;
    check_found("b.", true,
                "\xff\xfe"
                "bc\xc3\n\xc3\nbä\n",
                "0[bc]2[bä]");
    check_found("b", false,
                "\xff\xfe"
                "bc\xc3\n",
                "0[b]");
}

/* "" where nothing must be there, "?" where something is not known. */
static void
literals_are_what_every_match_holds(void **state)
{
    (void)state;
    static const char *const all[][2] = {
        { "error", "error" },     { "err.*failed", "failed" },
        { "colou?r", "colo" },    { "abc*", "ab" },
        { "ab+c", "ab" },         { "ab++cde", "cde" },
        { "abc{0}d", "ab" },      { "abc{2,3}de", "ab" },
        { "abc{,3}d", "ab" },     { "abc{ 0, 3 }d", "ab" },
        { "a{x}b", "a{x}b" },     { "{\"a\":1}", "{\"a\":1}" },
        { "a\\.b\\*?", "a.b" },   { "(foo|bar)baz", "baz" },
        { "(?:foo)baz+", "baz" }, { "foo(bar)?", "foo" },
        { "foo|bar", "" },        { "(foo)", "" },
        { "abc[def]gh", "abc" },  { "abc[]x]gh[^]abcdef]", "abc" },
        { "a[\\]bcd]ef", "ef" },  { "a[[:alpha:]bcd]ef", "ef" },
        { "a[[bcd]ef", "ef" },    { "a\\dbc", "bc" },
        { "^ab$", "ab" },         { "]ab", "]ab" },
        { "ab\\tc", "ab" },       { "sun\xc3\xa4k?", "sun\xc3\xa4" },
        { "ab\xc3\xa4?", "ab" },  { "", "" },
        { "a[[.x.]]bc", "?" },    { "(?i)abc", "?" },
        { "(?!abc)", "?" },       { "(*ANY)abc", "?" },
        { "a\\Qb|c\\E", "?" },    { "a\\x41", "?" },
        { "a[\\c]x]b", "?" },     { "(a)\\1bc", "?" },
        { "abc\\p{L}", "?" },     { "ab)", "?" },
        { "(ab", "?" },           { "[ab", "?" },
        { "ab\\", "?" },
    };
    for (size_t i = 0; i < COUNT(all); i++) {
        AUTO(buf) out = { 0 };
        int r = literal_find(text_view(all[i][0]), false, false, &out);
        const char *got = r ? buf_str(&out) : "?";
        if (strcmp(got, all[i][1]) != 0)
            fail_msg("'%s': '%s', not '%s'", all[i][0], got, all[i][1]);
    }
}

static void
a_literal_in_any_case_is_ascii_alone(void **state)
{
    (void)state;
    static const struct {
        const char *regex;
        bool has_strangers;
        const char *literal;
    } all[] = {
        { "sunk", true, "un" },
        { "sunk", false, "sunk" },
        { "abc\xc3\xa4"
          "de",
          true, "abc" },
        { "\\.\\[x", false, ".[x" },
    };
    for (size_t i = 0; i < COUNT(all); i++) {
        AUTO(buf) out = { 0 };
        int r = literal_find(text_view(all[i].regex), true, all[i].has_strangers, &out);
        assert_int_equal(r, 1);
        assert_string_equal(buf_str(&out), all[i].literal);
    }
}

/* U+017F and U+212A: to Unicode an s and a k. */
static void
ascii_letters_match_ascii_letters_alone(void **state)
{
    (void)state;
    const char *text = "\xc5\xbf"
                       "un\xe2\x84\xaa\nSUNK\n";
    check_found("sunk", false, text, "1[SUNK]");
    check_found("sunk", true, text, "1[SUNK]");
    check_found("sun.", true, text, "1[SUNK]");
    check_found("[s]un[k]", true, text, "1[SUNK]");
    check_found("\xc5\xbf", true, "a\xc5\xbf\n", "0[\xc5\xbf]");
    check_found("^.un.$", true, text, "0[\xc5\xbfun\xe2\x84\xaa]1[SUNK]");
}

static void
a_regex_that_is_none_is_told_with_its_place(void **state)
{
    (void)state;
    static const char *const all[][2] = {
        { "a(b", "at its end" },
        { "a)b", "at character 2" },
        { "ä**+x)", "character " },
        { "[z-a]", "character " },
        { "a\\Cb", "character " },
        { "\xff", "character 1" },
        { "(?P<", "" },
        { "*", "character " },
        { "a{99999}", "character " },
    };
    for (size_t i = 0; i < COUNT(all); i++) {
        struct pattern *p;
        struct err err = { 0 };
        int r = pattern_new(&p, text_view(all[i][0]), true, &err);
        if (r != ERR_USAGE || !strstr(err.text, all[i][1]))
            fail_msg("'%s': %d, %s", all[i][0], r, err.text);
    }
}

static void
nothing_and_too_much_are_refused(void **state)
{
    (void)state;
    struct pattern *p;
    struct err err = { 0 };
    AUTO(buf) big = { 0 };
    memset(buf_grow(&big, PATTERN_REGEX_MAX + 1), 'a', PATTERN_REGEX_MAX + 1);
    assert_int_equal(pattern_new(&p, text_view(""), false, &err), ERR_USAGE);
    assert_int_equal(pattern_new(&p, text_view(""), true, &err), ERR_USAGE);
    assert_int_equal(pattern_new(&p, (struct view){ big.p, big.n }, true, &err),
                     ERR_USAGE);
    assert_int_equal(pattern_new(&p, (struct view){ big.p, big.n }, false, &err), 0);
    pattern_free(p);
}

/* Each of them takes for ever, unless somebody stops it. */
static void
lines_that_are_too_hard_are_counted_and_passed_over(void **state)
{
    (void)state;
    static const char *const regexes[] = { "(a+)+$", "(a|aa)+$", "(.*a){20}$" };
    AUTO(buf) text = { 0 };
    memset(buf_grow(&text, 3000), 'a', 3000);
    buf_puts(&text, "b\naaa\n");
    for (size_t i = 0; i < COUNT(regexes); i++) {
        struct pattern *p = make(regexes[i], true);
        struct pattern_hit hit;
        assert_int_equal(pattern_begin(p, (struct view){ text.p, text.n }), 0);
        int r = pattern_next(p, &hit), lines = 0;
        for (; r > 0; r = pattern_next(p, &hit))
            lines += hit.line == 3002;
        assert_int_equal(r, 0);
        assert_int_equal(pattern_hard_lines(p), 1);
        assert_int_equal(lines, i < 2);
        pattern_free(p);
    }
}

static void
too_many_hard_lines_end_the_walk(void **state)
{
    (void)state;
    AUTO(buf) text = { 0 };
    struct pattern_hit hit;
    for (int i = 0; i < PATTERN_HARD_MAX + 1; i++)
        buf_puts(&text, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\n");
    struct pattern *p = make("(a+)+$", true);
    assert_int_equal(pattern_begin(p, (struct view){ text.p, text.n }), 0);
    assert_int_equal(pattern_next(p, &hit), ERR_LIMIT);
    assert_int_equal(pattern_hard_lines(p), PATTERN_HARD_MAX);
    pattern_free(p);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_is_found_once_in_each_line),
        cmocka_unit_test(what_holds_a_newline_is_in_no_line),
        cmocka_unit_test(a_regex_sees_one_line_at_a_time),
        cmocka_unit_test(lines_that_are_no_utf_8_are_searched_too),
        cmocka_unit_test(literals_are_what_every_match_holds),
        cmocka_unit_test(a_literal_in_any_case_is_ascii_alone),
        cmocka_unit_test(ascii_letters_match_ascii_letters_alone),
        cmocka_unit_test(a_regex_that_is_none_is_told_with_its_place),
        cmocka_unit_test(nothing_and_too_much_are_refused),
        cmocka_unit_test(lines_that_are_too_hard_are_counted_and_passed_over),
        cmocka_unit_test(too_many_hard_lines_end_the_walk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
