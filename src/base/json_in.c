/* SPDX-License-Identifier: MIT */
#include "base/json_in.h"

#include "base/json_scan.h"
#include "base/utf8.h"

enum { SHORT = 48 }; /* bytes of a string */

static bool
fail(struct json_in *in)
{
    in->failed = true;
    return false;
}

static bool
is_blank(uint8_t byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

uint8_t
json_in_peek(struct json_in *in)
{
    while (in->p < in->end && is_blank(*in->p))
        in->p++;
    return in->p < in->end ? *in->p : 0;
}

bool
json_in_take(struct json_in *in, char byte)
{
    if (in->failed || json_in_peek(in) != (uint8_t)byte)
        return false;
    in->p++;
    return true;
}

bool
json_in_each(struct json_in *in, char close, bool *is_first)
{
    if (in->failed || json_in_take(in, close))
        return false;
    if (!*is_first && !json_in_take(in, ','))
        return fail(in);
    *is_first = false;
    return true;
}

/* -- strings -- */

static void
put_rune(struct buf *out, uint32_t cp)
{
    uint8_t p[4];
    size_t n = cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
    static const uint8_t lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    for (size_t i = n - 1; i > 0; i--, cp >>= 6)
        p[i] = (uint8_t)(0x80 | (cp & 0x3f));
    p[0] = (uint8_t)(lead[n] | cp);
    if (out)
        buf_append(out, p, n);
}

/* Four hexadecimal digits; -1: there are none. They are taken. */
static int32_t
take_hex(struct json_in *in)
{
    int32_t v = 0;
    if (in->end - in->p < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        uint8_t c = *in->p++;
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return -1;
        v = v << 4 | digit;
    }
    return v;
}

static bool
is_between(int32_t v, int32_t least, int32_t most)
{
    return v >= least && v <= most;
}

/* Behind "\u". A half of a surrogate pair alone is U+FFFD. */
static bool
take_code(struct json_in *in, struct buf *out)
{
    int32_t v = take_hex(in);
    if (v < 0)
        return fail(in);
    if (is_between(v, 0xd800, 0xdbff) && in->end - in->p >= 6 && in->p[0] == '\\' &&
        in->p[1] == 'u') {
        struct json_in ahead = { in->p + 2, in->end, false, false };
        int32_t low = take_hex(&ahead);
        if (is_between(low, 0xdc00, 0xdfff)) {
            in->p = ahead.p;
            put_rune(out, (uint32_t)(0x10000 + ((v - 0xd800) << 10) + (low - 0xdc00)));
            return true;
        }
    }
    bool is_half = is_between(v, 0xd800, 0xdfff);
    in->is_odd |= is_half;
    put_rune(out, is_half ? 0xfffd : (uint32_t)v);
    return true;
}

/* Behind the backslash. */
static bool
take_escape(struct json_in *in, struct buf *out)
{
    static const uint8_t values[256] = {
        ['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
        ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t',
    };
    if (in->p == in->end)
        return fail(in);
    uint8_t c = *in->p++;
    if (c == 'u')
        return take_code(in, out);
    if (!values[c]) {
        in->p--;
        return fail(in);
    }
    if (out)
        buf_append(out, &values[c], 1);
    return true;
}

/* Up to the next quote or backslash. */
static void
take_plain(struct json_in *in, struct buf *out)
{
    const uint8_t *start = in->p;
    struct json_scan found = json_scan(in->p, in->end);
    in->p = found.end;
    size_t n = (size_t)(in->p - start);
    in->is_odd |= found.has_control || (found.has_high && !utf8_is_text(start, n));
    if (out)
        buf_append(out, start, n);
}

bool
json_in_str(struct json_in *in, struct buf *out)
{
    if (!json_in_take(in, '"'))
        return fail(in);
    for (;;) {
        take_plain(in, out);
        if (in->p == in->end)
            return fail(in);
        if (*in->p++ == '"')
            return true;
        if (!take_escape(in, out))
            return false;
    }
}

bool
json_in_key(struct json_in *in, struct buf *out)
{
    buf_clear(out);
    if (!json_in_str(in, out))
        return false;
    return json_in_take(in, ':') || fail(in);
}

/* -- the rest -- */

static size_t
count_digits(struct json_in *in)
{
    const uint8_t *start = in->p;
    while (in->p < in->end && *in->p >= '0' && *in->p <= '9')
        in->p++;
    return (size_t)(in->p - start);
}

static bool
is_at(const struct json_in *in, uint8_t a, uint8_t b)
{
    return in->p < in->end && (*in->p == a || *in->p == b);
}

bool
json_in_number(struct json_in *in, struct view *ret)
{
    if (in->failed)
        return false;
    (void)json_in_peek(in);
    const uint8_t *start = in->p;
    in->p += is_at(in, '-', '-');
    bool is_number = count_digits(in) > 0;
    if (is_number && is_at(in, '.', '.'))
        in->p++, is_number = count_digits(in) > 0;
    if (is_number && is_at(in, 'e', 'E')) {
        in->p++;
        in->p += is_at(in, '-', '+');
        is_number = count_digits(in) > 0;
    }
    if (!is_number)
        return fail(in);
    *ret = (struct view){ start, (size_t)(in->p - start) };
    return true;
}

static bool
skip_word(struct json_in *in)
{
    static const char *const words[] = { "true", "false", "null" };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t n = strlen(words[i]);
        if ((size_t)(in->end - in->p) < n || memcmp(in->p, words[i], n) != 0)
            continue;
        in->p += n;
        return true;
    }
    return fail(in);
}

static bool
skip_leaf(struct json_in *in, uint8_t first)
{
    struct view number;
    if (first == '"')
        return json_in_str(in, NULL);
    if (first == '-' || (first >= '0' && first <= '9'))
        return json_in_number(in, &number);
    return skip_word(in);
}

bool
json_in_skip(struct json_in *in)
{
    char close[JSON_IN_DEPTH];
    bool is_first[JSON_IN_DEPTH];
    size_t depth = 0;
    do {
        if (depth && !json_in_each(in, close[depth - 1], &is_first[depth - 1])) {
            depth--;
            continue;
        }
        if (depth && close[depth - 1] == '}' &&
            !(json_in_str(in, NULL) && (json_in_take(in, ':') || fail(in))))
            return false;
        uint8_t first = json_in_peek(in);
        if (first != '{' && first != '[') {
            skip_leaf(in, first);
            continue;
        }
        if (depth == JSON_IN_DEPTH)
            return fail(in);
        in->p++;
        close[depth] = first == '{' ? '}' : ']';
        is_first[depth++] = true;
    } while (depth && !in->failed);
    return !in->failed;
}

/* Behind its closing quote: the first without an odd number of backslashes before it. */
static void
pass_text(struct json_in *in)
{
    const uint8_t *start = ++in->p;
    const uint8_t *near = in->end - start > SHORT ? start + SHORT : in->end;
    const uint8_t *stop = json_scan(start, near).end;
    if (stop < near && *stop == '"') { /* most are short, and a call costs more */
        in->p = stop + 1;
        return;
    }
    while (in->p < in->end) {
        const uint8_t *quote = memchr(in->p, '"', (size_t)(in->end - in->p));
        if (!quote)
            break;
        const uint8_t *p = quote;
        while (p > start && p[-1] == '\\')
            p--;
        in->p = start = quote + 1;
        if ((quote - p) % 2 == 0)
            return;
    }
    in->p = in->end;
}

static bool
is_leaf_end(uint8_t c)
{
    return c == ',' || c == '}' || c == ']' || is_blank(c);
}

void
json_in_pass(struct json_in *in)
{
    uint8_t first = json_in_peek(in);
    if (first == '"') {
        pass_text(in);
    } else if (first == '{' || first == '[') {
        size_t depth = 0;
        do {
            uint8_t c = *in->p;
            if (c == '"') {
                pass_text(in);
                continue;
            }
            depth += c == '{' || c == '[';
            depth -= c == '}' || c == ']';
            in->p++;
        } while (depth && in->p < in->end);
    } else {
        while (in->p < in->end && !is_leaf_end(*in->p))
            in->p++;
    }
}

bool
json_in_is_one(struct view bytes)
{
    if (!bytes.n)
        return false;
    struct json_in in = { .p = bytes.p, .end = bytes.p + bytes.n };
    return json_in_skip(&in) && !json_in_peek(&in) && in.p == in.end;
}

size_t
json_in_string_end(struct view json, size_t i)
{
    while (json.p[i] != '"')
        i += json.p[i] == '\\' ? 2 : 1;
    return i + 1;
}
