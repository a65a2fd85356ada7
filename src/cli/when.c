/* SPDX-License-Identifier: MIT */
#include "cli/when.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#define SECOND_NS 1000000000LL
#define DAY_NS    (UINT64_C(86400) * SECOND_NS)

enum {
    MINUTE_S = 60,
    HOUR_S = 60 * MINUTE_S,
    DAY_S = 24 * HOUR_S,
    ZONE_MAX_S = 15 * HOUR_S, /* there is none farther from UTC */
    AGO_DIGITS = 6,
};

static int64_t
clamp(int64_t s, int64_t ns)
{
    const int64_t max = INT64_MAX / SECOND_NS - 1;
    return s < 0                    ? 1
           : s > max                ? INT64_MAX
           : s * SECOND_NS + ns > 0 ? s * SECOND_NS + ns
                                    : 1;
}

uint64_t
cli_when_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

/* -- the calendar of the local zone -- */

static int
compare_day(const struct tm *a, const struct tm *b)
{
    return a->tm_year != b->tm_year ? a->tm_year - b->tm_year
           : a->tm_mon != b->tm_mon ? a->tm_mon - b->tm_mon
                                    : a->tm_mday - b->tm_mday;
}

static bool
is_same_time(const struct tm *a, const struct tm *b)
{
    return !compare_day(a, b) && a->tm_hour == b->tm_hour && a->tm_min == b->tm_min &&
           a->tm_sec == b->tm_sec;
}

/* mktime() leaves open what becomes of times that occur twice or never. */
static time_t
from_local(const struct tm *wanted)
{
    struct tm tm = *wanted, got;
    tm.tm_isdst = -1;
    time_t t = mktime(&tm), before = t - HOUR_S;
    if (localtime_r(&before, &got) && is_same_time(&got, wanted))
        return before;
    /* Midnight is left out where the clocks change then: the day begins later. */
    for (int i = 0;
         i < DAY_S / MINUTE_S && localtime_r(&t, &got) && compare_day(&got, wanted) < 0;
         i++)
        t += MINUTE_S;
    return t;
}

/* So many days before, at that time of the day; NULL: at the same. */
static int64_t
days_before(int64_t now_s, int days, const struct tm *at)
{
    time_t now = (time_t)now_s;
    struct tm tm;
    if (!localtime_r(&now, &tm))
        return now_s - (int64_t)days * DAY_S;
    if (at) {
        tm.tm_hour = at->tm_hour;
        tm.tm_min = at->tm_min;
        tm.tm_sec = at->tm_sec;
    }
    tm.tm_mday -= days;
    time_t utc = timegm(&(struct tm){ .tm_year = tm.tm_year,
                                      .tm_mon = tm.tm_mon,
                                      .tm_mday = tm.tm_mday,
                                      .tm_hour = tm.tm_hour,
                                      .tm_min = tm.tm_min,
                                      .tm_sec = tm.tm_sec });
    return gmtime_r(&utc, &tm) ? from_local(&tm) : now_s - (int64_t)days * DAY_S;
}

/* -- "7d" -- */

static int
parse_ago(const char *p, uint64_t now_ns, int64_t *ret_ns)
{
    int64_t n = 0, now_s = (int64_t)(now_ns / SECOND_NS),
            part = (int64_t)(now_ns % SECOND_NS);
    size_t digits = 0;
    for (; *p >= '0' && *p <= '9'; p++, digits++)
        n = digits < AGO_DIGITS ? n * 10 + (*p - '0') : n;
    if (!digits || digits > AGO_DIGITS || !p[0] || p[1])
        return -EINVAL;
    switch (*p) {
    case 's':
        *ret_ns = clamp(now_s - n, part);
        return 0;
    case 'm':
        *ret_ns = clamp(now_s - n * MINUTE_S, part);
        return 0;
    case 'h':
        *ret_ns = clamp(now_s - n * HOUR_S, part);
        return 0;
    case 'd':
        *ret_ns = clamp(days_before(now_s, (int)n, NULL), part);
        return 0;
    case 'w':
        *ret_ns = clamp(days_before(now_s, (int)n * 7, NULL), part);
        return 0;
    default:
        return -EINVAL;
    }
}

