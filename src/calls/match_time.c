/* SPDX-License-Identifier: MIT */
/*
 * match_time.c -- dates and times as programs write them.
 *
 *     2026-11-19  2026/11/19 12:00:00  2026-11-19T12:00:00.123Z  20261119T120000Z
 *     2026-11-19_12-00-00  11/19/2026, 1:00:00 PM  Thursday, 2026-11-19
 *     Thu Nov 19 12:00:00 UTC 2026  Nov 19 12:00  November 19th, 2026 at 1:00 PM
 *     Thu, 19 Nov 2026 12:00:00 GMT  19/Nov/2026:12:00:00 +0000
 *
 * A clock alone may be a duration and stays, and so does a day without a year, a weekday
 * or a clock. What is taken ends where no letter and no digit follows, and so does each
 * part that may be left out: what it is does not depend on what follows.
 */
#include "calls/match_priv.h"

enum { YEAR_FIRST = 2015, YEAR_LAST = 2100, NOW_BACK = 32 };
enum { SECONDS_FIRST = 1420070400 };                       /* 2015-01-01 */
static const uint64_t SECONDS_LAST = UINT64_C(4133980799); /* 2100-12-31 */

/* Each take_…() leaves the cursor where it was unless it says true. */
struct at {
    const uint8_t *p, *end;
};

/* The end of a take_…() that has found all of it. */
static bool
go_to(struct at *a, struct at there)
{
    *a = there;
    return true;
}

static uint8_t
peek(const struct at *a)
{
    return a->p < a->end ? *a->p : 0;
}

static bool
is_edge(const struct at *a)
{
    return !calls_is_alnum(peek(a));
}

/* One of these bytes. */
static bool
take(struct at *a, const char *any)
{
    uint8_t c = peek(a);
    if (!c || !strchr(any, c))
        return false;
    a->p++;
    return true;
}

static bool
take_text(struct at *a, const char *text)
{
    size_t n = strlen(text);
    if ((size_t)(a->end - a->p) < n || memcmp(a->p, text, n) != 0)
        return false;
    a->p += n;
    return true;
}

static bool
take_blanks(struct at *a)
{
    return take(a, " ") && (take(a, " ") || true);
}

/* So many digits, at most: a number in this range. */
static bool
take_number(struct at *a, size_t least, size_t most, unsigned first, unsigned last)
{
    const uint8_t *p = a->p;
    unsigned v = 0;
    while (p < a->end && (size_t)(p - a->p) < most && calls_is_digit(*p))
        v = v * 10 + (unsigned)(*p++ - '0');
    if ((size_t)(p - a->p) < least || v < first || v > last)
        return false;
    a->p = p;
    return true;
}

static bool
take_year(struct at *a)
{
    return take_number(a, 4, 4, YEAR_FIRST, YEAR_LAST);
}

/* A name of the table, whole or its first three letters. */
static bool
take_name(struct at *a, const char *const *names, size_t count)
{
    size_t n = 0;
    while (n < (size_t)(a->end - a->p) && calls_is_alnum(a->p[n]))
        n++;
    for (size_t i = 0; i < count; i++)
        if ((n == 3 || n == strlen(names[i])) && !memcmp(a->p, names[i], n)) {
            a->p += n;
            return true;
        }
    return false;
}

static bool
take_month(struct at *a)
{
    static const char *const names[] = {
        "January", "February", "March",     "April",   "May",      "June",
        "July",    "August",   "September", "October", "November", "December"
    };
    return take_name(a, names, sizeof(names) / sizeof(names[0]));
}

static bool
take_weekday(struct at *a)
{
    static const char *const names[] = { "Monday", "Tuesday",  "Wednesday", "Thursday",
                                         "Friday", "Saturday", "Sunday" };
    return take_name(a, names, sizeof(names) / sizeof(names[0]));
}

/* -- the time of day -- */

static bool
take_fraction(struct at *a)
{
    struct at t = *a;
    return take(&t, ".,") && take_number(&t, 1, 9, 0, 999999999) && go_to(a, t);
}

/* PM, also behind the narrow blank that JavaScript writes. */
static bool
take_half(struct at *a)
{
    struct at t = *a;
    if (!take(&t, " "))
        take_text(&t, "\xe2\x80\xaf");
    return take(&t, "AaPp") && take(&t, "Mm") && is_edge(&t) && go_to(a, t);
}

static bool
take_offset(struct at *a)
{
    struct at t = *a;
    if (!take(&t, "+-") || !take_number(&t, 2, 2, 0, 14))
        return false;
    take(&t, ":");
    return take_number(&t, 2, 2, 0, 59) && is_edge(&t) && go_to(a, t);
}

