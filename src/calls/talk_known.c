/* SPDX-License-Identifier: MIT */
/*
 * talk_known.c -- how it was asked before.
 *
 * A request mostly goes on with one before it. Else that which has most of its events,
 * in their order, is what it was made of: some may have been left out, or replaced.
 */
#include <string.h>

#include "calls/talk_priv.h"
#include "turn/totals.h"

enum {
    ALIKE_MIN = 2,            /* events, of requests that begin otherwise */
    ALL_MAX = 1 << 20,        /* hashes of all requests */
    COMPARISONS_MAX = 1 << 24 /* for one request */
};

struct list {
    const uint64_t *v;
    size_t n;
};

static struct list
list_of(const struct buf *b)
{
    return (struct list){ (const void *)b->p, b->n / sizeof(uint64_t) };
}

void
talk_known_release(struct talk_known *k)
{
    for (size_t i = 0; i < TALK_KNOWN_MAX; i++)
        buf_release(&k->requests[i].hashes);
    buf_release(&k->trial);
    *k = (struct talk_known){ 0 };
}

static size_t
common(struct list a, struct list b)
{
    size_t n = 0;
    while (n < a.n && n < b.n && a.v[n] == b.v[n])
        n++;
    return n;
}

static bool
is_users(uint64_t hash)
{
    return hash & 1;
}

static bool
has_users(struct list l, size_t from)
{
    while (from < l.n && !is_users(l.v[from]))
        from++;
    return from < l.n;
}

/* Where in the known one, from `at` on, is this? SIZE_MAX: nowhere. */
static size_t
find(struct list known, size_t at, uint64_t hash, size_t *left)
{
    for (; at < known.n && *left; at++, --*left)
        if (known.v[at] == hash)
            return at;
    return SIZE_MAX;
}

/*
 * How many of these have one in the known one. What the user has asked last is not taken
 * for something that was asked long before: there they went back, and ask the same.
 */
static size_t
align(struct list known, struct list these, uint8_t *flags, size_t *left)
{
    size_t alike = common(known, these), at = alike, count = alike;
    if (!these.n)
        return 0;
    memset(flags, 1, alike);
    memset(flags + alike, 0, these.n - alike);
    size_t asked = SIZE_MAX, behind = 0;
    for (size_t i = alike; i < these.n; i++) {
        size_t found = find(known, at, these.v[i], left);
        if (found != SIZE_MAX) {
            flags[i] = 1;
            at = found + 1;
            count++;
        }
        if (is_users(these.v[i])) {
            asked = i;
            behind = at;
        }
    }
    if (asked == SIZE_MAX || !flags[asked] || !has_users(known, behind))
        return count;
    flags[asked] = 0;
    return count - 1;
}

/* That which begins most like this one; the latest of them. */
static struct talk_request *
find_begin(struct talk_known *k, enum turn_api api, struct list these, size_t *ret_alike)
{
    struct talk_request *best = NULL;
    *ret_alike = 0;
    for (size_t i = 0; i < TALK_KNOWN_MAX; i++) {
        struct talk_request *r = &k->requests[i];
        size_t n = r->api == api ? common(list_of(&r->hashes), these) : 0;
        if (n > *ret_alike || (n && n == *ret_alike && r->used > best->used)) {
            *ret_alike = n;
            best = r;
        }
    }
    return best;
}

/* What was found best until now. */
struct most {
    size_t n;
    uint64_t used;
    size_t left; /* comparisons that may be made */
};

static void
try_request(struct talk_known *k, const struct talk_request *r, struct list these,
            struct most *most, uint8_t *flags)
{
    size_t n = align(list_of(&r->hashes), these, k->trial.p, &most->left);
    if (n < most->n || (n == most->n && r->used < most->used))
        return;
    most->n = n;
    most->used = r->used;
    memcpy(flags, k->trial.p, these.n);
}

/* That which has most of it, the latest of them; that which begins most like it is looked
 * at before the others. */
static void
find_most(struct talk_known *k, enum turn_api api, const struct talk_request *first,
          struct list these, uint8_t *flags)
{
    struct most most = { .n = first ? 1 : ALIKE_MIN, .left = COMPARISONS_MAX };
    if (first)
        try_request(k, first, these, &most, flags);
    for (size_t i = 0; i < TALK_KNOWN_MAX; i++)
        if (k->requests[i].api == api && &k->requests[i] != first)
            try_request(k, &k->requests[i], these, &most, flags);
}

/* It was asked before, all of it, and answered, or even gone on from: what the user asks
 * at its end is asked once more. */
static void
ask_again(struct list these, uint8_t *flags)
{
    for (size_t i = these.n; i && is_users(these.v[i - 1]); i--)
        flags[i - 1] = 0;
}

/* -- remembering -- */

static void
forget_oldest(struct talk_known *k)
{
    struct talk_request *oldest = NULL;
    for (size_t i = 0; i < TALK_KNOWN_MAX; i++) {
        struct talk_request *r = &k->requests[i];
        if (r->hashes.n && (!oldest || r->used < oldest->used))
            oldest = r;
    }
    if (!oldest)
        return;
    buf_release(&oldest->hashes);
    *oldest = (struct talk_request){ 0 };
}

static struct talk_request *
find_free(struct talk_known *k)
{
    for (size_t i = 0; i < TALK_KNOWN_MAX; i++)
        if (k->requests[i].api == TURN_API_AUTO)
            return &k->requests[i];
    return NULL;
}

static size_t
count_all(const struct talk_known *k)
{
    size_t n = 0;
    for (size_t i = 0; i < TALK_KNOWN_MAX; i++)
        n += list_of(&k->requests[i].hashes).n;
    return n;
}

/* In place of the one that it goes on with, if there is one. */
static int
remember(struct talk_known *k, struct talk_request *from, enum turn_api api,
         const struct buf *hashes, uint64_t id)
{
    struct talk_request *r = from ? from : find_free(k);
    if (!r) {
        forget_oldest(k);
        r = find_free(k);
    }
    buf_clear(&r->hashes);
    while (count_all(k) && count_all(k) + list_of(hashes).n > ALL_MAX)
        forget_oldest(k);
    r->api = api;
    r->used = ++k->uses;
    r->id = id;
    r->is_answered = false;
    return buf_append(&r->hashes, hashes->p, hashes->n);
}

int
talk_known_match(struct talk_known *k, enum turn_api api, const struct buf *hashes,
                 struct buf *flags, uint64_t *ret_id)
{
    struct list these = list_of(hashes);
    size_t alike;
    buf_clear(flags);
    buf_clear(&k->trial);
    *ret_id = 0;
    if (!these.n)
        return 0;
    if (!buf_grow(flags, these.n) || !buf_grow(&k->trial, these.n))
        return flags->failed ? flags->failed : k->trial.failed;
    struct talk_request *from = find_begin(k, api, these, &alike);
    bool goes_on = from && alike == list_of(&from->hashes).n;
    memset(flags->p, 1, alike);
    memset(flags->p + alike, 0, these.n - alike);
    if (!goes_on && alike < these.n)
        find_most(k, api, from, these, flags->p);
    if (alike == these.n && (!goes_on || from->is_answered))
        ask_again(these, flags->p);
    *ret_id = turn_hash((struct view){ hashes->p, hashes->n }) | 1;
    return remember(k, goes_on ? from : NULL, api, hashes, *ret_id);
}

void
talk_known_answered(struct talk_known *k, uint64_t id)
{
    for (size_t i = 0; i < TALK_KNOWN_MAX; i++)
        if (k->requests[i].id == id)
            k->requests[i].is_answered = true;
}
