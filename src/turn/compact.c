/* SPDX-License-Identifier: MIT */
#include "turn/compact.h"

#include "base/json_in.h"

static bool
is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

/* A number: digits, signs, dots and letters. *is_strict: not as 007. */
static size_t
number_end(struct view json, size_t i, bool *is_strict)
{
    size_t first = i + (json.p[i] == '-');
    if (first + 1 < json.n && json.p[first] == '0' && is_digit(json.p[first + 1]))
        *is_strict = false;
    for (i++; i < json.n; i++) {
        uint8_t c = json.p[i];
        if (!is_digit(c) && c != '.' && c != 'e' && c != 'E' && c != '+' && c != '-')
            break;
    }
    return i;
}

static bool
is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Of JSON that json_in.h takes. */
static bool
put(struct view json, struct buf *out)
{
    bool is_strict = true;
    size_t start = 0; /* of what is not put yet */
    for (size_t i = 0; i < json.n;) {
        uint8_t c = json.p[i];
        if (c == '"') {
            i = json_in_string_end(json, i + 1);
        } else if (is_digit(c) || c == '-') {
            i = number_end(json, i, &is_strict);
        } else if (is_blank(c)) {
            buf_append(out, json.p + start, i - start);
            start = ++i;
        } else {
            i++;
        }
    }
    buf_append(out, json.p + start, json.n - start);
    return is_strict;
}

bool
turn_compact(struct view json, struct buf *out)
{
    struct json_in in = { .p = json.p, .end = json.p + json.n };
    if (!json.n || !json_in_skip(&in) || in.is_odd || json_in_peek(&in) || in.p != in.end)
        return false;
    size_t before = out->n;
    if (put(json, out))
        return true;
    out->n = before;
    return false;
}
