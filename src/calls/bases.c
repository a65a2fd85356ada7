/* SPDX-License-Identifier: MIT */
/*
 * bases.c -- which of the bodies that are kept a new one begins most like.
 *
 * With many conversations at a time there are many, which begin alike for long (what a
 * program tells each model first). So each has marks, hashes of all that lies before
 * them: two bodies are alike up to the last mark that they have in common, and only from
 * there on bytes are compared.
 */
#include "calls/bases.h"

#include <errno.h>
#include <stdbool.h>

#include "base/le.h"
#include "base/utf8.h"
#include "calls/delta.h"
#include "calls/read.h"

enum {
    BASES_MAX = 1024, /* as many conversations may go on at the same time */
    BASES_ROOM = 32,  /* at first */
    MARK = 4096,      /* bytes from one to the next; of eight each */
    ALIKE_MIN = 64,   /* bytes that two begin alike with, or nothing is looked for */
    OWN_MOST = 512,   /* bytes that are in no other one, of a body that is in another */
    CHAIN_MAX = 64,   /* bodies told one by the other, in a row */
};

struct base {
    uint64_t call; /* 0: none */
    uint64_t used; /* the latest is the highest */
    struct buf kind, body, marks;
    unsigned chain;    /* so many before it are needed */
    size_t told_bytes; /* … and so much was written since a whole one */
};

struct calls_bases {
    struct base *each;
    size_t room;
    size_t max_bytes, bytes;
    uint64_t uses;
    struct buf marks; /* scratch: of the body at hand */
};

int
calls_bases_new(struct calls_bases **ret, size_t max_bytes)
{
    struct calls_bases *b = calloc(1, sizeof(*b));
    if (!b)
        return -ENOMEM;
    b->max_bytes = max_bytes;
    *ret = b;
    return 0;
}

static void
forget(struct calls_bases *b, struct base *one)
{
    b->bytes -= one->body.n;
    buf_release(&one->kind);
    buf_release(&one->body);
    buf_release(&one->marks);
    *one = (struct base){ 0 };
}

void
calls_bases_forget(struct calls_bases *b)
{
    for (size_t i = 0; i < b->room; i++)
        forget(b, &b->each[i]);
}

void
calls_bases_free(struct calls_bases *b)
{
    if (!b)
        return;
    calls_bases_forget(b);
    free(b->each);
    buf_release(&b->marks);
    free(b);
}

/* -- which is most like it -- */

static int
put_marks(struct buf *marks, struct view body)
{
    uint64_t h = 1;
    buf_clear(marks);
    for (size_t at = 0; at + MARK <= body.n; at += MARK) {
        for (size_t i = 0; i < MARK; i += 8) {
            h = (h ^ get_le64(body.p + at + i)) * UINT64_C(0x9e3779b97f4a7c15);
            h ^= h >> 29;
        }
        buf_append(marks, &h, sizeof(h));
    }
    return marks->failed;
}

