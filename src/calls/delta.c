/* SPDX-License-Identifier: MIT */
/*
 * delta.c -- a text told by another one.
 *
 * What both begin and end with is copied. Between them pieces of the base are looked for
 * by a hash that rolls over the target: a conversation from which something was taken
 * out, or in which a marker has moved, is still told in a few ops.
 */
#include "calls/delta.h"

#include <errno.h>
#include <stdbool.h>

#include "base/json.h"
#include "base/json_in.h"
#include "base/num.h"

enum {
    BLOCK = 32,          /* bytes of the base that have one hash */
    COPY_MIN = 24,       /* a shorter copy takes as much as its bytes */
    SLOTS_MAX = 1 << 20, /* of the table of hashes */
    NUMBER_DIGITS_MAX = 20,
};

static const uint64_t FACTOR = UINT64_C(0x9e3779b97f4a7c15);

/* -- ops, out -- */

struct ops {
    struct json json;
    struct view base, target;
    size_t done;  /* of the target is told by ops … */
    size_t from;  /* … and so is what lies from there to `done` by a copy, */
    size_t start; /* which begins here in the base, and is not written yet */
};

static bool
is_inside(struct view text, size_t i)
{
    return i < text.n && (text.p[i] & 0xc0) == 0x80;
}

static void
put_copy(struct ops *o)
{
    if (o->from == o->done)
        return;
    json_open(&o->json, '[');
    json_u64(&o->json, o->start);
    json_u64(&o->json, o->done - o->from);
    json_close(&o->json, ']');
    o->from = o->done;
}

static void
put_new(struct ops *o, size_t end)
{
    if (end == o->done)
        return;
    put_copy(o);
    json_bytes(&o->json, (struct view){ o->target.p + o->done, end - o->done });
    o->done = o->from = end;
}

/* The target's bytes from `at` on are those of the base from `start` on. */
static void
copy(struct ops *o, size_t start, size_t at, size_t n)
{
    while (n && is_inside(o->target, at))
        at++, start++, n--;
    while (n && is_inside(o->target, at + n))
        n--;
    if (n < COPY_MIN)
        return;
    put_new(o, at);
    if (o->from < o->done && o->start + (o->done - o->from) == start) {
        o->done += n; /* they are one */
        return;
    }
    put_copy(o);
    o->start = start;
    o->from = at;
    o->done = at + n;
}

/* -- pieces in common -- */

/* What is empty has an address, too. */
static struct view
placed(struct view v)
{
    return v.n ? v : (struct view){ (const uint8_t *)"", 0 };
}

static size_t
common_suffix(struct view a, struct view b)
{
    size_t most = a.n < b.n ? a.n : b.n, n = 0;
    while (most - n >= 64 && !memcmp(a.p + a.n - n - 64, b.p + b.n - n - 64, 64))
        n += 64;
    while (n < most && a.p[a.n - n - 1] == b.p[b.n - n - 1])
        n++;
    return n;
}

/* Where in the base a hash was met, + 1; the first one stays. */
struct table {
    uint32_t *slots;
    size_t mask;
    uint64_t out; /* FACTOR to the power of BLOCK */
};

static uint64_t
hash_block(const uint8_t *p)
{
    uint64_t h = 0;
    for (size_t i = 0; i < BLOCK; i++)
        h = h * FACTOR + p[i] + 1;
    return h;
}

static uint32_t *
slot(const struct table *t, uint64_t hash)
{
    return &t->slots[(hash * FACTOR >> 40) & t->mask];
}

static int
make_table(struct table *t, struct view base)
{
    size_t wanted = base.n / BLOCK * 2, n = 64;
    while (n < wanted && n < SLOTS_MAX)
        n *= 2;
    t->slots = calloc(n, sizeof(*t->slots));
    if (!t->slots)
        return -ENOMEM;
    t->mask = n - 1;
    t->out = 1;
    for (size_t i = 0; i < BLOCK; i++)
        t->out *= FACTOR;
    for (size_t at = 0; at + BLOCK <= base.n; at += BLOCK) {
        uint32_t *s = slot(t, hash_block(base.p + at));
        if (!*s)
            *s = (uint32_t)at + 1;
    }
    return 0;
}

/* The base's block at `start` may be what stands at `at`, before `end`: as far as they
 * are the same in both directions. Returns behind it. */
static size_t
take_match(struct ops *o, size_t start, size_t at, size_t end)
{
    struct view base = o->base, target = o->target;
    if (memcmp(base.p + start, target.p + at, BLOCK) != 0)
        return at;
    size_t before = 0, most = at - o->done < start ? at - o->done : start;
    while (before < most && base.p[start - before - 1] == target.p[at - before - 1])
        before++;
    start -= before;
    at -= before;
    size_t n = view_common((struct view){ base.p + start, base.n - start },
                           (struct view){ target.p + at, end - at });
    copy(o, start, at, n);
    return at + n;
}

