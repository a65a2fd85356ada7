/* SPDX-License-Identifier: MIT */
/* iso_test.c -- moments as they are written, and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

#include "base/iso.h"
#include "support/rng.h"
#include "support/text_view.h"

#define SECOND UINT64_C(1000000000)

static void
assert_read(const char *text, uint64_t want)
{
    uint64_t ns = 7;
    assert_true(iso_time_read(text_view(text), &ns));
    assert_int_equal(ns, want);
}

/* Each day of the calendar, by the library's. */
static void
each_day_is_where_the_calendar_has_it(void **state)
{
    (void)state;
    uint64_t last = 0;
    for (int year = 1970; year <= 2553; year++)
        for (int month = 1; month <= 12; month++)
            for (int day = 1; day <= 31; day++) {
                struct tm tm = { .tm_year = year - 1900,
                                 .tm_mon = month - 1,
                                 .tm_mday = day,
                                 .tm_hour = (day + year) % 24,
                                 .tm_min = month * 4,
                                 .tm_sec = day };
                char text[64];
                uint64_t ns;
                snprintf(text, sizeof(text), "%04d-%02d-%02dT%02d:%02d:%02dZ", year,
                         month, day, tm.tm_hour, tm.tm_min, tm.tm_sec);
                time_t want = timegm(&tm);
                bool is_one = tm.tm_mday == day; /* else it was set right */
                assert_int_equal(iso_time_read(text_view(text), &ns), is_one);
                if (!is_one)
                    continue;
                assert_int_equal(ns, (uint64_t)want * SECOND);
                assert_true(ns > last);
                last = ns;
            }
}

static void
what_is_written_is_read_again(void **state)
{
    (void)state;
    uint32_t rng = 5;
    for (int i = 0; i < 100000; i++) {
        AUTO(buf) text = { 0 };
        uint64_t ms = ((uint64_t)rng_next(&rng) << 32 | rng_next(&rng)) %
                      (UINT64_C(18400000000) * 1000);
        iso_time(ms * 1000000, &text);
        assert_read(buf_str(&text), ms * 1000000);
    }
}

static void
fractions_have_any_number_of_digits(void **state)
{
    (void)state;
    uint64_t s = 1767225605 * SECOND;
    assert_read("2026-01-01T00:00:05Z", s);
    assert_read("2026-01-01T00:00:05.1Z", s + 100000000);
    assert_read("2026-01-01T00:00:05.123456789Z", s + 123456789);
    assert_read("2026-01-01T00:00:05.12345678999999999999999Z", s + 123456789);
    assert_read("2026-01-01T00:00:05.000000000000Z", s);
}

static void
offsets_are_taken_off(void **state)
{
    (void)state;
    uint64_t s = 1767225605 * SECOND;
    assert_read("2026-01-01T01:00:05+01:00", s);
    assert_read("2025-12-31T18:30:05.5-05:30", s + SECOND / 2);
    assert_read("2026-01-01T00:00:05+00:00", s);
    assert_read("2026-01-01T00:00:05-00:00", s);
    assert_read("2026-01-01T23:59:05+23:59", s);
    assert_read("1969-12-31T23:00:00-01:00", 0);
    assert_read("2553-12-31T23:59:59-23:59", 18429379139 * SECOND);
    assert_read("2016-12-31T23:59:60Z", 1483228800 * SECOND);
}

static void
what_is_no_moment_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "2026",
        "2026-01-01",
        "2026-01-01T00:00Z",
        "2026-01-01T00:00:05",
        "2026-01-01 00:00:05Z",
        "2026-01-01t00:00:05Z",
        "2026-01-01T00:00:05z",
        "2026-01-01T00:00:05ZZ",
        "2026-01-01T00:00:05Z ",
        " 2026-01-01T00:00:05Z",
        "2026-01-01T00:00:05.Z",
        "2026-01-01T00:00:05,1Z",
        "2026-01-01T00:00:05.1x",
        "2026-01-01T00:00:05.1.1Z",
        "2026-01-01T00:00:05+0100",
        "2026-01-01T00:00:05+01",
        "2026-01-01T00:00:05+1:00",
        "2026-01-01T00:00:05+24:00",
        "2026-01-01T00:00:05+00:60",
        "2026-01-01T00:00:05+01:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z",
        "2026-01-01T00:00:61Z",
        "2026-00-01T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-01-00T00:00:00Z",
        "2026-01-32T00:00:00Z",
        "2026-02-29T00:00:00Z",
        "2100-02-29T00:00:00Z",
        "2554-01-01T00:00:00Z",
        "9999-01-01T00:00:00Z",
        "0000-01-01T00:00:00Z",
        "1969-12-31T23:59:59Z",
        "1970-01-01T00:00:00+00:01",
        "+026-01-01T00:00:05Z",
        "-026-01-01T00:00:05Z",
        "20260101T000005Z",
        "12026-01-01T00:00:05Z",
        "2026-1-1T0:0:5Z",
        "\xd9\xa2-026-01-01T00:00:05Z",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        uint64_t ns = 7;
        if (iso_time_read(text_view(texts[i]), &ns))
            fail_msg("taken: '%s'", texts[i]);
        assert_int_equal(ns, 7);
    }
}

/* Any beginning, and any byte in the place of any other. */
static void
each_byte_counts(void **state)
{
    (void)state;
    static const char good[] = "2026-01-01T00:00:05.25+01:30";
    uint64_t ns;
    for (size_t n = 0; n < sizeof(good) - 1; n++)
        assert_false(iso_time_read((struct view){ (const uint8_t *)good, n }, &ns));
    for (size_t at = 0; at < sizeof(good) - 1; at++)
        for (int byte = 0; byte < 256; byte++) {
            char text[sizeof(good)];
            memcpy(text, good, sizeof(good));
            text[at] = (char)byte;
            bool is_digit = byte >= '0' && byte <= '9';
            bool is_sign = byte == '+' || byte == '-';
            bool may_be = good[at] >= '0' && good[at] <= '9' ? is_digit
                          : good[at] == '+'                  ? is_sign
                                                             : byte == good[at];
            bool is_one = iso_time_read(
                (struct view){ (const uint8_t *)text, sizeof(good) - 1 }, &ns);
            assert_true(may_be || !is_one);
            assert_true(is_one || byte != good[at]);
        }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_day_is_where_the_calendar_has_it),
        cmocka_unit_test(what_is_written_is_read_again),
        cmocka_unit_test(fractions_have_any_number_of_digits),
        cmocka_unit_test(offsets_are_taken_off),
        cmocka_unit_test(what_is_no_moment_is_refused),
        cmocka_unit_test(each_byte_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
