/* SPDX-License-Identifier: MIT */
/* base_test.c -- buffers, numbers, UTF-8, JSON, the clock, errors, files. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/json_in.h"
#include "base/le.h"
#include "base/num.h"
#include "base/plain_scan.h"
#include "base/tree.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "support/kit.h"

static void
a_buffer_stops_at_its_ceiling_and_stays_as_it_was(void **state)
{
    (void)state;
    AUTO(buf) b = { .ceiling = 1000 };
    for (int i = 0; i < 100; i++)
        assert_int_equal(buf_append(&b, "0123456789", 10), 0);
    assert_int_equal(buf_append(&b, "x", 1), ERR_LIMIT);
    assert_int_equal(b.failed, ERR_LIMIT);
    assert_int_equal(b.n, 1000);
    assert_memory_equal(b.p + 990, "0123456789", 10);
    assert_null(buf_grow(&b, SIZE_MAX));
    buf_clear(&b);
    assert_int_equal(b.failed, 0);
    assert_int_equal(buf_printf(&b, "%s %d", "seven", 7), 0);
    assert_string_equal(buf_str(&b), "seven 7");
}

static void
large_numbers_have_their_thousands_apart(void **state)
{
    (void)state;
    const struct {
        uint64_t v;
        const char *text;
    } cases[] = { { 0, "0" },
                  { 999, "999" },
                  { 1000, "1,000" },
                  { 1234567, "1,234,567" },
                  { UINT64_MAX, "18,446,744,073,709,551,615" } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        AUTO(buf) b = { 0 };
        assert_int_equal(buf_put_grouped(&b, cases[i].v), 0);
        assert_string_equal(buf_str(&b), cases[i].text);
    }
}

static void
an_empty_growth_is_not_a_failure(void **state)
{
    (void)state;
    AUTO(buf) b = { 0 };
    assert_non_null(buf_grow(&b, 0));
}

static void
numbers_are_whole_and_in_range_or_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t max;
        int result;
        uint64_t value;
    } cases[] = {
        { "0", 9, 0, 0 },
        { "007", 9, 0, 7 },
        { "65535", 65535, 0, 65535 },
        { "65536", 65535, -ERANGE, 0 },
        { "18446744073709551615", UINT64_MAX, 0, UINT64_MAX },
        { "18446744073709551616", UINT64_MAX, -ERANGE, 0 },
        { "99999999999999999999999", UINT64_MAX, -ERANGE, 0 },
        { "9", 5, -ERANGE, 0 },
        { "", 9, -EINVAL, 0 },
        { "-1", 9, -EINVAL, 0 },
        { "+1", 9, -EINVAL, 0 },
        { " 1", 9, -EINVAL, 0 },
        { "1x", 9, -EINVAL, 0 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t v = 0;
        struct view text = { (const uint8_t *)cases[i].text, strlen(cases[i].text) };
        assert_int_equal(num_parse(text, cases[i].max, &v), cases[i].result);
        assert_int_equal(v, cases[i].value);
    }
}

static void
little_endian_is_the_same_everywhere(void **state)
{
    (void)state;
    uint8_t p[8];
    put_le64(p, 0x0123456789abcdefULL);
    assert_memory_equal(p, "\xef\xcd\xab\x89\x67\x45\x23\x01", 8);
    assert_int_equal(get_le64(p), 0x0123456789abcdefULL);
    assert_int_equal(get_le32(p), 0x89abcdefU);
    assert_int_equal(get_le16(p), 0xcdef);
}

static void
utf8_is_strict(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        int len;
        uint32_t cp;
    } cases[] = {
        { "a", 1, 'a' },
        { "\xc3\xa9", 2, 0xe9 },
        { "\xe2\x82\xac", 3, 0x20ac },
        { "\xf0\x9f\x98\x80", 4, 0x1f600 },
        { "\xf4\x8f\xbf\xbf", 4, 0x10ffff },
        { "\xc0\xaf", 0, 0 },             /* overlong */
        { "\xe0\x80\xaf", 0, 0 },         /* overlong */
        { "\xf0\x80\x80\xaf", 0, 0 },     /* overlong */
        { "\xed\xa0\x80", 0, 0 },         /* surrogate */
        { "\xf4\x90\x80\x80", 0, 0 },     /* past the end */
        { "\xf8\x88\x80\x80\x80", 0, 0 }, /* five bytes */
        { "\x80", 0, 0 },                 /* stray continuation */
        { "\xe2\x82", 0, 0 },             /* cut */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint32_t cp = 0;
        assert_int_equal(
            utf8_next((const uint8_t *)cases[i].bytes, strlen(cases[i].bytes), &cp),
            cases[i].len);
        assert_int_equal(cp, cases[i].cp);
    }
}