/* How many they have in common: where one is, those before it are. */
static size_t
common_marks(const struct buf *a, const struct buf *b)
{
    const uint64_t *x = (const void *)a->p, *y = (const void *)b->p;
    size_t low = 0, high = (a->n < b->n ? a->n : b->n) / sizeof(*x);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (x[middle] == y[middle])
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Calls are numbered as they come, but their bodies may take their time: a reader goes
 * back to earlier numbers alone. */
static bool
may_tell(const struct base *one, uint64_t call, struct view kind)
{
    return one->call && one->call < call && one->kind.n == kind.n &&
           (!kind.n || !memcmp(one->kind.p, kind.p, kind.n));
}

/* How many bytes they begin alike with, if that is not less than `least`; else fewer. */
static size_t
common(const struct calls_bases *b, const struct base *one, struct view body,
       size_t least)
{
    size_t at = common_marks(&one->marks, &b->marks) * MARK;
    if (at + MARK <= least)
        return at;
    return at + view_common((struct view){ one->body.p + at, one->body.n - at },
                            (struct view){ body.p + at, body.n - at });
}

/* The one that begins most like it; of several the latest. */
static struct base *
find(struct calls_bases *b, uint64_t call, struct view kind, struct view body)
{
    struct base *best = NULL;
    size_t best_n = ALIKE_MIN;
    for (size_t i = 0; i < b->room; i++) {
        struct base *one = &b->each[i];
        size_t n = may_tell(one, call, kind) ? common(b, one, body, best_n) : 0;
        if (n > best_n || (n == best_n && best && one->used > best->used)) {
            best = one;
            best_n = n;
        }
    }
    return best;
}

/* -- those that are kept -- */

/* The one that was not used for the longest time. */
static struct base *
oldest(struct calls_bases *b)
{
    struct base *found = NULL;
    for (size_t i = 0; i < b->room; i++)
        if (b->each[i].call && (!found || b->each[i].used < found->used))
            found = &b->each[i];
    return found;
}

static struct base *
find_free(struct calls_bases *b)
{
    for (size_t i = 0; i < b->room; i++)
        if (!b->each[i].call)
            return &b->each[i];
    return NULL;
}

/* Places for more; they need not be had. */
static void
grow(struct calls_bases *b)
{
    size_t room = b->room ? 2 * b->room : BASES_ROOM;
    struct base *more = b->room < BASES_MAX ? realloc(b->each, room * sizeof(*more))
                                            : NULL;
    if (!more)
        return;
    memset(more + b->room, 0, (room - b->room) * sizeof(*more));
    b->each = more;
    b->room = room;
}

static struct base *
make_room(struct calls_bases *b, size_t bytes)
{
    while (b->bytes > b->max_bytes - bytes)
        forget(b, oldest(b));
    struct base *found = find_free(b);
    if (!found)
        grow(b);
    found = found ? found : find_free(b);
    if (!found && (found = oldest(b)))
        forget(b, found);
    return found;
}

/* before: NULL, or the one that it stands for from now on. */
static int
keep(struct calls_bases *b, const struct base *facts, struct base *before,
     struct view kind, struct view body)
{
    if (body.n > b->max_bytes / 2)
        return 0;
    if (before)
        forget(b, before);
    struct base *one = make_room(b, body.n);
    if (!one)
        return -ENOMEM;
    one->body.ceiling = body.n + 1;
    int r = buf_append(&one->kind, kind.p, kind.n);
    if (!r)
        r = buf_append(&one->body, body.p, body.n);
    if (!r)
        r = buf_append(&one->marks, b->marks.p, b->marks.n);
    if (r < 0) {
        one->body.n = 0;
        forget(b, one);
        return r;
    }
    buf_shrink(&one->body);
    buf_shrink(&one->marks);
    one->call = facts->call;
    one->chain = facts->chain;
    one->told_bytes = facts->told_bytes;
    one->used = ++b->uses;
    b->bytes += body.n;
    return 0;
}

/* -- telling -- */

/* Now and then one is told whole, so that a damaged line costs no more than what comes
 * before the next whole one: when the ops since then have grown as large as it is. */
static bool
is_worth_it(const struct base *base, size_t ops, size_t body)
{
    return base->chain < CHAIN_MAX && ops < body - body / 4 &&
           base->told_bytes + ops < body;
}

/* What is to be known of it as a base itself goes to *facts. */
static int
tell_by(struct calls_bases *b, struct base *base, struct calls_line *l, struct view body,
        struct buf *ret_ops, struct base *facts)
{
    buf_clear(ret_ops);
    int r = calls_delta_make((struct view){ base->body.p, base->body.n }, body, ret_ops);
    if (r < 0 || !is_worth_it(base, ret_ops->n, body.n))
        return r == ERR_LIMIT ? 0 : r;
    base->used = ++b->uses;
    l->base = base->call;
    l->ops = (struct view){ ret_ops->p, ret_ops->n };
    facts->chain = base->chain + 1;
    facts->told_bytes = base->told_bytes + ret_ops->n;
    return 0;
}

/* Is it in the new one, too, but for some bytes? A conversation is kept once then,
 * however long it becomes. */
static bool
is_inside(const struct base *base, const struct buf *ops)
{
    return calls_delta_copied((struct view){ ops->p, ops->n }) + OWN_MOST >= base->body.n;
}

int
calls_bases_tell(struct calls_bases *b, struct calls_line *l, struct view kind,
                 struct view body, struct buf *ret_ops)
{
    struct base facts = { .call = l->call };
    l->base = 0;
    l->bytes = body;
    if (body.n <= ALIKE_MIN || body.n > CALLS_BODY_MAX || !utf8_is_text(body.p, body.n))
        return 0;
    int r = put_marks(&b->marks, body);
    if (r < 0)
        return r;
    struct base *base = find(b, l->call, kind, body);
    if (base)
        r = tell_by(b, base, l, body, ret_ops, &facts);
    if (r < 0)
        return r;
    if (base && !is_inside(base, ret_ops))
        base = NULL;
    return keep(b, &facts, base, kind, body);
}
