/* SPDX-License-Identifier: MIT */
/*
 * match_difference.c -- where two requests first differ.
 *
 * Both normal forms are gone through side by side: what is the same in them is passed
 * over, and the walk ends with the first thing that is not. Since members stand in order,
 * one that is missing is found by its key. Two objects of another kind are told apart by
 * that, and not by what else they have.
 */
#include "base/json_in.h"
#include "calls/match.h"
#include "calls/match_priv.h"
#include "turn/fields.h"

enum {
    KEY_BYTES = 64,
    PATH_BYTES = 240,
    PATH_HEAD_BYTES = 80, /* of a longer one */
    KINDS_DEPTH = 16,     /* deeper objects are looked at member by member alone */
};

/* A value of the normal form, from its beginning. Nothing: there is none. */
static void
put_value(struct view json, struct buf *out)
{
    if (json.n)
        calls_show_around(json, 0, json.n, false, out);
    else
        buf_puts(out, "missing");
}

/* Is there a byte of a character that is not its first? */
static bool
is_inner(struct view v, size_t i)
{
    return i < v.n && (v.p[i] & 0xc0) == 0x80;
}

/* The first byte that is not the same, moved to where its character begins. */
static size_t
first_difference(struct view a, struct view b)
{
    size_t n = a.n < b.n ? a.n : b.n, i = 0;
    while (i < n && a.p[i] == b.p[i])
        i++;
    for (int k = 0; k < 3 && i && (is_inner(a, i) || is_inner(b, i)); k++)
        i--;
    return i;
}

/* Bytes that both end with, behind `at`. */
static size_t
same_at_end(struct view a, struct view b, size_t at)
{
    size_t n = (a.n < b.n ? a.n : b.n) - at, i = 0;
    while (i < n && a.p[a.n - 1 - i] == b.p[b.n - 1 - i])
        i++;
    return i;
}

static void
put_both(struct view a, struct view b, bool is_string, struct buf *out)
{
    size_t at = first_difference(a, b), same = same_at_end(a, b, at);
    buf_puts(out, "recorded ");
    calls_show_around(a, at, a.n - same, is_string, out);
    buf_puts(out, ", asked ");
    calls_show_around(b, at, b.n - same, is_string, out);
}

static bool
is_same(struct view a, struct view b)
{
    return a.n == b.n && (!a.n || !memcmp(a.p, b.p, a.n));
}

/* -- where -- */

static bool
is_plain_key(struct view key)
{
    for (size_t i = 0; i < key.n; i++)
        if (!calls_is_alnum(key.p[i]) && key.p[i] != '_' && key.p[i] != '-' &&
            key.p[i] != '$')
            return false;
    return key.n && key.n <= KEY_BYTES;
}

/* The key is as it stands in the normal form, without its quotes. */
static void
put_key(struct view key, struct buf *path)
{
    if (is_plain_key(key)) {
        buf_puts(path, path->n ? "." : "");
        buf_append(path, key.p, key.n);
        return;
    }
    buf_puts(path, "[\"");
    size_t end = calls_show(key, 0, false, KEY_BYTES, path);
    buf_puts(path, end < key.n ? CALLS_CUT_SHORT "\"]" : "\"]");
}

/* Of a long one its beginning and its end. */
static void
put_path(const struct buf *path, struct buf *out)
{
    struct view v = { path->p, path->n };
    if (!v.n) {
        buf_puts(out, "body");
    } else if (v.n <= PATH_BYTES) {
        buf_append(out, v.p, v.n);
    } else {
        size_t start = v.n - (PATH_BYTES - PATH_HEAD_BYTES);
        while (start < v.n && (v.p[start] & 0xc0) == 0x80)
            start++;
        calls_show(v, 0, false, PATH_HEAD_BYTES, out);
        buf_puts(out, CALLS_CUT_SHORT);
        buf_append(out, v.p + start, v.n - start);
    }
    buf_puts(out, ": ");
}

/* -- side by side -- */

struct pair {
    struct json_in a, b; /* recorded, asked */
    unsigned depth;
    struct buf path;
    struct buf text_a, text_b;
    struct buf *out;
};

/* Each says whether it has found a difference, and has told it then. */
static bool differ(struct pair *p);

static struct view
take_value(struct json_in *in)
{
    (void)json_in_peek(in);
    const uint8_t *start = in->p;
    (void)json_in_skip(in);
    return (struct view){ start, (size_t)(in->p - start) };
}

