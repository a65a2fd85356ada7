/* SPDX-License-Identifier: MIT */
/* moment_test.c -- moments, spans and speeds, as people write them. */
#include "play/moment.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define SECOND 1000000000ULL

static void
times_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t ns;
    } all[] = {
        { "0", 0 },
        { "12", 12 * SECOND },
        { "12.5", 12 * SECOND + SECOND / 2 },
        { ".25", SECOND / 4 },
        { "0.123456789987", 123456789 },
        { "90", 90 * SECOND },
        { "1:02", 62 * SECOND },
        { "0:00.001", SECOND / 1000 },
        { "100:59", 6059 * SECOND },
        { "1:02:03", 3723 * SECOND },
        { "1:02:03.5", 3723 * SECOND + SECOND / 2 },
        { "0100:00:00", 360000 * SECOND },
        { "18446744072", 18446744072 * SECOND },
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct err err = { 0 };
        struct play_moment m = { true, 1 };
        uint64_t ns = 1;
        if (play_moment_parse(all[i].text, &m, &err) < 0)
            fail_msg("'%s': %s", all[i].text, err.text);
        assert_int_equal(m.value, all[i].ns);
        assert_false(m.is_byte);
        assert_int_equal(play_time_parse(all[i].text, &ns, &err), 0);
        assert_int_equal(ns, all[i].ns);
    }
}

static void
bytes_are_read(void **state)
{
    (void)state;
    struct err err = { 0 };
    struct play_moment m = { 0 };
    assert_int_equal(play_moment_parse("@1234", &m, &err), 0);
    assert_true(m.is_byte);
    assert_int_equal(m.value, 1234);
    assert_int_equal(play_moment_parse("@18446744073709551614", &m, &err), 0);
    assert_int_equal(m.value, UINT64_MAX - 1);
    uint64_t ns;
    assert_int_equal(play_time_parse("@1", &ns, &err), ERR_USAGE);
}

static void
what_is_no_moment_is_told_what_is(void **state)
{
    (void)state;
    static const char *const all[] = {
        "",
        ".",
        "-1",
        "+1",
        "1.",
        "1e3",
        "x",
        "1 ",
        " 1",
        "1:2",
        "1:60",
        "1:002",
        "1:2:03",
        "1:60:00",
        ":30",
        "1:",
        "1:02:",
        "::",
        "1:2:3:4",
        "1.5:00",
        "1:02.",
        "@",
        "@1.5",
        "@-1",
        "1:.50",
        "0:0:0:0",
        "1..5",
        "1.5.5",
        "1:00:00:00",
        "99999999999999999999",
        "18446744073",
        "99999999999:00:00",
        "@18446744073709551615",
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct err err = { 0 };
        struct play_moment m = { true, 7 };
        if (play_moment_parse(all[i], &m, &err) != ERR_USAGE)
            fail_msg("'%s' was taken", all[i]);
        assert_int_equal(m.value, 7);
        assert_non_null(strstr(err.text, "12.5"));
        assert_non_null(strstr(err.text, "@BYTE"));
    }
}

static void
speeds_are_in_thousandths(void **state)
{
    (void)state;
    struct err err = { 0 };
    uint32_t v = 0;
    assert_int_equal(play_factor_parse("1", 10, 1000000, &v, &err), 0);
    assert_int_equal(v, 1000);
    assert_int_equal(play_factor_parse("0.01", 10, 1000000, &v, &err), 0);
    assert_int_equal(v, 10);
    assert_int_equal(play_factor_parse("1000", 10, 1000000, &v, &err), 0);
    assert_int_equal(v, 1000000);
    assert_int_equal(play_factor_parse(".5", 10, 1000000, &v, &err), 0);
    assert_int_equal(v, 500);
    static const char *const bad[] = { "",     "0", "0.009", "1000.001",
                                       "1001", "x", "2x",    "-1" };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(play_factor_parse(bad[i], 10, 1000000, &v, &err), ERR_USAGE);
    assert_string_equal(err.text, "'-1' is no number from 0.01 to 1000");
    assert_int_equal(v, 500);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_read),
        cmocka_unit_test(bytes_are_read),
        cmocka_unit_test(what_is_no_moment_is_told_what_is),
        cmocka_unit_test(speeds_are_in_thousandths),
    };
    return cmocka_run_group_tests_name("moment", tests, NULL, NULL);
}
