/* SPDX-License-Identifier: MIT */
/* time.c -- moments as the journals write them: ISO 8601, UTC, milliseconds. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "journal/io.h"

enum { TIME_LEN = 24, YEAR_MAX = 2553 }; /* nanoseconds end in 2554 */

/* Decimal digits, so many. */
static char *
put_digits(char *at, unsigned v, int count)
{
    for (int i = count; i-- > 0; v /= 10)
        at[i] = (char)('0' + v % 10);
    return at + count;
}

static char *
put_group(char *at, unsigned v, char behind)
{
    at = put_digits(at, v, 2);
    *at = behind;
    return at + 1;
}

/* Each line has one: strftime() would be a good part of its cost. */
void
journal_time(uint64_t ts_ns, struct buf *out)
{
    time_t s = (time_t)(ts_ns / 1000000000);
    struct tm tm;
    char text[TIME_LEN], *at = text;
    if (!gmtime_r(&s, &tm))
        tm = (struct tm){ .tm_mday = 1 };
    at = put_digits(at, (unsigned)tm.tm_year + 1900, 4);
    *at++ = '-';
    at = put_group(at, (unsigned)tm.tm_mon + 1, '-');
    at = put_group(at, (unsigned)tm.tm_mday, 'T');
    at = put_group(at, (unsigned)tm.tm_hour, ':');
    at = put_group(at, (unsigned)tm.tm_min, ':');
    at = put_group(at, (unsigned)tm.tm_sec, '.');
    at = put_digits(at, (unsigned)(ts_ns / 1000000 % 1000), 3);
    *at = 'Z';
    buf_append(out, text, sizeof(text));
}

uint64_t
journal_time_read(struct view text)
{
    char copy[TIME_LEN + 1];
    unsigned ms;
    struct tm tm = { 0 };
    int end = 0;
    if (text.n != TIME_LEN)
        return 0;
    memcpy(copy, text.p, TIME_LEN);
    copy[TIME_LEN] = 0;
    int got = sscanf(copy, "%4d-%2d-%2dT%2d:%2d:%2d.%3uZ%n", &tm.tm_year, &tm.tm_mon,
                     &tm.tm_mday, &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &ms, &end);
    if (got != 7 || end != TIME_LEN || tm.tm_year < 1970 || tm.tm_year > YEAR_MAX)
        return 0;
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    time_t s = timegm(&tm);
    return s < 0 ? 0 : (uint64_t)s * 1000000000 + (uint64_t)ms * 1000000;
}