static bool
take_key(struct json_in *in, bool *is_first, struct view *ret)
{
    if (!json_in_each(in, '}', is_first))
        return false;
    *ret = take_value(in);
    return ret->n >= 2 && json_in_take(in, ':');
}

static bool
tell_values(struct pair *p, struct view a, struct view b)
{
    put_path(&p->path, p->out);
    buf_puts(p->out, "recorded ");
    put_value(a, p->out);
    buf_puts(p->out, ", asked ");
    put_value(b, p->out);
    return true;
}

/* The member of an object whose bracket was taken. Nothing: it has none. */
static struct view
find_member(struct json_in in, const char *name)
{
    bool is_first = true;
    for (struct view key; take_key(&in, &is_first, &key);) {
        if (turn_is(key, name))
            return take_value(&in);
        (void)json_in_skip(&in);
    }
    return (struct view){ 0 };
}

/* Does the kind of thing differ that they are, or what they are called? */
static bool
differ_kinds(struct pair *p)
{
    static const char *const names[] = { "role", "type", "name" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct view a = find_member(p->a, names[i]), b = find_member(p->b, names[i]);
        if (!a.n || !b.n || *a.p != '"' || *b.p != '"' || is_same(a, b))
            continue;
        put_key((struct view){ (const uint8_t *)names[i], strlen(names[i]) }, &p->path);
        p->a.p = a.p;
        p->b.p = b.p;
        return differ(p);
    }
    return false;
}

static bool
differ_objects(struct pair *p)
{
    bool is_first_a = true, is_first_b = true;
    struct view a = { 0 }, b = { 0 };
    size_t n = p->path.n;
    if (p->depth < KINDS_DEPTH && differ_kinds(p))
        return true;
    for (;;) {
        bool has_a = take_key(&p->a, &is_first_a, &a);
        bool has_b = take_key(&p->b, &is_first_b, &b);
        if (!has_a && !has_b)
            return false;
        int order = !has_a ? 1 : !has_b ? -1 : calls_json_compare_keys(a, b);
        struct view key = order > 0 ? b : a;
        put_key((struct view){ key.p + 1, key.n - 2 }, &p->path);
        if (order)
            return tell_values(p, order < 0 ? take_value(&p->a) : (struct view){ 0 },
                               order > 0 ? take_value(&p->b) : (struct view){ 0 });
        if (differ(p))
            return true;
        p->path.n = n;
    }
}

static void
put_ordinal(struct buf *out, uint64_t v)
{
    static const char *const ends[] = { "th", "st", "nd", "rd" };
    bool is_regular = v % 10 > 3 || (v % 100 > 10 && v % 100 < 14);
    buf_put_u64(out, v);
    buf_puts(out, ends[is_regular ? 0 : v % 10]);
}

/* The first `common` items are the same; the cursor stands behind what one of them has
 * more than the other has at all. */
static bool
tell_lengths(struct pair *p, size_t common, bool has_a)
{
    struct json_in *in = has_a ? &p->a : &p->b;
    struct view extra = take_value(in);
    bool is_first = false;
    size_t n = common + 1;
    for (; json_in_each(in, ']', &is_first); n++)
        (void)json_in_skip(in);
    put_path(&p->path, p->out);
    buf_puts(p->out, "recorded ");
    buf_put_u64(p->out, has_a ? n : common);
    buf_puts(p->out, (has_a ? n : common) == 1 ? " item, asked " : " items, asked ");
    buf_put_u64(p->out, has_a ? common : n);
    buf_puts(p->out, "; the ");
    put_ordinal(p->out, common + 1);
    buf_puts(p->out, " is ");
    put_value(extra, p->out);
    return true;
}

static bool
differ_arrays(struct pair *p)
{
    bool is_first_a = true, is_first_b = true;
    size_t n = p->path.n;
    for (size_t i = 0;; i++) {
        bool has_a = json_in_each(&p->a, ']', &is_first_a);
        bool has_b = json_in_each(&p->b, ']', &is_first_b);
        if (has_a != has_b)
            return tell_lengths(p, i, has_a);
        if (!has_a)
            return false;
        buf_printf(&p->path, "[%zu]", i);
        if (differ(p))
            return true;
        p->path.n = n;
    }
}