static bool
take_zone(struct at *a)
{
    static const char *const names[] = { "UTC",  "GMT", "CET", "CEST", "EST",
                                         "EDT",  "CST", "CDT", "MST",  "MDT",
                                         "PST",  "PDT", "BST", "WET",  "EET",
                                         "EEST", "JST", "KST", "IST" };
    struct at t = *a;
    if (take(&t, "Zz") && is_edge(&t))
        return go_to(a, t);
    t = *a;
    take(&t, " ");
    bool is_zone = take_offset(&t);
    for (size_t i = 0; !is_zone && i < sizeof(names) / sizeof(names[0]); i++) {
        struct at name = t;
        is_zone = take_text(&name, names[i]) && is_edge(&name);
        if (is_zone)
            t = name;
    }
    if (is_zone)
        take_offset(&t); /* GMT+0000 */
    return is_zone && go_to(a, t);
}

static bool
take_clock_end(struct at *a)
{
    struct at t = *a;
    take_half(&t);
    take_zone(&t);
    return is_edge(&t) && go_to(a, t);
}

/* 12:00, 12:00:00.123, 1:00:00 PM; a zone may follow. */
static bool
take_clock(struct at *a)
{
    struct at t = *a, seconds, fraction;
    if (!take_number(&t, 1, 2, 0, 23) || !take(&t, ":") || !take_number(&t, 2, 2, 0, 59))
        return false;
    seconds = t;
    if (take(&seconds, ":") && take_number(&seconds, 2, 2, 0, 60)) {
        fraction = seconds;
        if (take_fraction(&fraction) && take_clock_end(&fraction))
            return go_to(a, fraction);
        if (take_clock_end(&seconds))
            return go_to(a, seconds);
    }
    return take_clock_end(&t) && go_to(a, t);
}

/* 12-00-00, 12.00.00, 12-00-00-123Z or 120000, as names of files have it. */
static bool
take_file_clock(struct at *a)
{
    struct at t = *a, millis;
    if (!take_number(&t, 2, 2, 0, 23))
        return false;
    bool is_apart = take(&t, "-.");
    if (!take_number(&t, 2, 2, 0, 59) || (is_apart && !take(&t, "-.")) ||
        !take_number(&t, 2, 2, 0, 60))
        return false;
    millis = t;
    if (take(&millis, "-.") && take_number(&millis, 3, 3, 0, 999) && take(&millis, "Z") &&
        is_edge(&millis))
        t = millis;
    else if (!take(&t, "Z") && !is_apart)
        take_offset(&t);
    return is_edge(&t) && go_to(a, t);
}

/* -- dates of numbers -- */

/* 2026-11-19, 2026/11/19 */
static bool
take_iso_date(struct at *a)
{
    struct at t = *a;
    if (!take_year(&t))
        return false;
    const char *between = peek(&t) == '/' ? "/" : "-";
    return take(&t, between) && take_number(&t, 2, 2, 1, 12) && take(&t, between) &&
           take_number(&t, 2, 2, 1, 31) && !calls_is_digit(peek(&t)) && go_to(a, t);
}

/* … and a time of day. */
static bool
take_iso(struct at *a, bool *has_clock)
{
    struct at t = *a;
    if (!take_iso_date(&t))
        return false;
    struct at clock = t;
    if (take(&clock, "Tt_-")) {
        *has_clock = take_clock(&clock) || take_file_clock(&clock);
    } else {
        take(&clock, ",");
        *has_clock = take(&clock, " ") && take_clock(&clock);
    }
    if (*has_clock)
        t = clock;
    return is_edge(&t) && go_to(a, t);
}

/* 20261119T120000Z, 20261119-120000: with a time of day only, or it is any number. */
static bool
take_compact(struct at *a, bool *has_clock)
{
    struct at t = *a;
    if (!take_year(&t) || !take_number(&t, 2, 2, 1, 12) ||
        !take_number(&t, 2, 2, 1, 31) || !take(&t, "Tt_-") || !calls_is_digit(peek(&t)) ||
        !take_file_clock(&t))
        return false;
    *has_clock = true;
    return go_to(a, t);
}

/* 11/19/2026, 1:00:00 PM */
static bool
take_slashed(struct at *a, bool *has_clock)
{
    struct at t = *a;
    if (!take_number(&t, 1, 2, 1, 31) || !take(&t, "/") ||
        !take_number(&t, 1, 2, 1, 31) || !take(&t, "/") || !take_year(&t) || !is_edge(&t))
        return false;
    struct at clock = t;
    take(&clock, ",");
    *has_clock = take(&clock, " ") && take_clock(&clock);
    return go_to(a, *has_clock ? clock : t);
}

/* -- dates of words -- */

/* What stands between a date and its time of day. */
static bool
take_joint(struct at *a)
{
    return take_text(a, " at ") || take_text(a, ", ") || take_text(a, " - ") ||
           take_text(a, " \xe2\x80\x94 ") || take_text(a, " ");
}

static bool
take_clock_behind(struct at *a)
{
    struct at t = *a;
    return take_joint(&t) && take_clock(&t) && go_to(a, t);
}

static bool
take_year_behind(struct at *a)
{
    struct at t = *a;
    take(&t, ",");
    return take_blanks(&t) && take_year(&t) && is_edge(&t) && go_to(a, t);
}