/* -- "2026-11-16T02:13:05.5+01:00" -- */

/* Exactly so many digits, from min to max. */
static bool
take_number(const char **p, int digits, int min, int max, int *ret)
{
    int v = 0;
    for (int i = 0; i < digits; i++, (*p)++) {
        if (**p < '0' || **p > '9')
            return false;
        v = v * 10 + (**p - '0');
    }
    *ret = v;
    return v >= min && v <= max;
}

static bool
take(const char **p, char c)
{
    bool is_there = **p == c;
    *p += is_there;
    return is_there;
}

/* A day that there is. */
static bool
take_day(const char **p, struct tm *tm)
{
    struct tm again;
    if (!take_number(p, 4, 0, 9999, &tm->tm_year) || !take(p, '-') ||
        !take_number(p, 2, 1, 12, &tm->tm_mon) || !take(p, '-') ||
        !take_number(p, 2, 1, 31, &tm->tm_mday))
        return false;
    tm->tm_year -= 1900;
    tm->tm_mon--;
    again = *tm;
    (void)timegm(&again);
    return again.tm_mday == tm->tm_mday;
}

static bool
take_fraction(const char **p, int64_t *ret_ns)
{
    int64_t unit = SECOND_NS, v = 0;
    const char *from = *p;
    for (; **p >= '0' && **p <= '9'; (*p)++) {
        unit /= 10;
        v += (**p - '0') * unit;
    }
    *ret_ns = v;
    return *p > from;
}

/* HH:MM, or with seconds, or with a part of one. */
static bool
take_time(const char **p, struct tm *tm, int64_t *ret_ns)
{
    if (!take_number(p, 2, 0, 23, &tm->tm_hour) || !take(p, ':') ||
        !take_number(p, 2, 0, 59, &tm->tm_min))
        return false;
    if (!take(p, ':'))
        return true;
    if (!take_number(p, 2, 0, 59, &tm->tm_sec))
        return false;
    return !take(p, '.') || take_fraction(p, ret_ns);
}

/* Z, +HH, +HHMM or +HH:MM. */
static bool
take_zone(const char **p, int *ret_s)
{
    int hours, minutes = 0, sign = **p == '-' ? -1 : 1;
    if (take(p, 'Z') || take(p, 'z')) {
        *ret_s = 0;
        return true;
    }
    if ((!take(p, '+') && !take(p, '-')) || !take_number(p, 2, 0, 23, &hours))
        return false;
    if (**p && ((void)take(p, ':'), !take_number(p, 2, 0, 59, &minutes)))
        return false;
    *ret_s = sign * (hours * HOUR_S + minutes * MINUTE_S);
    return *ret_s >= -ZONE_MAX_S && *ret_s <= ZONE_MAX_S;
}

static int
parse_date(const char *p, int64_t *ret_ns)
{
    struct tm tm = { 0 };
    int64_t part = 0;
    int zone_s;
    if (!take_day(&p, &tm))
        return -EINVAL;
    if (*p && ((!take(&p, 'T') && !take(&p, 't') && !take(&p, ' ')) ||
               !take_time(&p, &tm, &part)))
        return -EINVAL;
    if (!*p) {
        *ret_ns = clamp(from_local(&tm), part);
        return 0;
    }
    if (!take_zone(&p, &zone_s) || *p)
        return -EINVAL;
    *ret_ns = clamp(timegm(&tm) - zone_s, part);
    return 0;
}

/* -- "12:30", "yesterday" -- */

/* The last one there was. */
static int
parse_time(const char *p, uint64_t now_ns, int64_t *ret_ns)
{
    struct tm tm = { 0 };
    int64_t part = 0, now_s = (int64_t)(now_ns / SECOND_NS);
    if (!take_time(&p, &tm, &part) || *p)
        return -EINVAL;
    *ret_ns = clamp(days_before(now_s, 0, &tm), part);
    if ((uint64_t)*ret_ns > now_ns)
        *ret_ns = clamp(days_before(now_s, 1, &tm), part);
    return 0;
}

