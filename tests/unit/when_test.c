/* SPDX-License-Identifier: MIT */
/* when_test.c -- dates, as people write and read them, in zones whose clocks change. */
#include "cli/when.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "cli/report.h"

#define SECOND UINT64_C(1000000000)

/* Rules rather than names of zones: those need files. */
#define BERLIN "CET-1CEST,M3.5.0,M10.5.0/3"
#define HAVANA "CST5CDT,M3.2.0/0,M11.1.0/1" /* both changes at midnight */

static void
set_zone(const char *zone)
{
    setenv("TZ", zone, 1);
    tzset();
}

static uint64_t
parse(const char *text, uint64_t now_s)
{
    struct err err = { 0 };
    uint64_t ns = 0;
    if (cli_when_parse(text, now_s * SECOND, &ns, &err) < 0)
        fail_msg("'%s': %s", text, err.text);
    return ns;
}

static void
dates_and_times_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t ns;
    } all[] = {
        { "2026-11-16", 1794783600 * SECOND },
        { "2026-11-16T02:13", 1794791580 * SECOND },
        { "2026-11-16 02:13", 1794791580 * SECOND },
        { "2026-11-16t02:13:05", 1794791585 * SECOND },
        { "2026-11-16T02:13:05.5", 1794791585 * SECOND + SECOND / 2 },
        { "2026-11-16T02:13:05.1234567899", 1794791585 * SECOND + 123456789 },
        { "2026-11-16T02:13Z", 1794795180 * SECOND },
        { "2026-11-16T02:13:00z", 1794795180 * SECOND },
        { "2026-11-16T02:13+01:00", 1794791580 * SECOND },
        { "2026-11-16T02:13+0100", 1794791580 * SECOND },
        { "2026-11-16T02:13-05", 1794813180 * SECOND },
        { "2026-07-01", 1782856800 * SECOND }, /* in summer */
        { "2024-02-29T00:00Z", 1709164800 * SECOND },
        { "1970-01-01T00:00Z", 1 },
        { "1969-12-31T00:00Z", 1 },
        { "0000-01-01", 1 },
        { "9999-12-31", INT64_MAX },
    };
    set_zone(BERLIN);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (parse(all[i].text, 0) != all[i].ns)
            fail_msg("'%s'", all[i].text);
}

static void
what_is_no_date_is_refused(void **state)
{
    (void)state;
    static const char *const all[] = {
        "",
        "Now",
        "24:00",
        "9:30",
        "12:60",
        "12:30:",
        "12:30Z",
        "12:30x",
        "2026",
        "2026-11",
        "2026-13-01",
        "2026-02-30",
        "2026-00-01",
        "2026-11-16T",
        "2026-11-16T2:13",
        "7",
        "d",
        "7x",
        "7dd",
        "-7d",
        "7.5d",
        "1000000d",
        "2026-11-16Z",
        "26-11-16",
        "2026-11-16T24:00",
        "+7d",
        " 7d",
        "2026-11-16x",
        "2026-11-1",
        "2026-11-16T02:60",
        "٧d",
        "2026-11-16 02:13:05.",
        "2026-11-16T02:13+1",
        "2026-11-16T02:13+99:00",
        "2026-11-16T02:13+01:00 ",
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct err err = { 0 };
        uint64_t ns = 7;
        if (cli_when_parse(all[i], 0, &ns, &err) != ERR_USAGE || ns != 7)
            fail_msg("'%s' was taken", all[i]);
        assert_non_null(strstr(err.text, "is no date"));
    }
}

static void
so_long_ago_is_counted_from_now(void **state)
{
    (void)state;
    const uint64_t now = 1794791580;
    set_zone(BERLIN);
    assert_int_equal(parse("90s", now), (now - 90) * SECOND);
    assert_int_equal(parse("30m", now), (now - 1800) * SECOND);
    assert_int_equal(parse("12h", now), (now - 43200) * SECOND);
    assert_int_equal(parse("7d", now), (now - 7 * 86400) * SECOND);
    assert_int_equal(parse("2w", now), (now - 14 * 86400) * SECOND);
    assert_int_equal(parse("0d", now), now * SECOND);
    assert_int_equal(parse("999999w", now), 1);
    assert_int_equal(parse("today", now), parse("2026-11-16", now));
    assert_int_equal(parse("yesterday", now), parse("2026-11-15", now));
}

