/* SPDX-License-Identifier: MIT */
/*
 * match_span.c -- how long something took, as programs tell it: 0.12s, 0m3.456s, 1.23 ms,
 * (5 ms).
 *
 * That is measured, and another time each time. What a person says has no hundredths:
 * 0.5 s, 30 seconds, a timeout of 500 ms stay.
 */
#include "calls/match_priv.h"

enum { FRACTION_LEAST = 2, DIGITS_MOST = 12 };

static size_t
digits_end(struct view in, size_t i)
{
    size_t start = i;
    while (i < in.n && i - start < DIGITS_MOST && calls_is_digit(in.p[i]))
        i++;
    return i;
}

static size_t
unit_end(struct view in, size_t i)
{
    static const char *const units[] = { "seconds", "secs", "sec", "s",
                                         "ms",      "us",   "ns",  "\xc2\xb5s" };
    i += calls_byte_at(in, i) == ' ';
    for (size_t k = 0; k < sizeof(units) / sizeof(units[0]); k++) {
        size_t end = i + strlen(units[k]);
        if (calls_is_at(in, i, units[k]) && !calls_is_alnum(calls_byte_at(in, end)))
            return end;
    }
    return 0;
}

size_t
calls_span_end(struct view in, size_t start)
{
    size_t end = digits_end(in, start), fraction;
    if (calls_byte_at(in, end) == 'm' && calls_is_digit(calls_byte_at(in, end + 1)))
        end = digits_end(in, end + 1);
    if (calls_byte_at(in, end) != '.') {
        size_t unit = calls_byte_at(in, start - 1) == '(' ? unit_end(in, end) : 0;
        return calls_byte_at(in, unit) == ')' ? unit : 0;
    }
    fraction = digits_end(in, end + 1);
    return fraction - (end + 1) < FRACTION_LEAST ? 0 : unit_end(in, fraction);
}
