/* SPDX-License-Identifier: MIT */
#include "calls/bases.h"

#include <errno.h>
#include <stdbool.h>

#include "base/utf8.h"
#include "calls/delta.h"
#include "calls/read.h"

enum {
    BASES_MAX = 32,
    ALIKE_MIN = 64, /* bytes that two begin alike with, or nothing is looked for */
    CHAIN_MAX = 64, /* bodies told one by the other, in a row */
};

struct base {
    uint64_t call; /* 0: none */
    uint64_t used; /* the latest is the highest */
    struct buf kind, body;
    unsigned chain;    /* so many before it are needed */
    size_t told_bytes; /* … and so much was written since a whole one */
};

struct calls_bases {
    struct base each[BASES_MAX];
    size_t max_bytes, bytes;
    uint64_t uses;
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
    *one = (struct base){ 0 };
}

void
calls_bases_forget(struct calls_bases *b)
{
    for (size_t i = 0; i < BASES_MAX; i++)
        forget(b, &b->each[i]);
}

void
calls_bases_free(struct calls_bases *b)
{
    if (b)
        calls_bases_forget(b);
    free(b);
}

/* The one that begins most like it; of several the latest. Of calls made at the same time
 * a later one may be told first: readers go back to earlier calls only. */
static struct base *
find(struct calls_bases *b, uint64_t call, struct view kind, struct view body)
{
    struct base *best = NULL;
    size_t best_n = ALIKE_MIN;
    for (size_t i = 0; i < BASES_MAX; i++) {
        struct base *one = &b->each[i];
        if (!one->call || one->call >= call || one->kind.n != kind.n ||
            (kind.n && memcmp(one->kind.p, kind.p, kind.n) != 0))
            continue;
        size_t n = calls_delta_common((struct view){ one->body.p, one->body.n }, body);
        if (n > best_n || (n == best_n && best && one->used > best->used)) {
            best = one;
            best_n = n;
        }
    }
    return best;
}

/* The one that was not used for the longest time. */
static struct base *
oldest(struct calls_bases *b)
{
    struct base *found = NULL;
    for (size_t i = 0; i < BASES_MAX; i++)
        if (b->each[i].call && (!found || b->each[i].used < found->used))
            found = &b->each[i];
    return found;
}

static struct base *
make_room(struct calls_bases *b, size_t bytes)
{
    while (b->bytes > b->max_bytes - bytes)
        forget(b, oldest(b));
    for (size_t i = 0; i < BASES_MAX; i++)
        if (!b->each[i].call)
            return &b->each[i];
    struct base *found = oldest(b);
    forget(b, found);
    return found;
}

static int
keep(struct calls_bases *b, const struct base *facts, struct view kind, struct view body)
{
    if (body.n > b->max_bytes / 2)
        return 0;
    struct base *one = make_room(b, body.n);
    one->body.ceiling = body.n + 1;
    int r = buf_append(&one->kind, kind.p, kind.n);
    if (!r)
        r = buf_append(&one->body, body.p, body.n);
    if (r < 0) {
        one->body.n = 0;
        forget(b, one);
        return r;
    }
    buf_shrink(&one->body);
    one->call = facts->call;
    one->chain = facts->chain;
    one->told_bytes = facts->told_bytes;
    one->used = ++b->uses;
    b->bytes += body.n;
    return 0;
}

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

int
calls_bases_tell(struct calls_bases *b, struct calls_line *l, struct view kind,
                 struct view body, struct buf *ret_ops)
{
    struct base facts = { .call = l->call };
    l->base = 0;
    l->bytes = body;
    if (body.n <= ALIKE_MIN || body.n > CALLS_BODY_MAX || !utf8_is_text(body.p, body.n))
        return 0;
    struct base *base = find(b, l->call, kind, body);
    int r = base ? tell_by(b, base, l, body, ret_ops, &facts) : 0;
    return r < 0 ? r : keep(b, &facts, kind, body);
}