static void
what_ends_within_a_character_is_whole_before_it(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t whole;
    } cases[] = {
        { "", 0 },
        { "ab", 2 },
        { "a\xc3", 1 },
        { "a\xc3\xa9", 3 },
        { "\xe2", 0 },
        { "a\xe2\x82", 1 },
        { "a\xe2\x82\xac", 4 },
        { "a\xf0\x9f\x98", 1 },
        { "\xf0\x9f\x98\x80", 4 },
        { "a\xc3\x80\x80", 4 },
        { "\x80\x80\x80\x80\x80", 5 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(
            utf8_whole((const uint8_t *)cases[i].bytes, strlen(cases[i].bytes)),
            cases[i].whole);
}

static void
a_line_has_no_control_characters(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        bool is_text, is_line;
    } cases[] = {
        { "", true, true },
        { "na\xc3\xafve \xe2\x82\xac\xc2\xa0", true, true },
        { "two\nlines", true, false },
        { "\033[31m", true, false },
        { "\177", true, false },
        { "\xc2\x80", true, false }, /* C1 */
        { "\xc2\x9f", true, false },
        { "ok\xff", false, false },
        { "\x80", false, false },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t n = strlen(cases[i].bytes);
        assert_int_equal(utf8_is_text(cases[i].bytes, n), cases[i].is_text);
        assert_int_equal(utf8_is_line(cases[i].bytes, n), cases[i].is_line);
    }
    assert_false(utf8_is_line("a\0b", 3));
}

static void
json_is_valid_whatever_the_bytes(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    struct json j = { .out = &out };
    json_open(&j, '{');
    json_key(&j, "a\"b"),
        json_str(&j, "tab\t, back\\slash, \x7f, bad \xff, line\xe2\x80\xa8");
    json_key(&j, "list"), json_open(&j, '[');
    json_u64(&j, UINT64_MAX), json_bool(&j, true), json_bool(&j, false);
    json_none(&j);
    json_open(&j, '['), json_close(&j, ']');
    json_close(&j, ']');
    json_key(&j, "ns"), json_u64_str(&j, 1760542626145118000);
    json_close(&j, '}');
    assert_string_equal(
        buf_str(&out), "{\"a\\\"b\":\"tab\\t, back\\\\slash, \\u007f, bad \xef\xbf\xbd, "
                       "line\\u2028\",\"list\":[18446744073709551615,true,false,null,[]],"
                       "\"ns\":\"1760542626145118000\"}");
}

static void
each_byte_that_is_not_plain_ends_a_run_wherever_it_stands(void **state)
{
    (void)state;
    uint8_t text[40];
    for (unsigned c = 0; c < 256; c++)
        for (size_t at = 0; at < sizeof(text); at++) {
            bool is_ascii = c >= ' ' && c <= '~';
            memset(text, 'a', sizeof(text));
            text[at] = (uint8_t)c;
            assert_int_equal(plain_scan(text, sizeof(text), false),
                             is_ascii ? sizeof(text) : at);
            is_ascii = is_ascii && c != '"' && c != '\\';
            assert_int_equal(plain_scan(text, sizeof(text), true),
                             is_ascii ? sizeof(text) : at);
        }
    assert_int_equal(plain_scan(text, 0, true), 0);
}

static void
sizes_have_a_unit_and_a_ceiling(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t max;
        int result;
        uint64_t value;
    } cases[] = {
        { "0", 9, 0, 0 },
        { "512", UINT64_MAX, 0, 512 },
        { "3k", UINT64_MAX, 0, 3072 },
        { "100M", UINT64_MAX, 0, UINT64_C(100) << 20 },
        { "2G", UINT64_MAX, 0, UINT64_C(2) << 30 },
        { "16777215T", UINT64_MAX, 0, UINT64_C(16777215) << 40 },
        { "16777216T", UINT64_MAX, -ERANGE, 0 },
        { "1K", 1023, -ERANGE, 0 },
        { "1K", 1024, 0, 1024 },
        { "", 9, -EINVAL, 0 },
        { "K", 9, -EINVAL, 0 },
        { "1KM", UINT64_MAX, -EINVAL, 0 },
        { "1.5G", UINT64_MAX, -EINVAL, 0 },
        { "-1", 9, -EINVAL, 0 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t v = 77;
        struct view text = { (const uint8_t *)cases[i].text, strlen(cases[i].text) };
        assert_int_equal(num_parse_size(text, cases[i].max, &v), cases[i].result);
        assert_int_equal(v, cases[i].result ? 77 : cases[i].value);
    }
}

