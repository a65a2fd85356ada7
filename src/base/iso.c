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

/* -- read -- */

/* So many digits, then that byte. */
static bool
take_digits(struct view *rest, unsigned count, char behind, unsigned *ret)
{
    unsigned v = 0;
    if (rest->n < count + (behind != 0))
        return false;
    for (unsigned i = 0; i < count; i++) {
        if (rest->p[i] < '0' || rest->p[i] > '9')
            return false;
        v = v * 10 + (unsigned)(rest->p[i] - '0');
    }
    if (behind && rest->p[count] != (uint8_t)behind)
        return false;
    count += behind != 0;
    *rest = (struct view){ rest->p + count, rest->n - count };
    *ret = v;
    return true;
}

/* ".123456", of which nine digits count, or nothing. */
static bool
take_fraction(struct view *rest, uint64_t *ret_ns)
{
    uint64_t ns = 0, unit = 100000000;
    size_t i = 1;
    *ret_ns = 0;
    if (!rest->n || rest->p[0] != '.')
        return true;
    for (; i < rest->n && rest->p[i] >= '0' && rest->p[i] <= '9'; i++, unit /= 10)
        ns += unit * (uint64_t)(rest->p[i] - '0');
    *rest = (struct view){ rest->p + i, rest->n - i };
    *ret_ns = ns;
    return i > 1;
}

/* "Z", "+01:00". */
static bool
take_zone(struct view rest, int *ret_s)
{
    unsigned hours, minutes;
    *ret_s = 0;
    if (rest.n == 1 && rest.p[0] == 'Z')
        return true;
    if (rest.n != 6 || (rest.p[0] != '+' && rest.p[0] != '-'))
        return false;
    int sign = rest.p[0] == '-' ? -1 : 1;
    rest = (struct view){ rest.p + 1, rest.n - 1 };
    if (!take_digits(&rest, 2, ':', &hours) || !take_digits(&rest, 2, 0, &minutes))
        return false;
    *ret_s = sign * (int)(hours * 3600 + minutes * 60);
    return hours < 24 && minutes < 60;
}

/* Days since 1970 of a day in the calendar; timegm() is a good part of a line's cost. */
static int64_t
days_of(unsigned year, unsigned month, unsigned day)
{
    unsigned y = month <= 2 ? year - 1 : year, m = month <= 2 ? month + 9 : month - 3;
    unsigned of_era = y % 400;
    unsigned in_era = of_era * 365 + of_era / 4 - of_era / 100 + (153 * m + 2) / 5 + day;
    return (int64_t)(y / 400) * 146097 + in_era - 719469;
}

static unsigned
days_in(unsigned year, unsigned month)
{
    static const uint8_t days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    if (month < 1 || month > 12)
        return 0;
    return month == 2 && is_leap ? 29 : days[month - 1];
}

bool
iso_time_read(struct view text, uint64_t *ret_ns)
{
    enum { YEAR_LAST = 2553 }; /* nanoseconds end in 2554 */
    unsigned year, month, day, hour, minute, second;
    uint64_t ns;
    int zone_s;
    if (!take_digits(&text, 4, '-', &year) || !take_digits(&text, 2, '-', &month) ||
        !take_digits(&text, 2, 'T', &day) || !take_digits(&text, 2, ':', &hour) ||
        !take_digits(&text, 2, ':', &minute) || !take_digits(&text, 2, 0, &second))
        return false;
    if (!take_fraction(&text, &ns) || !take_zone(text, &zone_s) || year < 1969 ||
        year > YEAR_LAST || day < 1 || day > days_in(year, month) || hour > 23 ||
        minute > 59 || second > 60)
        return false;
    int64_t s = days_of(year, month, day) * 86400 +
                (int64_t)(hour * 3600 + minute * 60 + second) - zone_s;
    if (s < 0)
        return false;
    *ret_ns = (uint64_t)s * 1000000000 + ns;
    return true;
}
