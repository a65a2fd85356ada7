/* SPDX-License-Identifier: MIT */
#include "redact/json.h"

#include "base/json.h"
#include "base/json_in.h"
#include "base/json_scan.h"
#include "redact/json_priv.h"

enum { CODE = 6 }; /* bytes of an escape by a number */

/* -- units -- */

/* An escape of the first half of a character (\ud8.. to \udb..), or of the second. */
static bool
is_half(struct view v, bool is_first)
{
    uint8_t c = v.n > 3 ? v.p[3] | 0x20 : 0;
    bool is_code = v.n > 3 && v.p[0] == '\\' && v.p[1] == 'u' && (v.p[2] | 0x20) == 'd';
    bool may_begin = c == '8' || c == '9' || c == 'a' || c == 'b';
    return is_code && (is_first ? may_begin : c >= 'c' && c <= 'f');
}

/* May these be the first ones of an escape by a number? */
static bool
may_be_code(struct view v)
{
    size_t i = 2;
    while (i < v.n && ((v.p[i] >= '0' && v.p[i] <= '9') ||
                       ((v.p[i] | 0x20) >= 'a' && (v.p[i] | 0x20) <= 'f')))
        i++;
    return i >= v.n;
}

/* How many bytes the escape at its beginning has; 0: they have not all come. */
static size_t
escape_size(struct view v, bool is_last)
{
    if (v.n < 2 || v.p[1] != 'u')
        return v.n < 2 ? 0 : 2;
    if (v.n < CODE)
        return may_be_code(v) ? 0 : v.n; /* it is none */
    if (!is_half(v, true))
        return CODE;
    struct view next = { v.p + CODE, v.n - CODE };
    bool may_follow = (!next.n || next.p[0] == '\\') && (next.n < 2 || next.p[1] == 'u');
    if (next.n < CODE && may_follow && !is_last)
        return 0;
    return next.n >= CODE && is_half(next, false) ? (size_t)2 * CODE : (size_t)CODE;
}

static int
decode(struct view escape, struct buf *out)
{
    uint8_t quoted[2 * CODE + 2] = { '"' };
    struct json_in in = { .p = quoted, .end = quoted + escape.n + 2 };
    memcpy(quoted + 1, escape.p, escape.n);
    quoted[escape.n + 1] = '"';
    if (!json_in_str(&in, out) || in.p != in.end)
        return out->failed ? out->failed : ERR_DAMAGED;
    return out->failed;
}

static size_t
plain_size(struct view v)
{
    return (size_t)(json_scan(v.p, v.p + v.n).end - v.p);
}

ssize_t
json_units(struct view inside, bool is_last, struct buf *ret_text)
{
    struct view rest = inside;
    while (rest.n && rest.p[0] != '"') {
        size_t n = plain_size(rest);
        int r = buf_append(ret_text, rest.p, n);
        if (!n && !(n = escape_size(rest, is_last)))
            break;
        if (!r && rest.p[0] == '\\')
            r = decode((struct view){ rest.p, n }, ret_text);
        if (r < 0)
            return r;
        rest = (struct view){ rest.p + n, rest.n - n };
    }
    return (ssize_t)(inside.n - rest.n);
}

size_t
json_units_of(struct view inside, size_t n, size_t *ret_says)
{
    struct view rest = inside;
    *ret_says = 0;
    while (*ret_says < n && rest.n) {
        uint8_t room[8];
        struct buf one = { .p = room, .cap = sizeof(room), .ceiling = sizeof(room) };
        size_t size = plain_size(rest), left = n - *ret_says;
        size_t says = size = size < left ? size : left;
        if (!size) {
            size = escape_size(rest, true);
            says = decode((struct view){ rest.p, size }, &one) ? left + 1 : one.n;
        }
        if (says > left)
            break;
        *ret_says += says;
        rest = (struct view){ rest.p + size, rest.n - size };
    }
    return inside.n - rest.n;
}

int
json_put_inside(struct view text, struct buf *out)
{
    AUTO(buf) quoted = { .ceiling = SIZE_MAX };
    struct json j = { .out = &quoted };
    json_bytes(&j, text);
    return quoted.failed ? quoted.failed : buf_append(out, quoted.p + 1, quoted.n - 2);
}

/* -- a string -- */

/* Up to the first secret it stands as it came. */
static int
put_changed(struct view raw, struct view text, struct view masked, struct buf *out)
{
    size_t says;
    size_t n = json_units_of((struct view){ raw.p + 1, raw.n - 2 },
                             view_common(text, masked), &says);
    int e = buf_append(out, raw.p, n + 1);
    if (!e)
        e = json_put_inside((struct view){ masked.p + says, masked.n - says }, out);
    return e < 0 ? e : buf_append(out, "\"", 1);
}

int
redact_json_string(struct redact *r, struct view raw, struct buf *out)
{
    AUTO(buf) text = { .ceiling = raw.n + 1 };
    AUTO(buf) masked = { .ceiling = out->ceiling };
    struct json_in in = { .p = raw.p, .end = raw.p + raw.n };
    if (!memchr(raw.p, '\\', raw.n))
        return buf_append(out, raw.p, raw.n);
    if (!json_in_str(&in, &text) || text.failed)
        return text.failed ? text.failed : ERR_DAMAGED;
    int e = redact_text(r, text.p, text.n, &masked);
    if (e < 0)
        return e;
    struct view plain = { text.p, text.n }, now = { masked.p, masked.n };
    if (now.n == plain.n && view_common(plain, now) == now.n)
        return buf_append(out, raw.p, raw.n);
    return put_changed(raw, plain, now, out);
}

/* -- a value -- */

static int
put_strings(struct redact *r, struct view json, struct buf *out)
{
    size_t start = 0;
    int e = 0;
    for (size_t i = 0; i < json.n && e >= 0;) {
        if (json.p[i] != '"') {
            i++;
            continue;
        }
        buf_append(out, json.p + start, i - start);
        start = json_in_string_end(json, i + 1);
        e = redact_json_string(r, (struct view){ json.p + i, start - i }, out);
        i = start;
    }
    return e < 0 ? e : buf_append(out, json.p + start, json.n - start);
}

int
redact_json(struct redact *r, struct view json, struct buf *out)
{
    AUTO(buf) masked = { .ceiling = out->ceiling };
    int e = redact_text(r, json.p, json.n, &masked);
    struct view v = { masked.p, masked.n };
    if (e < 0)
        return e;
    return json_in_is_one(v) ? put_strings(r, v, out) : buf_append(out, v.p, v.n);
}