static void
decimal_numbers_lose_no_digit(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int result;
        uint64_t value;
    } cases[] = {
        { "0", 0, 0 },
        { "-0.0", 0, 0 },
        { "1.5", 0, 1500000000 },
        { "0.004526", 0, 4526000 },
        { "1700000000.123456789999", 0, UINT64_C(1700000000123456789) },
        { "1e-3", 0, 1000000 },
        { "12.5E+2", 0, UINT64_C(1250000000000) },
        { "0.00000000000000000000000000001", 0, 0 },
        { "9223372036.854775807", 0, INT64_MAX },
        { "9223372036.854775808", -ERANGE, 0 },
        { "1e999999999999", -ERANGE, 0 },
        { "99999999999999999999999", -ERANGE, 0 },
        { "-1", -ERANGE, 0 },
        { "", -EINVAL, 0 },
        { "1.", -EINVAL, 0 },
        { ".5", -EINVAL, 0 },
        { "1e", -EINVAL, 0 },
        { "nan", -EINVAL, 0 },
        { " 1", -EINVAL, 0 },
        { "0x1", -EINVAL, 0 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t v = 0;
        struct view text = { (const uint8_t *)cases[i].text, strlen(cases[i].text) };
        assert_int_equal(num_parse_decimal(text, 9, INT64_MAX, &v), cases[i].result);
        assert_int_equal(v, cases[i].value);
    }
}

static void
a_sum_beyond_all_is_the_largest(void **state)
{
    (void)state;
    const uint64_t max = UINT64_MAX;
    assert_true(num_plus_u64(2, 3, max) == 5);
    assert_true(num_plus_u64(2, 3, 5) == 5);
    assert_true(num_plus_u64(2, 3, 4) == 4);
    assert_true(num_plus_u64(9, 0, 4) == 4);
    assert_true(num_plus_u64(0, 9, 4) == 4);
    assert_true(num_plus_u64(max, max, max) == max);
    assert_true(num_plus_u64(max - 1, 1, max - 1) == max - 1);
}

static struct json_in
json_text(const char *text)
{
    const uint8_t *p = (const uint8_t *)text;
    return (struct json_in){ p, p + strlen(text), false, false };
}

static void
json_is_taken_value_by_value(void **state)
{
    (void)state;
    AUTO(buf) b = { 0 };
    struct view number;
    bool is_first = true;
    struct json_in in = json_text(
        " { \"a\\n\" : [1, -2.5e3 , \"x\\u00e9\"] , \"b\":{}} ");
    assert_true(json_in_take(&in, '{') && json_in_each(&in, '}', &is_first));
    assert_true(json_in_key(&in, &b));
    assert_string_equal(buf_str(&b), "a\n");
    assert_true(json_in_take(&in, '[') && json_in_number(&in, &number));
    assert_true(json_in_take(&in, ',') && json_in_number(&in, &number));
    assert_memory_equal(number.p, "-2.5e3", number.n);
    buf_clear(&b);
    assert_true(json_in_take(&in, ',') && json_in_str(&in, &b) && json_in_take(&in, ']'));
    assert_string_equal(buf_str(&b), "x\xc3\xa9");
    assert_true(json_in_each(&in, '}', &is_first) && json_in_key(&in, &b));
    assert_true(json_in_skip(&in) && !json_in_each(&in, '}', &is_first));
    assert_true(!in.failed && !in.is_odd && json_in_peek(&in) == 0);
}

