/* SPDX-License-Identifier: MIT */
#include "play/moment.h"

#include <errno.h>

#include "base/num.h"

#define SECOND_NS   1000000000ULL
#define SECONDS_MAX (UINT64_MAX / SECOND_NS - 1)

enum { PARTS_MAX = 3 }; /* h:mm:ss */

/* Digits behind a point, in units of which `one` make a whole. */
static int
parse_fraction(const char *p, size_t n, uint64_t one, uint64_t *ret)
{
    uint64_t v = 0;
    if (!n)
        return -EINVAL;
    for (size_t i = 0; i < n; i++) {
        if (p[i] < '0' || p[i] > '9')
            return -EINVAL;
        one /= 10;
        v += (uint64_t)(p[i] - '0') * one;
    }
    *ret = v;
    return 0;
}

/* "12", "12.5", ".5", at most `max` wholes. */
static int
parse_decimal(const char *p, size_t n, uint64_t one, uint64_t max, uint64_t *ret)
{
    const char *point = memchr(p, '.', n);
    size_t whole_n = point ? (size_t)(point - p) : n;
    uint64_t whole = 0, part = 0;
    int r = 0;
    if (whole_n || !point)
        r = num_parse((struct view){ (const uint8_t *)p, whole_n }, max, &whole);
    if (!r && point)
        r = parse_fraction(point + 1, n - whole_n - 1, one, &part);
    if (r < 0)
        return r;
    *ret = whole * one + part;
    return 0;
}

/* The parts before the last: "1:02:" of "1:02:03.5". Behind the first each has two digits
 * and is below 60. */
static int
parse_time(const char *text, uint64_t *ret_ns)
{
    uint64_t seconds = 0, last = 0;
    size_t parts = 0, n;
    const char *p = text;
    for (; p[n = strcspn(p, ":")]; p += n + 1, parts++) {
        uint64_t v, max = parts ? 59 : SECONDS_MAX / 3600 - 1;
        if (num_parse((struct view){ (const uint8_t *)p, n }, max, &v) < 0 ||
            (parts && n != 2))
            return -EINVAL;
        seconds = seconds * 60 + v;
    }
    if (parts >= PARTS_MAX || (parts && strcspn(p, ".") != 2))
        return -EINVAL;
    int r = parse_decimal(p, n, SECOND_NS, parts ? 59 : SECONDS_MAX, &last);
    if (!r)
        *ret_ns = seconds * 60 * SECOND_NS + last;
    return r;
}

int
play_moment_parse(const char *text, struct play_moment *ret, struct err *err)
{
    uint64_t v;
    bool is_byte = text[0] == '@';
    struct view digits = { (const uint8_t *)text + 1, is_byte ? strlen(text) - 1 : 0 };
    if ((is_byte ? num_parse(digits, UINT64_MAX - 1, &v) : parse_time(text, &v)) < 0)
        return err_set(err, ERR_USAGE,
                       "'%s' is no moment of a session: give seconds (12.5), m:ss, "
                       "h:mm:ss or @BYTE",
                       text);
    *ret = (struct play_moment){ is_byte, v };
    return 0;
}

int
play_time_parse(const char *text, uint64_t *ret_ns, struct err *err)
{
    if (parse_time(text, ret_ns) < 0)
        return err_set(err, ERR_USAGE,
                       "'%s' is no time: give seconds (2.5), m:ss or h:mm:ss", text);
    return 0;
}

int
play_factor_parse(const char *text, uint32_t min, uint32_t max, uint32_t *ret,
                  struct err *err)
{
    uint64_t v;
    if (parse_decimal(text, strlen(text), 1000, max / 1000, &v) < 0 || v < min || v > max)
        return err_set(err, ERR_USAGE, "'%s' is no number from %g to %g", text,
                       (double)min / 1000, (double)max / 1000);
    *ret = (uint32_t)v;
    return 0;
}
