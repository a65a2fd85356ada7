/* SPDX-License-Identifier: MIT */
#include "base/iso.h"

#include <time.h>

enum { TIME_LEN = 24 };

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
iso_time(uint64_t ts_ns, struct buf *out)
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