static void
json_that_is_none_is_refused_and_odd_texts_are_told(void **state)
{
    (void)state;
    static const char *const bad[] = { "",    "[1,]", "[1 2]",  "{\"a\"}", "{1:2}",
                                       "tru", "\"a",  "[",      "1.",      "\"\\u12\"",
                                       "-",   "{,}",  "\"\\x\"" };
    static const char *const odd[] = { "\"\xff\"", "\"\t\"", "\"\\ud800\"",
                                       "\"\\udc00x\"" };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct json_in in = json_text(bad[i]);
        assert_false(json_in_skip(&in));
        assert_true(in.failed);
    }
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        struct json_in in = json_text(odd[i]);
        assert_true(json_in_skip(&in) && in.is_odd);
    }
    AUTO(buf) deep = { 0 };
    for (int i = 0; i <= JSON_IN_DEPTH; i++)
        buf_puts(&deep, "[");
    struct json_in in = json_text(buf_str(&deep));
    assert_false(json_in_skip(&in));
}

/* Strings are scanned many bytes at a time: what is odd, or ends one, may stand anywhere,
 * and what stands behind the end is none of its business. */
static void
odd_bytes_are_told_wherever_they_stand_in_a_string(void **state)
{
    (void)state;
    static const char *const bits[] = { "a",        "\x01",         "\xff",
                                        "\xc3\xa9", "\xe4\xb8\x96", "\\n",
                                        "\x7f",     "\x1f",         "\xed\xa0\x80" };
    static const bool is_odd[] = { false, true,  true, false, false,
                                   false, false, true, true };
    for (size_t before = 0; before < 70; before++) {
        for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
            AUTO(buf) b = { 0 };
            buf_puts(&b, "\"");
            for (size_t n = 0; n < before; n++)
                buf_puts(&b, "x");
            buf_puts(&b, bits[i]);
            buf_puts(&b, "yz\"");
            size_t end = b.n;
            buf_puts(&b, "\x01\xff, 0123456789abcdef");
            struct json_in in = json_text(buf_str(&b));
            assert_true(json_in_skip(&in));
            assert_int_equal(in.is_odd, is_odd[i]);
            assert_ptr_equal(in.p, b.p + end);
        }
    }
}

static void
a_value_that_is_known_is_passed_to_where_it_was_skipped(void **state)
{
    (void)state;
    static const char *const good[] = {
        "12.5e3 ",
        "null,",
        "\"\" ",
        "\"a\\\\\",1",
        "\"a\\\"b\\\\\\\"]\"}",
        "{\"a]}\":[{\"\\\"}\":1},[]],\"b\":\"[{\"}}",
        "[\"0123456789012345678901234567890123456789012345678901234567\\\"]\",{}]]",
    };
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct json_in skip_in = json_text(good[i]), pass_in = skip_in;
        assert_true(json_in_skip(&skip_in));
        json_in_pass(&pass_in);
        assert_ptr_equal(pass_in.p, skip_in.p);
        for (size_t n = 0; n <= strlen(good[i]); n++) { /* torn: it stays within */
            struct json_in torn = { .p = (const uint8_t *)good[i] };
            torn.end = torn.p + n;
            json_in_pass(&torn);
            assert_true(torn.p <= torn.end);
        }
    }
}

static void
a_wait_is_rounded_up_and_may_be_for_ever(void **state)
{
    (void)state;
    assert_int_equal(clock_left_ms(5000001, 3000000), 3);
    assert_int_equal(clock_left_ms(5000000, 3000000), 2);
    assert_int_equal(clock_left_ms(3000000, 3000000), 0);
    assert_int_equal(clock_left_ms(1, 3000000), 0);
    assert_true(clock_left_ms(UINT64_MAX, 3000000) == UINT64_MAX);
}

static void
the_clock_runs_forward_beside_the_wall_clock(void **state)
{
    (void)state;
    struct clock c;
    int64_t told = 0;
    clock_start(&c);
    uint64_t last = clock_now_ns(&c);
    assert_true(last >= c.real_ns);
    for (int i = 0; i < 1000; i++) {
        uint64_t now = clock_now_ns(&c);
        assert_true(now >= last);
        last = now;
    }
    assert_int_equal(clock_step_ns(&c, &told), 0);
    c.real_ns -= 5000000000; /* as if the wall clock had been set forward since */
    int64_t step = clock_step_ns(&c, &told);
    assert_true(step > 4900000000 && step < 5100000000);
    assert_int_equal(clock_step_ns(&c, &told), 0); /* told once */
}

static void
errors_name_the_thing_and_the_reason(void **state)
{
    (void)state;
    struct err err;
    errno = EACCES;
    assert_int_equal(err_sys(&err, "cannot open '%s'", "x"), -EACCES);
    assert_string_equal(err.text, "cannot open 'x': Permission denied");
    assert_int_equal(err_code(&err, -ENOENT, "cannot open '%s'", "y"), ERR_MISSING);
    assert_int_equal(err_set(NULL, ERR_BUSY, "nobody reads this"), ERR_BUSY);
}