static uint64_t
day_of(const char *text, uint64_t now_s)
{
    struct err err = { 0 };
    uint64_t day = 0;
    if (cli_when_parse_day(text, now_s * SECOND, &day, &err) < 0)
        fail_msg("'%s': %s", text, err.text);
    return day;
}

static void
days_that_are_named_are_those_of_utc_in_every_zone(void **state)
{
    (void)state;
    static const char *const zones[] = { "JST-9", "HST10", BERLIN };
    const uint64_t day = 20773, now = 1794875580; /* 2026-11-16, 2026-11-17T00:33Z */
    for (size_t i = 0; i < sizeof(zones) / sizeof(zones[0]); i++) {
        char text[CLI_WHEN_DAY_SIZE];
        set_zone(zones[i]);
        assert_int_equal(day_of("2026-11-16", now), day);
        assert_int_equal(day_of("2026-11-16T00:00Z", now), day);
        assert_int_equal(day_of("2026-11-16T23:59Z", now), day);
        assert_int_equal(day_of("today", now), day + 1);
        assert_int_equal(day_of("yesterday", now), day);
        assert_int_equal(day_of("now", now), day + 1);
        assert_int_equal(day_of("1h", now), day);
        assert_string_equal(cli_when_day(day, text), "2026-11-16");
    }
    set_zone("JST-9");
    assert_int_equal(day_of("2026-11-16T08:59", now), day - 1);
    assert_int_equal(day_of("2026-11-16T09:00", now), day);
    assert_int_equal(day_of("yesterday", 5), 0);
    assert_int_equal(day_of("1969-12-31", now), 0);
    struct err err = { 0 };
    uint64_t same = 7;
    assert_int_equal(cli_when_parse_day("2026-02-30", 0, &same, &err), ERR_USAGE);
    assert_int_equal(same, 7);
}

static void
a_time_alone_is_the_last_one_there_was(void **state)
{
    (void)state;
    set_zone(BERLIN);
    const uint64_t now = parse("2026-11-16T12:30:10", 0) / SECOND;
    assert_int_equal(parse("now", now), now * SECOND);
    assert_int_equal(parse("00:00", now), parse("2026-11-16", 0));
    assert_int_equal(parse("12:30", now), parse("2026-11-16T12:30", 0));
    assert_int_equal(parse("12:30:10", now), now * SECOND);
    assert_int_equal(parse("12:30:10.5", now), parse("2026-11-15T12:30:10.5", 0));
    assert_int_equal(parse("12:30:15", now), parse("2026-11-15T12:30:15", 0));
    assert_int_equal(parse("23:59", now), parse("2026-11-15T23:59", 0));
    /* The day before has 25 hours. */
    assert_int_equal(parse("23:00", parse("2026-10-26T12:00", 0) / SECOND),
                     parse("2026-10-25T23:00", 0));
    assert_int_equal(parse("13:00", parse("2026-10-25T12:00", 0) / SECOND),
                     parse("2026-10-24T13:00", 0));
    assert_int_equal(parse("12:30", 0), 1);
}

static void
days_are_those_of_the_calendar(void **state)
{
    (void)state;
    set_zone(BERLIN);
    uint64_t now = parse("2026-10-26T12:00", 0) / SECOND; /* a day of 25 hours before */
    assert_int_equal(parse("2d", now), parse("2026-10-24T12:00", 0));
    assert_int_equal(parse("48h", now), parse("2026-10-24T13:00", 0));
    assert_int_equal(parse("yesterday", now), parse("2026-10-25", 0));
    assert_int_equal(parse("2026-10-26", 0) - parse("2026-10-25", 0), 90000 * SECOND);
}

