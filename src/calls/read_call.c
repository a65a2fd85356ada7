/* SPDX-License-Identifier: MIT */
/* read_call.c -- one call whole: its lines once more, and bodies told by others. */
#include <errno.h>
#include <unistd.h>

#include "calls/delta.h"
#include "calls/read_priv.h"

enum { CHAIN_MAX = 4096 }; /* bodies told one by the other */

/* -- a line -- */

static int
pread_all(int fd, uint8_t *p, size_t n, uint64_t at)
{
    while (n) {
        ssize_t got = pread(fd, p, n, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? -errno : ERR_DAMAGED;
        p += got;
        at += (uint64_t)got;
        n -= (size_t)got;
    }
    return 0;
}

/* Once more, as it was indexed: what has become another one meanwhile is damaged. */
static int
read_line(struct calls *c, struct place place, enum calls_type type, uint64_t call,
          struct buf *texts, struct calls_header *headers, struct calls_line *ret)
{
    buf_clear(&c->line);
    texts->ceiling = CALLS_LINE_MAX;
    uint8_t *p = buf_grow(&c->line, place.n);
    int r = p ? pread_all(c->fd, p, place.n, place.at) : c->line.failed;
    if (!r)
        r = calls_line_get((struct view){ p, place.n }, texts, headers, ret);
    return r < 0 ? r : ret->type == type && ret->call == call ? 0 : ERR_DAMAGED;
}

/* -- a request's body -- */

static struct known_body *
find_known(struct calls *c, uint64_t call)
{
    for (size_t i = 0; i < READ_KNOWN; i++)
        if (c->known[i].call == call)
            return &c->known[i];
    return NULL;
}

/* A place for one that is made now: that of the one that was not used for the longest
 * time. */
static struct known_body *
take_place(struct calls *c)
{
    struct known_body *found = &c->known[0];
    for (size_t i = 1; i < READ_KNOWN; i++)
        if (c->known[i].used < found->used)
            found = &c->known[i];
    found->call = 0;
    found->is_whole = true;
    found->body.ceiling = CALLS_ALL_MAX;
    buf_clear(&found->body);
    return found;
}

static const struct place *
pieces_of(const struct call *call, size_t *ret_count)
{
    *ret_count = call->request_body.n / sizeof(struct place);
    return (const void *)call->request_body.p;
}

/* Its pieces, one behind the other. */
static int
join_pieces(struct calls *c, const struct call *call, struct known_body *k)
{
    size_t count;
    const struct place *pieces = pieces_of(call, &count);
    struct calls_line l;
    bool is_last = false;
    int r = 0;
    for (size_t i = 0; i < count && !r; i++) {
        int got = read_line(c, pieces[i], CALLS_REQUEST_BODY, call->facts.number,
                            &c->texts, c->headers, &l);
        if (got == -ENOMEM)
            return got;
        k->is_whole &= !got && !l.base;
        is_last = !got && l.is_last;
        if (!got)
            r = buf_append(&k->body, l.bytes.p, l.bytes.n);
    }
    k->is_whole &= is_last || !count;
    return r;
}

/* Told by what `base` says, which may be k itself. */
static int
apply(struct calls *c, const struct call *call, const struct known_body *base,
      struct known_body *k)
{
    AUTO(buf) made = { .ceiling = CALLS_BODY_MAX };
    size_t count;
    struct calls_line l;
    int r = read_line(c, pieces_of(call, &count)[0], CALLS_REQUEST_BODY,
                      call->facts.number, &c->texts, c->headers, &l);
    if (!r)
        r = calls_delta_apply((struct view){ base->body.p, base->body.n }, l.ops,
                              CALLS_BODY_MAX, &made);
    k->is_whole = !r && base->is_whole;
    if (r == -ENOMEM)
        return r;
    if (r < 0)
        buf_clear(&made);
    struct buf old = k->body;
    k->body = made;
    made = old;
    return 0;
}

/* The number of the call that it is told by; 0: by none. */
static int
base_of(struct calls *c, const struct call *call, uint64_t *ret)
{
    size_t count;
    const struct place *pieces = pieces_of(call, &count);
    struct calls_line l;
    *ret = 0;
    if (count != 1)
        return 0;
    int r = read_line(c, pieces[0], CALLS_REQUEST_BODY, call->facts.number, &c->texts,
                      c->headers, &l);
    *ret = r < 0 ? 0 : l.base;
    return r == -ENOMEM ? r : 0;
}

/* The calls that it goes back to, itself first, up to one that is known or is told by
 * none; only earlier ones, so that it comes to an end. */
static int
find_chain(struct calls *c, const struct call *call, struct buf *chain)
{
    while (call && chain->n / sizeof(call) < CHAIN_MAX) {
        uint64_t base = 0, number = call->facts.number;
        const void *p = &call;
        int r = buf_append(chain, p, sizeof(call));
        if (!r)
            r = base_of(c, call, &base);
        if (r < 0)
            return r;
        bool is_last = !base || base >= number || find_known(c, number);
        call = is_last ? NULL : calls_by_number(c, base);
    }
    return 0;
}

/* The body at the end of the chain, which is told by none. */
static int
make_first(struct calls *c, const struct call *call, struct known_body **ret)
{
    struct known_body *k = find_known(c, call->facts.number);
    int r = 0;
    if (!k) {
        k = take_place(c);
        r = join_pieces(c, call, k);
        k->call = r < 0 ? 0 : call->facts.number;
    }
    k->used = ++c->uses;
    *ret = k;
    return r;
}

static int
make_body(struct calls *c, const struct call *call, struct known_body **ret)
{
    AUTO(buf) chain = { 0 };
    struct known_body *base, *k = NULL;
    int r = find_chain(c, call, &chain);
    if (r < 0)
        return r;
    const struct call *const *each = (const void *)chain.p;
    size_t n = chain.n / sizeof(*each);
    r = make_first(c, each[n - 1], &base);
    for (size_t i = n - 1; i-- > 0 && !r; base = k) {
        k = k ? k : take_place(c);
        r = apply(c, each[i], base, k);
    }
    if (r < 0)
        return r;
    base->call = call->facts.number;
    base->used = ++c->uses;
    *ret = base;
    return 0;
}

/* -- a reply -- */

static int
join_body(struct calls *c, const struct call *call, bool *ret_is_whole)
{
    const struct place *pieces = (const void *)call->body.p;
    struct calls_line l;
    bool is_last = !call->body.n;
    *ret_is_whole = true;
    for (size_t i = 0; i < call->body.n / sizeof(*pieces); i++) {
        int r = read_line(c, pieces[i], CALLS_BODY, call->facts.number, &c->texts,
                          c->headers, &l);
        if (!r)
            r = buf_append(&c->reply, l.bytes.p, l.bytes.n);
        if (r < 0 && r != ERR_DAMAGED)
            return r;
        *ret_is_whole &= !r;
        is_last = !r && l.is_last;
    }
    *ret_is_whole &= is_last;
    return 0;
}

static int
join_events(struct calls *c, const struct call *call, bool *ret_is_whole)
{
    const struct event_place *each = (const void *)call->events.p;
    size_t n = call->events.n / sizeof(*each);
    struct calls_line l;
    *ret_is_whole = true;
    for (size_t i = 0; i < n; i++) {
        int r = read_line(c, each[i].place, CALLS_EVENT, call->facts.number, &c->texts,
                          c->headers, &l);
        *ret_is_whole &= !r && each[i].number == i;
        if (r == ERR_DAMAGED)
            continue;
        /* Where it begins, until all are there. */
        struct calls_event e = { l.ts_ns, l.anchor_byte, { NULL, l.bytes.n } };
        if (!r)
            r = buf_append(&c->reply, l.bytes.p, l.bytes.n);
        if (!r)
            r = buf_append(&c->events, &e, sizeof(e));
        if (r < 0)
            return r;
    }
    struct calls_event *events = (void *)c->events.p;
    const uint8_t *at = c->reply.p;
    for (size_t i = 0; i < c->events.n / sizeof(*events); at += events[i++].bytes.n)
        events[i].bytes.p = at;
    return 0;
}

/* -- all of it -- */

static int
read_heads(struct calls *c, const struct call *call, struct calls_whole *w)
{
    struct calls_line l;
    int r = 0;
    if (call->request.n)
        r = read_line(c, call->request, CALLS_REQUEST, call->facts.number,
                      &c->request_texts, c->request_headers, &l);
    if (call->request.n && !r)
        w->request_header_count = l.header_count;
    if (r == -ENOMEM)
        return r;
    r = 0;
    if (call->reply.n)
        r = read_line(c, call->reply, CALLS_REPLY, call->facts.number, &c->reply_texts,
                      c->reply_headers, &l);
    if (call->reply.n && !r)
        w->reply_header_count = l.header_count;
    w->request_headers = c->request_headers;
    w->reply_headers = c->reply_headers;
    return r == -ENOMEM ? r : 0;
}

int
calls_get(struct calls *c, size_t i, struct calls_whole *ret, struct err *err)
{
    const struct call *call = &c->all[i];
    struct calls_whole w = { .facts = &call->facts };
    struct known_body *k = NULL;
    buf_clear(&c->reply);
    buf_clear(&c->events);
    int r = read_heads(c, call, &w);
    if (!r)
        r = make_body(c, call, &k);
    if (!r)
        r = call->facts.is_stream ? join_events(c, call, &w.is_reply_whole)
                                  : join_body(c, call, &w.is_reply_whole);
    if (r < 0)
        return err_code(err, r, "cannot read call %llu",
                        (unsigned long long)call->facts.number);
    w.request = (struct view){ k->body.p, k->body.n };
    w.is_request_whole = k->is_whole && call->request.n;
    w.reply = (struct view){ c->reply.p, c->reply.n };
    w.events = (const void *)c->events.p;
    w.event_count = c->events.n / sizeof(struct calls_event);
    *ret = w;
    return 0;
}