static bool
differ_leaves(struct pair *p)
{
    struct view a = take_value(&p->a), b = take_value(&p->b);
    if (is_same(a, b))
        return false;
    bool is_string_a = *a.p == '"', is_string_b = *b.p == '"';
    if (is_string_a != is_string_b)
        return tell_values(p, a, b);
    put_path(&p->path, p->out);
    if (is_string_a)
        put_both(turn_text(a, &p->text_a), turn_text(b, &p->text_b), true, p->out);
    else
        put_both(a, b, false, p->out);
    return true;
}

static bool
is_same_kind(uint8_t a, uint8_t b)
{
    bool is_leaf_a = a != '{' && a != '[', is_leaf_b = b != '{' && b != '[';
    return a == b || (is_leaf_a && is_leaf_b);
}

static bool
differ(struct pair *p)
{
    uint8_t a = json_in_peek(&p->a), b = json_in_peek(&p->b);
    if (!is_same_kind(a, b)) {
        struct view was = take_value(&p->a);
        return tell_values(p, was, take_value(&p->b));
    }
    if (a != '{' && a != '[')
        return differ_leaves(p);
    p->a.p++;
    p->b.p++;
    p->depth++;
    bool is_told = a == '{' ? differ_objects(p) : differ_arrays(p);
    p->depth--;
    return is_told;
}

static bool
differ_json(struct view a, struct view b, struct buf *out)
{
    struct pair p = {
        .a = { .p = a.p, .end = a.p + a.n },
        .b = { .p = b.p, .end = b.p + b.n },
        .path = { .ceiling = SIZE_MAX },
        .text_a = { .ceiling = SIZE_MAX },
        .text_b = { .ceiling = SIZE_MAX },
        .out = out,
    };
    bool is_told = differ(&p);
    if (!out->failed && (p.path.failed || p.text_a.failed || p.text_b.failed))
        out->failed = p.path.failed     ? p.path.failed
                      : p.text_a.failed ? p.text_a.failed
                                        : p.text_b.failed;
    buf_release(&p.path);
    buf_release(&p.text_a);
    buf_release(&p.text_b);
    return is_told;
}

/* -- the whole -- */

/* A body as it is told: JSON as it stands, another text in quotes. */
static void
put_body(struct view body, bool is_json, struct buf *out)
{
    if (is_json || !body.n)
        put_value(body, out);
    else
        calls_show_around(body, 0, body.n, true, out);
}

static void
differ_bodies(struct view a, struct view b, struct buf *out)
{
    bool is_json_a = json_in_is_one(a), is_json_b = json_in_is_one(b);
    if (is_json_a && is_json_b && differ_json(a, b, out))
        return;
    buf_puts(out, "body: ");
    if (!is_json_a && !is_json_b && a.n && b.n) {
        put_both(a, b, true, out);
        return;
    }
    buf_puts(out, "recorded ");
    put_body(a, is_json_a, out);
    buf_puts(out, ", asked ");
    put_body(b, is_json_b, out);
}

/* Up to the next such byte, which goes with it. */
static struct view
take_part(struct view *rest, char end)
{
    const uint8_t *p = rest->n ? memchr(rest->p, end, rest->n) : NULL;
    size_t n = p ? (size_t)(p - rest->p) : rest->n, more = p ? 1 : 0;
    struct view v = { rest->p, n };
    *rest = (struct view){ rest->p + n + more, rest->n - n - more };
    return v;
}

static void
tell(struct view a, struct view b, struct buf *out)
{
    static const struct {
        const char *name;
        char end;
    } parts[] = { { "method: ", ' ' }, { "path: ", '\n' } };
    if (is_same(a, b))
        return;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        struct view part_a = take_part(&a, parts[i].end);
        struct view part_b = take_part(&b, parts[i].end);
        if (!is_same(part_a, part_b)) {
            buf_puts(out, parts[i].name);
            put_both(part_a, part_b, true, out);
            return;
        }
    }
    differ_bodies(a, b, out);
}

int
calls_match_difference(const struct calls_asked *recorded,
                       const struct calls_asked *asked, struct buf *out)
{
    AUTO(buf) a = { .ceiling = SIZE_MAX };
    AUTO(buf) b = { .ceiling = SIZE_MAX };
    size_t before = out->n;
    int r = calls_match_normal(recorded, &a);
    if (!r)
        r = calls_match_normal(asked, &b);
    if (r < 0)
        return r;
    tell((struct view){ a.p, a.n }, (struct view){ b.p, b.n }, out);
    if (out->failed)
        out->n = before;
    return out->failed;
}