/* What lies between is looked for piece by piece. */
static int
match_middle(struct ops *o, size_t end)
{
    struct table t = { 0 };
    size_t at = o->done;
    if (o->base.n < BLOCK || o->base.n >= UINT32_MAX || end - at < BLOCK)
        return 0;
    int r = make_table(&t, o->base);
    if (r < 0)
        return r;
    const uint8_t *p = o->target.p;
    for (uint64_t h = hash_block(p + at); at + BLOCK <= end;) {
        uint32_t found = *slot(&t, h);
        size_t next = found ? take_match(o, found - 1, at, end) : at;
        if (next == at) {
            if (at + BLOCK == end)
                break;
            h = h * FACTOR + p[at + BLOCK] + 1 - (p[at] + UINT64_C(1)) * t.out;
            at++;
        } else if (next + BLOCK <= end) {
            h = hash_block(p + next);
            at = next;
        } else {
            break;
        }
    }
    free(t.slots);
    return 0;
}

int
calls_delta_make(struct view base, struct view target, struct buf *out)
{
    base = placed(base);
    target = placed(target);
    struct ops o = { .json.out = out, .base = base, .target = target };
    json_open(&o.json, '[');
    size_t prefix = view_common(base, target);
    copy(&o, 0, 0, prefix);
    struct view rest = { target.p + o.done, target.n - o.done };
    struct view rest_base = { base.p + prefix, base.n - prefix };
    size_t suffix = common_suffix(rest_base, rest);
    int r = match_middle(&o, target.n - suffix);
    if (r < 0)
        return r;
    copy(&o, base.n - suffix, target.n - suffix, suffix);
    put_new(&o, target.n);
    put_copy(&o);
    json_close(&o.json, ']');
    return out->failed;
}

/* -- ops, in -- */

static bool
take_number(struct json_in *in, uint64_t *ret)
{
    struct view digits;
    return json_in_number(in, &digits) && digits.n <= NUMBER_DIGITS_MAX &&
           num_parse(digits, UINT64_MAX, ret) == 0;
}

/* Behind its bracket. */
static bool
take_place(struct json_in *in, uint64_t *ret_start, uint64_t *ret_n)
{
    bool is_first = true;
    return json_in_each(in, ']', &is_first) && take_number(in, ret_start) &&
           json_in_each(in, ']', &is_first) && take_number(in, ret_n) &&
           !json_in_each(in, ']', &is_first) && !in->failed;
}

static bool
take_copy(struct json_in *in, struct view base, struct view *ret)
{
    uint64_t start, n;
    if (!take_place(in, &start, &n) || start > base.n || n > base.n - start)
        return false;
    *ret = (struct view){ n ? base.p + start : NULL, n };
    return true;
}

static int
apply_one(struct json_in *in, struct view base, size_t left, struct buf *out)
{
    struct view piece;
    size_t before = out->n;
    if (json_in_take(in, '[')) {
        if (!take_copy(in, base, &piece) || piece.n > left)
            return ERR_DAMAGED;
        return buf_append(out, piece.p, piece.n);
    }
    if (json_in_peek(in) != '"' || !json_in_str(in, out) || out->n - before > left)
        return out->failed == -ENOMEM ? -ENOMEM : ERR_DAMAGED;
    return out->failed;
}

size_t
calls_delta_copied(struct view ops)
{
    struct json_in in = { .p = ops.p, .end = ops.p + ops.n };
    uint64_t start, n, all = 0;
    bool is_first = true;
    if (!ops.n || !json_in_take(&in, '['))
        return 0;
    while (json_in_each(&in, ']', &is_first)) {
        bool is_copy = json_in_take(&in, '[');
        n = 0;
        if (is_copy ? !take_place(&in, &start, &n) : !json_in_skip(&in))
            break;
        all += n;
    }
    return (size_t)all;
}

size_t
calls_delta_first(struct view ops)
{
    struct json_in in = { .p = ops.p, .end = ops.p + ops.n };
    uint64_t start, n;
    bool is_copy = ops.n && json_in_take(&in, '[') && json_in_take(&in, '[') &&
                   take_place(&in, &start, &n);
    return is_copy && !start ? (size_t)n : 0;
}

int
calls_delta_apply(struct view base, struct view ops, size_t max, struct buf *out)
{
    ops = placed(ops);
    struct json_in in = { .p = ops.p, .end = ops.p + ops.n };
    bool is_first = true;
    size_t start = out->n;
    int r = json_in_take(&in, '[') ? 0 : ERR_DAMAGED;
    while (!r && json_in_each(&in, ']', &is_first))
        r = apply_one(&in, base, max - (out->n - start), out);
    if (!r && (in.failed || json_in_peek(&in) || in.p < in.end))
        r = ERR_DAMAGED;
    return r;
}