static void
paths_are_taken_apart(void **state)
{
    (void)state;
    assert_int_equal(file_dir_len("x.ahr"), 0);
    assert_int_equal(file_dir_len("a/x.ahr"), 1);
    assert_int_equal(file_dir_len("/x.ahr"), 1);
    assert_int_equal(file_dir_len("/a/b/x.ahr"), 4);
    assert_string_equal(file_name("/a/b/x.ahr"), "x.ahr");
    assert_string_equal(file_name("x.ahr"), "x.ahr");
}

static unsigned
mode_of(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 07777;
}

static void
a_file_is_replaced_whole_and_private(void **state)
{
    (void)state;
    static const mode_t masks[] = { 0777, 0 };
    for (size_t i = 0; i < 2; i++) {
        umask(masks[i]);
        assert_int_equal(file_replace("x", text_view("first, and long"), true, NULL), 0);
        assert_int_equal(file_replace("./x", text_view("second"), false, NULL), 0);
        kit_assert_file("x", "second");
        assert_int_equal(mode_of("x"), 0600);
        assert_int_equal(access("x.new", F_OK), -1);
        unlink("x");
    }
}

static void
what_a_killed_writer_left_is_in_nobodys_way(void **state)
{
    (void)state;
    assert_int_equal(file_replace("other", text_view("not ours"), false, NULL), 0);
    assert_int_equal(symlink("other", "x.new"), 0);
    assert_int_equal(file_replace("x", text_view("whole"), false, NULL), 0);
    kit_assert_file("x", "whole");
    kit_assert_file("other", "not ours");
}

static void
a_file_that_cannot_be_replaced_stays_and_nothing_is_left(void **state)
{
    (void)state;
    struct err err;
    assert_int_equal(mkdir("x", 0700), 0);
    assert_int_equal(file_replace("x", text_view("text"), true, &err), -EISDIR);
    assert_string_equal(err.text, "cannot write 'x': Is a directory");
    assert_int_equal(access("x.new", F_OK), -1);
    assert_int_equal(file_replace("none/x", text_view("text"), true, &err), ERR_MISSING);
}

static void
folders_are_made_private_and_old_ones_left_alone(void **state)
{
    (void)state;
    char too_long[5000];
    memset(too_long, 'a', sizeof(too_long));
    too_long[sizeof(too_long) - 1] = 0;
    assert_int_equal(mkdir("old", 0755), 0);
    umask(0777);
    assert_int_equal(file_make_dirs("old/a//b/c/"), 0);
    assert_int_equal(file_make_dirs("old/a/b/c"), 0);
    umask(0);
    assert_int_equal(file_make_dirs("wide/open"), 0);
    assert_int_equal(mode_of("old"), 0755);
    static const char *const made[] = { "old/a", "old/a/b", "old/a/b/c", "wide",
                                        "wide/open" };
    for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++)
        assert_int_equal(mode_of(made[i]), 0700);
    assert_int_equal(file_make_dirs("/"), 0);
    assert_int_equal(file_make_dirs(""), -ENOENT);
    assert_int_equal(file_make_dirs(too_long), -ENAMETOOLONG);
    assert_int_equal(file_replace("file", text_view(""), false, NULL), 0);
    assert_int_equal(file_make_dirs("file/a/b"), -ENOTDIR);
}

static void
a_tree_goes_with_all_that_is_in_it_and_nothing_else(void **state)
{
    (void)state;
    struct stat st;
    assert_int_equal(file_make_dirs("tree/a/b/c"), 0);
    assert_int_equal(file_make_dirs("other"), 0);
    assert_int_equal(file_replace("other/file", text_view("x"), false, NULL), 0);
    assert_int_equal(file_replace("tree/a/file", text_view("x"), false, NULL), 0);
    assert_int_equal(symlink("../../other", "tree/a/folder"), 0);
    assert_int_equal(symlink("../../../other/file", "tree/a/b/link"), 0);
    assert_int_equal(symlink("nowhere", "tree/dangling"), 0);
    assert_int_equal(mkfifo("tree/fifo", 0600), 0);
    assert_int_equal(symlink("other", "linked"), 0);
    assert_int_equal(tree_remove(AT_FDCWD, "linked"), -ENOTDIR);
    assert_int_equal(tree_remove(AT_FDCWD, "other/file"), -ENOTDIR);
    assert_int_equal(tree_remove(AT_FDCWD, "tree"), 0);
    assert_int_equal(tree_remove(AT_FDCWD, "tree"), 0);
    assert_int_equal(lstat("tree", &st), -1);
    assert_int_equal(lstat("other/file", &st), 0);
}