static void
an_hour_that_comes_twice_is_its_first_one(void **state)
{
    (void)state;
    set_zone(BERLIN);
    assert_int_equal(parse("2026-10-25T02:30", 0), parse("2026-10-25T02:30+02:00", 0));
    set_zone(HAVANA);
    assert_int_equal(parse("2026-11-01", 0), parse("2026-11-01T00:00-04:00", 0));
}

static void
a_day_begins_also_where_there_is_no_midnight(void **state)
{
    (void)state;
    set_zone(HAVANA);
    assert_int_equal(parse("2026-03-08", 0), parse("2026-03-08T01:00-04:00", 0));
    assert_int_equal(parse("today", parse("2026-03-08T15:00", 0) / SECOND),
                     parse("2026-03-08", 0));
}

static void
times_are_printed(void **state)
{
    (void)state;
    char iso[CLI_WHEN_ISO_SIZE], local[CLI_WHEN_LOCAL_SIZE];
    set_zone(BERLIN);
    assert_string_equal(cli_when_iso(1794791585 * SECOND + 7999999, iso),
                        "2026-11-16T01:13:05.007Z");
    assert_string_equal(cli_when_local(1794791585 * SECOND, local), "2026-11-16 02:13");
    assert_string_equal(cli_when_iso(0, iso), "1970-01-01T00:00:00.000Z");
    assert_string_equal(cli_when_iso(UINT64_MAX, iso), "2554-07-21T23:34:33.709Z");
    assert_int_equal(strlen(cli_when_local(UINT64_MAX, local)), sizeof(local) - 1);
}

static void
spans_and_sizes_are_short(void **state)
{
    (void)state;
    static const struct {
        uint64_t ns;
        const char *text;
    } spans[] = {
        { 0, "0ms" },
        { 18999999, "18ms" },
        { SECOND - 1, "999ms" },
        { SECOND, "1.0s" },
        { 9 * SECOND + 990000000, "9.9s" },
        { 10 * SECOND, "10s" },
        { 59 * SECOND + 999999999, "59s" },
        { 60 * SECOND, "1m00s" },
        { 185 * SECOND, "3m05s" },
        { 3600 * SECOND, "1h00m" },
        { 3725 * SECOND, "1h02m" },
        { 86400 * SECOND, "1d00h" },
        { UINT64_MAX, "213503d23h" },
    };
    static const struct {
        uint64_t bytes;
        const char *text;
    } sizes[] = {
        { 0, "0 B" },
        { 999, "999 B" },
        { 1000, "1.0 kB" },
        { 9999, "9.9 kB" },
        { 10000, "10 kB" },
        { 999999, "999 kB" },
        { 1000000, "1.0 MB" },
        { 31415926, "31 MB" },
        { 5000000000, "5.0 GB" },
        { UINT64_MAX, "18 EB" },
    };
    for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
        AUTO(buf) out = { 0 };
        cli_duration(&out, spans[i].ns);
        assert_string_equal(buf_str(&out), spans[i].text);
    }
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        AUTO(buf) out = { 0 };
        cli_size(&out, sizes[i].bytes);
        assert_string_equal(buf_str(&out), sizes[i].text);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dates_and_times_are_read),
        cmocka_unit_test(what_is_no_date_is_refused),
        cmocka_unit_test(so_long_ago_is_counted_from_now),
        cmocka_unit_test(days_that_are_named_are_those_of_utc_in_every_zone),
        cmocka_unit_test(a_time_alone_is_the_last_one_there_was),
        cmocka_unit_test(days_are_those_of_the_calendar),
        cmocka_unit_test(an_hour_that_comes_twice_is_its_first_one),
        cmocka_unit_test(a_day_begins_also_where_there_is_no_midnight),
        cmocka_unit_test(times_are_printed),
        cmocka_unit_test(spans_and_sizes_are_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