static bool
take_day(struct at *a)
{
    static const char *const ends[] = { "st", "nd", "rd", "th" };
    struct at t = *a;
    if (!take_number(&t, 1, 2, 1, 31))
        return false;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        if (take_text(&t, ends[i]))
            break;
    return is_edge(&t) && go_to(a, t);
}

/* The zone of `date`, between clock and year, may be any. */
static void
take_any_zone(struct at *a)
{
    struct at t = *a, behind;
    size_t n = 0;
    if (!take(&t, " "))
        return;
    while (peek(&t) >= 'A' && peek(&t) <= 'Z' && n < 5)
        t.p++, n++;
    behind = t;
    if (n >= 3 && is_edge(&t) && take_year_behind(&behind))
        *a = t;
}

/* Nov 19 12:00:00 UTC 2026, November 19th, 2026, 1:00 PM */
static bool
take_month_day(struct at *a, bool has_weekday, bool *has_clock)
{
    struct at t = *a;
    if (!take_month(&t) || !take_blanks(&t) || !take_day(&t))
        return false;
    bool has_year = take_year_behind(&t);
    *has_clock = take_clock_behind(&t);
    if (*has_clock && !has_year) {
        take_any_zone(&t);
        has_year = take_year_behind(&t);
        if (has_year)
            take_zone(&t);
    }
    return (has_weekday || has_year || *has_clock) && go_to(a, t);
}

/* 19 Nov 2026 12:00:00 GMT, 19/Nov/2026:12:00:00 +0000, 19-Nov-2026 */
static bool
take_day_month(struct at *a, bool *has_clock)
{
    struct at t = *a;
    if (!take_day(&t))
        return false;
    const char between[] = { (char)peek(&t), 0 };
    if (!take(&t, " -/") || !take_month(&t) || !take(&t, between) || !take_year(&t) ||
        !is_edge(&t))
        return false;
    struct at clock = t;
    *has_clock = take(&clock, ":") ? take_clock(&clock) : take_clock_behind(&clock);
    return go_to(a, *has_clock ? clock : t);
}

/* "current month is ", "Today's date: " */
static bool
is_of_now(struct view before)
{
    static const char *const words[] = { "urrent", "oday" };
    for (size_t n = 1; n <= NOW_BACK && n <= before.n; n++) {
        size_t i = before.n - n;
        uint8_t c = before.p[i];
        if (!(c >= 'a' && c <= 'z') && !(c && strchr(" ,:('", c)))
            return false;
        for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++)
            if (calls_is_at(before, i, words[k]))
                return true;
    }
    return false;
}

/* November 2026, where it is said of now: elsewhere it says which month is meant. */
static bool
take_month_now(struct at *a, struct view before)
{
    struct at t = *a;
    return take_month(&t) && take_year_behind(&t) && is_of_now(before) && go_to(a, t);
}

static bool
take_words(struct at *a, bool *has_clock)
{
    struct at t = *a, iso;
    bool has_weekday = take_weekday(&t);
    if (has_weekday) {
        take(&t, ",");
        if (!take_blanks(&t))
            return false;
    }
    iso = t;
    if (has_weekday && take_iso(&iso, has_clock))
        t = iso;
    else if (!take_day_month(&t, has_clock) &&
             !take_month_day(&t, has_weekday, has_clock))
        return false;
    return go_to(a, t);
}

/* Most words are none of these. */
static bool
may_begin(const struct at *a)
{
    uint8_t c = peek(a);
    return calls_is_digit(c) || (c && strchr("JFMASONDTW", c));
}

size_t
calls_time_end(struct view text, size_t start, bool *ret_has_clock)
{
    struct at a = { text.p + start, text.p + text.n };
    bool has_clock = false;
    if (!may_begin(&a))
        return 0;
    bool is_time = calls_is_digit(peek(&a))
                       ? take_iso(&a, &has_clock) || take_compact(&a, &has_clock) ||
                             take_slashed(&a, &has_clock) ||
                             take_day_month(&a, &has_clock)
                       : take_words(&a, &has_clock) ||
                             take_month_now(&a, calls_part(text, 0, start));
    if (!is_time)
        return 0;
    *ret_has_clock = has_clock;
    return (size_t)(a.p - text.p);
}

size_t
calls_unix_time_end(struct view text, size_t start)
{
    struct at a = { text.p + start, text.p + text.n };
    uint64_t v = 0;
    while (calls_is_digit(peek(&a)) && (size_t)(a.p - text.p) - start < 14)
        v = v * 10 + (uint64_t)(*a.p++ - '0');
    size_t n = (size_t)(a.p - text.p) - start;
    if (n == 13)
        v /= 1000;
    if ((n != 10 && n != 13) || v < SECONDS_FIRST || v > SECONDS_LAST || !is_edge(&a))
        return 0;
    struct at fraction = a;
    if (take(&fraction, ".")) {
        const uint8_t *digits = fraction.p;
        while (calls_is_digit(peek(&fraction)))
            fraction.p++;
        if (fraction.p > digits && is_edge(&fraction))
            a = fraction;
    }
    return (size_t)(a.p - text.p);
}
