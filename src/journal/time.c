/* SPDX-License-Identifier: MIT */
/* time.c -- moments as the journals have them (base/iso.h), read. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "journal/io.h"

enum { TIME_LEN = 24, YEAR_MAX = 2553 }; /* nanoseconds end in 2554 */

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