static void
a_tree_that_is_too_deep_is_left_there(void **state)
{
    (void)state;
    AUTO(buf) path = { 0 };
    buf_puts(&path, "deep");
    for (int i = 0; i < 100; i++)
        buf_puts(&path, "/d");
    assert_int_equal(file_make_dirs(buf_str(&path)), 0);
    assert_int_equal(file_replace("deep/file", text_view("x"), false, NULL), 0);
    assert_int_equal(tree_remove(AT_FDCWD, "deep"), -ELOOP);
    struct stat st;
    assert_int_equal(lstat("deep/file", &st), -1);
    assert_int_equal(lstat(buf_str(&path), &st), 0);
}

static void
ids_are_random_and_of_version_4(void **state)
{
    (void)state;
    uint8_t a[16], b[16];
    assert_int_equal(uuid_make(a), 0);
    assert_int_equal(uuid_make(b), 0);
    assert_memory_not_equal(a, b, 16);
    assert_int_equal(a[6] >> 4, 4);
    assert_int_equal(a[8] >> 6, 2);
}

static void
views_are_trimmed_at_both_ends(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } cases[] = {
        { "", "" }, { " \t ", "" }, { "a", "a" }, { " a b\t", "a b" }, { "\na ", "\na" }
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct view v = { (const uint8_t *)cases[i].text, strlen(cases[i].text) };
        v = view_trim(v, " \t");
        assert_int_equal(v.n, strlen(cases[i].want));
        assert_memory_equal(v.p, cases[i].want, v.n);
    }
    struct view nul = view_trim((struct view){ (const uint8_t *)"\0a\0", 3 }, " ");
    assert_int_equal(nul.n, 3);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_are_trimmed_at_both_ends),
        cmocka_unit_test(a_buffer_stops_at_its_ceiling_and_stays_as_it_was),
        cmocka_unit_test(large_numbers_have_their_thousands_apart),
        cmocka_unit_test(an_empty_growth_is_not_a_failure),
        cmocka_unit_test(numbers_are_whole_and_in_range_or_refused),
        cmocka_unit_test(little_endian_is_the_same_everywhere),
        cmocka_unit_test(utf8_is_strict),
        cmocka_unit_test(what_ends_within_a_character_is_whole_before_it),
        cmocka_unit_test(a_line_has_no_control_characters),
        cmocka_unit_test(json_is_valid_whatever_the_bytes),
        cmocka_unit_test(each_byte_that_is_not_plain_ends_a_run_wherever_it_stands),
        cmocka_unit_test(sizes_have_a_unit_and_a_ceiling),
        cmocka_unit_test(decimal_numbers_lose_no_digit),
        cmocka_unit_test(a_sum_beyond_all_is_the_largest),
        cmocka_unit_test(json_is_taken_value_by_value),
        cmocka_unit_test(json_that_is_none_is_refused_and_odd_texts_are_told),
        cmocka_unit_test(odd_bytes_are_told_wherever_they_stand_in_a_string),
        cmocka_unit_test(a_value_that_is_known_is_passed_to_where_it_was_skipped),
        cmocka_unit_test(a_wait_is_rounded_up_and_may_be_for_ever),
        cmocka_unit_test(the_clock_runs_forward_beside_the_wall_clock),
        cmocka_unit_test(errors_name_the_thing_and_the_reason),
        cmocka_unit_test(paths_are_taken_apart),
        KIT_IN_DIR(a_file_is_replaced_whole_and_private),
        KIT_IN_DIR(what_a_killed_writer_left_is_in_nobodys_way),
        KIT_IN_DIR(a_file_that_cannot_be_replaced_stays_and_nothing_is_left),
        KIT_IN_DIR(folders_are_made_private_and_old_ones_left_alone),
        KIT_IN_DIR(a_tree_goes_with_all_that_is_in_it_and_nothing_else),
        KIT_IN_DIR(a_tree_that_is_too_deep_is_left_there),
        cmocka_unit_test(ids_are_random_and_of_version_4),
    };
    return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
