/* SPDX-License-Identifier: MIT */
/*
 * moment.c -- a snapshot or an instruction from its line, whoever wrote it.
 *
 * A line of ours is a flat object; others may have more in theirs. Numbers have 64 bits,
 * which jansson's do not: so it is read here, by a cursor that stops at the first byte
 * that does not fit. What was torn may be followed by a whole one on the same line: after
 * something that is none it goes on at the next brace. A quote inside of a string has a
 * backslash before it, so that no label can pass for an object.
 */
#include "session/lines.h"

#include "base/utf8.h"

enum { DEPTH_MAX = 16 };

struct cursor {
    const uint8_t *p, *end;
};

static bool
is_at(const struct cursor *c, char byte)
{
    return c->p < c->end && *c->p == (uint8_t)byte;
}

static bool
take(struct cursor *c, char byte)
{
    while (is_at(c, ' ') || is_at(c, '\t') || is_at(c, '\r'))
        c->p++;
    if (!is_at(c, byte))
        return false;
    c->p++;
    return true;
}

/* -- strings -- */

static int
hex_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9'   ? byte - '0'
           : byte >= 'a' && byte <= 'f' ? byte - 'a' + 10
           : byte >= 'A' && byte <= 'F' ? byte - 'A' + 10
                                        : -1;
}

/* The four digits at p; < 0: there are none. */
static int32_t
hex4(const uint8_t *p, const uint8_t *end)
{
    int32_t v = 0;
    if (end - p < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(p[i]);
        if (digit < 0)
            return -1;
        v = v << 4 | digit;
    }
    return v;
}

/* What stands behind a backslash and is one byte: these for those. */
static const char escapes[] = "\"\\/bfnrt", escaped[] = "\"\\/\b\f\n\r\t";

static bool
take_escape(struct cursor *c)
{
    if (c->p == c->end || !*c->p)
        return false;
    if (*c->p != 'u')
        return strchr(escapes, *c->p++);
    if (hex4(c->p + 1, c->end) < 0)
        return false;
    c->p += 5;
    return true;
}

/* As it stands there, between its quotes. A NUL was never written: it is where the disk
 * has lost something. */
static bool
take_string(struct cursor *c, struct view *ret)
{
    if (!take(c, '"'))
        return false;
    const uint8_t *start = c->p;
    while (c->p < c->end && *c->p && *c->p != '"')
        if (*c->p++ == '\\' && !take_escape(c))
            return false;
    if (!is_at(c, '"'))
        return false;
    *ret = (struct view){ start, (size_t)(c->p++ - start) };
    return true;
}

/* One that cannot be is U+FFFD. */
static void
put_code_point(struct buf *out, uint32_t cp)
{
    if (cp < 0x80) {
        buf_append(out, &(uint8_t){ (uint8_t)cp }, 1);
    } else if (cp < 0x800) {
        uint8_t two[] = { (uint8_t)(0xc0 | cp >> 6), (uint8_t)(0x80 | (cp & 0x3f)) };
        buf_append(out, two, sizeof(two));
    } else if (cp >= 0xd800 && cp < 0xe000) {
        buf_puts(out, "\xef\xbf\xbd");
    } else if (cp < 0x10000) {
        uint8_t three[] = { (uint8_t)(0xe0 | cp >> 12),
                            (uint8_t)(0x80 | (cp >> 6 & 0x3f)),
                            (uint8_t)(0x80 | (cp & 0x3f)) };
        buf_append(out, three, sizeof(three));
    } else {
        uint8_t four[] = { (uint8_t)(0xf0 | cp >> 18),
                           (uint8_t)(0x80 | (cp >> 12 & 0x3f)),
                           (uint8_t)(0x80 | (cp >> 6 & 0x3f)),
                           (uint8_t)(0x80 | (cp & 0x3f)) };
        buf_append(out, four, sizeof(four));
    }
}

/* Of \uXXXX at p, and of the second half of a pair behind it. Returns its length. */
static size_t
put_unicode(struct buf *out, const uint8_t *p, const uint8_t *end)
{
    uint32_t cp = (uint32_t)hex4(p + 2, end);
    bool is_high = cp >= 0xd800 && cp < 0xdc00;
    if (is_high && end - p >= 12 && p[6] == '\\' && p[7] == 'u') {
        uint32_t low = (uint32_t)hex4(p + 8, end);
        if (low >= 0xdc00 && low < 0xe000) {
            put_code_point(out, 0x10000 + ((cp - 0xd800) << 10) + (low - 0xdc00));
            return 12;
        }
    }
    put_code_point(out, cp);
    return 6;
}

/* raw: as take_string() gave it. */
static int
unescape(struct view raw, struct buf *out)
{
    const uint8_t *p = raw.p, *end = raw.p + raw.n;
    while (p < end) {
        uint32_t cp;
        int n = utf8_next(p, (size_t)(end - p), &cp);
        if (*p == '\\' && p[1] == 'u') {
            p += put_unicode(out, p, end);
        } else if (*p == '\\') {
            buf_append(out, &escaped[strchr(escapes, p[1]) - escapes], 1);
            p += 2;
        } else {
            put_code_point(out, n ? cp : 0xfffd);
            p += n ? n : 1;
        }
    }
    return out->failed;
}

/* -- values -- */

struct value {
    enum { VALUE_OTHER, VALUE_NUMBER, VALUE_TEXT, VALUE_TRUE } kind;
    uint64_t number;
    struct view text; /* as it stands there */
};

static bool
is_digit(const struct cursor *c)
{
    return c->p < c->end && *c->p >= '0' && *c->p <= '9';
}