static int
parse_word(const char *text, uint64_t now_ns, int64_t *ret_ns)
{
    const struct tm midnight = { 0 };
    int64_t now_s = (int64_t)(now_ns / SECOND_NS);
    if (!strcmp(text, "now"))
        *ret_ns = clamp(now_s, (int64_t)(now_ns % SECOND_NS));
    else if (!strcmp(text, "today"))
        *ret_ns = clamp(days_before(now_s, 0, &midnight), 0);
    else if (!strcmp(text, "yesterday"))
        *ret_ns = clamp(days_before(now_s, 1, &midnight), 0);
    else
        return -EINVAL;
    return 0;
}

int
cli_when_parse(const char *text, uint64_t now_ns, uint64_t *ret_ns, struct err *err)
{
    int64_t ns = 0;
    if (parse_word(text, now_ns, &ns) < 0 && parse_ago(text, now_ns, &ns) < 0 &&
        parse_time(text, now_ns, &ns) < 0 && parse_date(text, &ns) < 0)
        return err_set(err, ERR_USAGE,
                       "'%s' is no date: give 2026-11-16, 2026-11-16T02:13 (with Z or "
                       "+01:00, else local time), 12:30, 30m, 12h, 7d or 2w for so long "
                       "ago, now, today or yesterday",
                       text);
    *ret_ns = (uint64_t)ns;
    return 0;
}

/* -- days of UTC -- */

static bool
parse_named_day(const char *p, uint64_t now_ns, uint64_t *ret_day)
{
    struct tm tm = { 0 };
    uint64_t today = now_ns / DAY_NS;
    if (!strcmp(p, "today"))
        *ret_day = today;
    else if (!strcmp(p, "yesterday"))
        *ret_day = today - (today > 0);
    else if (take_day(&p, &tm) && !*p)
        *ret_day = (uint64_t)clamp(timegm(&tm), 0) / DAY_NS;
    else
        return false;
    return true;
}

int
cli_when_parse_day(const char *text, uint64_t now_ns, uint64_t *ret_day, struct err *err)
{
    uint64_t ns = 0;
    if (parse_named_day(text, now_ns, ret_day))
        return 0;
    int r = cli_when_parse(text, now_ns, &ns, err);
    if (!r)
        *ret_day = ns / DAY_NS;
    return r;
}

/* -- printed -- */

/* Years of five digits there are none: times have 64 bits of nanoseconds. */
static char *
put_number(char *p, unsigned digits, int v)
{
    for (unsigned i = digits; i-- > 0; v /= 10)
        p[i] = (char)('0' + v % 10);
    return p + digits;
}

static char *
put_minute(char *p, const struct tm *tm, char between)
{
    p = put_number(p, 4, tm->tm_year + 1900);
    *p++ = '-';
    p = put_number(p, 2, tm->tm_mon + 1);
    *p++ = '-';
    p = put_number(p, 2, tm->tm_mday);
    *p++ = between;
    p = put_number(p, 2, tm->tm_hour);
    *p++ = ':';
    return put_number(p, 2, tm->tm_min);
}

const char *
cli_when_iso(uint64_t ns, char ret[CLI_WHEN_ISO_SIZE])
{
    time_t s = (time_t)(ns / SECOND_NS);
    struct tm tm = { 0 };
    (void)gmtime_r(&s, &tm);
    char *p = put_minute(ret, &tm, 'T');
    *p++ = ':';
    p = put_number(p, 2, tm.tm_sec);
    *p++ = '.';
    p = put_number(p, 3, (int)(ns % SECOND_NS / 1000000));
    *p++ = 'Z';
    *p = 0;
    return ret;
}

const char *
cli_when_day(uint64_t day, char ret[CLI_WHEN_DAY_SIZE])
{
    char iso[CLI_WHEN_ISO_SIZE];
    cli_when_iso(day * DAY_NS, iso);
    memcpy(ret, iso, CLI_WHEN_DAY_SIZE - 1);
    ret[CLI_WHEN_DAY_SIZE - 1] = 0;
    return ret;
}

const char *
cli_when_local(uint64_t ns, char ret[CLI_WHEN_LOCAL_SIZE])
{
    time_t s = (time_t)(ns / SECOND_NS);
    struct tm tm = { 0 };
    (void)localtime_r(&s, &tm);
    *put_minute(ret, &tm, ' ') = 0;
    return ret;
}