/* Another number than one of 64 bits without a sign is valid, and none of ours. */
static bool
take_number(struct cursor *c, struct value *ret)
{
    uint64_t v = 0;
    bool is_whole = is_digit(c);
    for (; is_digit(c); c->p++)
        is_whole &= !__builtin_mul_overflow(v, (uint64_t)10, &v) &&
                    !__builtin_add_overflow(v, (uint64_t)(*c->p - '0'), &v);
    const uint8_t *rest = c->p;
    while (c->p < c->end && *c->p && strchr("+-.0123456789eE", *c->p))
        c->p++;
    if (is_whole && c->p == rest)
        *ret = (struct value){ .kind = VALUE_NUMBER, .number = v };
    return true;
}

static bool
take_word(struct cursor *c, struct value *ret)
{
    static const char *const words[] = { "true", "false", "null" };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t n = strlen(words[i]);
        if ((size_t)(c->end - c->p) < n || memcmp(c->p, words[i], n) != 0)
            continue;
        c->p += n;
        ret->kind = i ? VALUE_OTHER : VALUE_TRUE;
        return true;
    }
    return false;
}

static bool take_value(struct cursor *c, unsigned depth, struct value *ret);

/* An array or object inside of ours: whole, and of no interest. */
static bool
take_inner(struct cursor *c, unsigned depth, bool is_object)
{
    struct value ignored;
    struct view name;
    if (take(c, is_object ? '}' : ']'))
        return true;
    do
        if ((is_object && (!take_string(c, &name) || !take(c, ':'))) ||
            !take_value(c, depth + 1, &ignored))
            return false;
    while (take(c, ','));
    return take(c, is_object ? '}' : ']');
}

static bool
take_value(struct cursor *c, unsigned depth, struct value *ret)
{
    *ret = (struct value){ 0 };
    bool is_object = take(c, '{'); /* blanks are gone now */
    if (is_object || take(c, '['))
        return depth < DEPTH_MAX && take_inner(c, depth, is_object);
    if (is_at(c, '"')) {
        ret->kind = VALUE_TEXT;
        return take_string(c, &ret->text);
    }
    return is_digit(c) || is_at(c, '-') ? take_number(c, ret) : take_word(c, ret);
}

/* -- a moment -- */

enum { HAS_ID = 1, HAS_STAMP = 2, HAS_ANCHOR = 4, HAS_TEXT = 8 };

struct object {
    struct session_moment moment;
    struct view text; /* as it stands there */
    unsigned has;
};

static bool
is_text(struct view v, const char *text)
{
    return v.n == strlen(text) && !memcmp(v.p, text, v.n);
}

static void
set(struct object *o, struct view name, const char *text_name, const struct value *v)
{
    struct session_moment *m = &o->moment;
    const struct {
        const char *name;
        uint64_t *number;
        unsigned has;
    } numbers[] = { { "id", &m->id, HAS_ID },
                    { "ts_ns", &m->ts_ns, HAS_STAMP },
                    { "anchor_byte", &m->anchor_byte, HAS_ANCHOR },
                    { "snapshot_id", &m->snapshot_id, 0 } };
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (v->kind == VALUE_NUMBER && is_text(name, numbers[i].name)) {
            *numbers[i].number = v->number;
            o->has |= numbers[i].has;
        }
    if (v->kind == VALUE_TEXT && is_text(name, text_name)) {
        o->text = v->text;
        o->has |= HAS_TEXT;
    }
    if (is_text(name, "delivered"))
        m->is_delivered = v->kind == VALUE_TRUE;
}

static bool
take_object(struct cursor *c, const char *text_name, struct object *ret)
{
    *ret = (struct object){ .moment.snapshot_id = SESSION_NONE };
    struct view name;
    struct value v;
    if (!take(c, '{'))
        return false;
    if (take(c, '}'))
        return true;
    do {
        if (!take_string(c, &name) || !take(c, ':') || !take_value(c, 0, &v))
            return false;
        set(ret, name, text_name, &v);
    } while (take(c, ','));
    return take(c, '}');
}

/* What may stand between objects and says nothing; a BOM, too. */
static void
skip_fillers(struct cursor *c)
{
    static const uint8_t bom[] = { 0xef, 0xbb, 0xbf };
    while (c->p < c->end) {
        bool is_bom = c->end - c->p >= 3 && !memcmp(c->p, bom, sizeof(bom));
        if (!is_bom && *c->p > ' ')
            return;
        c->p += is_bom ? sizeof(bom) : 1;
    }
}

int
session_moment_next(struct view *rest, enum session_moment_kind kind, struct buf *text,
                    struct session_moment *ret)
{
    struct cursor c = { rest->p, rest->p + rest->n };
    struct object object;
    skip_fillers(&c);
    const uint8_t *start = c.p, *end = c.end;
    *rest = (struct view){ start, (size_t)(end - start) };
    if (start == end)
        return 0;
    bool is_snapshot = kind == SESSION_SNAPSHOT;
    unsigned needed = HAS_ID | HAS_STAMP | HAS_ANCHOR | (is_snapshot ? 0 : HAS_TEXT);
    bool is_object = take_object(&c, is_snapshot ? "label" : "text", &object);
    if (!is_object) {
        c.p = memchr(start + 1, '{', (size_t)(end - start - 1));
        c.p = c.p ? c.p : end;
    }
    *rest = (struct view){ c.p, (size_t)(end - c.p) };
    if (!is_object || (object.has & needed) != needed)
        return ERR_DAMAGED;
    buf_clear(text);
    int r = unescape(object.text, text);
    if (r < 0)
        return r;
    *ret = object.moment;
    ret->text = (struct view){ text->p, text->n };
    return 1;
}
