/* SPDX-License-Identifier: MIT */
/* read_call.c -- one call whole: its lines once more, and bodies told by others. */
#include <errno.h>
#include <strings.h>
#include <unistd.h>

#include "calls/delta.h"
#include "calls/read_priv.h"

enum { CHAIN_MAX = 128 }; /* bodies told one by the other; bases.c makes less */

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
    int r = p ? pread_all(c->fd, p, place.n, place.at) : -ENOMEM;
    if (r < 0)
        return r;
    r = calls_line_get((struct view){ p, place.n }, texts, headers, ret);
    if (r < 0)
        return r;
    return ret->type == type && ret->call == call ? 0 : ERR_DAMAGED;
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
    found->call = found->base = 0;
    found->is_whole = true;
    found->alike = 0;
    found->body.ceiling = CALLS_ALL_MAX;
    buf_clear(&found->body);
    return found;
}

static const struct piece_place *
pieces_of(const struct buf *pieces, size_t *ret_count)
{
    *ret_count = pieces->n / sizeof(struct piece_place);
    return (const void *)pieces->p;
}

/* Its pieces, one behind the other. */
static int
join_pieces(struct calls *c, const struct call *call, struct known_body *k)
{
    size_t count;
    const struct piece_place *pieces = pieces_of(&call->request_body, &count);
    struct calls_line l;
    bool is_last = !count;
    for (size_t i = 0; i < count; i++) {
        int r = read_line(c, pieces[i].place, CALLS_REQUEST_BODY, call->facts.number,
                          &c->texts, c->headers, &l);
        is_last = !r && l.is_last;
        k->is_whole &= !r && !l.base && pieces[i].number == i;
        if (!r)
            r = buf_append(&k->body, l.bytes.p, l.bytes.n);
        if (r < 0 && r != ERR_DAMAGED)
            return r;
    }
    k->is_whole &= is_last;
    return 0;
}

/* Told by what `base` says, which may be k itself. */
static int
apply(struct calls *c, const struct call *call, const struct known_body *base,
      struct known_body *k)
{
    size_t count;
    struct calls_line l;
    buf_clear(&c->made);
    c->made.ceiling = CALLS_BODY_MAX;
    int r = read_line(c, pieces_of(&call->request_body, &count)[0].place,
                      CALLS_REQUEST_BODY, call->facts.number, &c->texts, c->headers, &l);
    if (!r)
        r = calls_delta_apply((struct view){ base->body.p, base->body.n }, l.ops,
                              CALLS_BODY_MAX, &c->made);
    if (r == -ENOMEM)
        return r;
    k->is_whole = !r && l.is_last && base->is_whole;
    k->base = r < 0 ? 0 : l.base;
    k->alike = r < 0 ? 0 : calls_delta_first(l.ops);
    if (r < 0)
        buf_clear(&c->made);
    struct buf old = k->body;
    k->body = c->made;
    c->made = old;
    return 0;
}

/* The number of the call that it is told by; 0: by none. */
static int
base_of(struct calls *c, const struct call *call, uint64_t *ret)
{
    size_t count;
    const struct piece_place *pieces = pieces_of(&call->request_body, &count);
    struct calls_line l;
    *ret = 0;
    if (count != 1)
        return 0;
    int r = read_line(c, pieces[0].place, CALLS_REQUEST_BODY, call->facts.number,
                      &c->texts, c->headers, &l);
    *ret = r < 0 ? 0 : l.base;
    return r == -ENOMEM ? r : 0;
}

/* The calls that it goes back to, itself first, up to one that is known or is told by
 * none; only earlier ones, so that it comes to an end. */
static int
find_chain(struct calls *c, const struct call *call, struct buf *chain)
{
    do {
        uint64_t base = 0, number = call->facts.number;
        const void *p = &call;
        int r = buf_append(chain, p, sizeof(call));
        if (!r && !find_known(c, number))
            r = base_of(c, call, &base);
        if (r < 0)
            return r;
        bool is_last = !base || base >= number;
        call = is_last ? NULL : calls_by_number(c, base);
    } while (call && chain->n / sizeof(call) < CHAIN_MAX);
    return 0;
}

/* What is not whole is made again when it is needed: what was missing of it may have been
 * the rest of a chain that is too long. */
static void
remember(struct calls *c, struct known_body *k, uint64_t number)
{
    k->call = k->is_whole ? number : 0;
    k->used = ++c->uses;
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
    }
    if (!r)
        remember(c, k, call->facts.number);
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
    remember(c, base, call->facts.number);
    *ret = base;
    return 0;
}

/* -- a reply -- */

/* Where it begins in memory is known when all are there. */
static int
put_part(struct calls *c, const struct piece_place *place, struct view bytes)
{
    struct calls_event e = { place->ts_ns, place->anchor_byte, { NULL, bytes.n } };
    int r = buf_append(&c->reply, bytes.p, bytes.n);
    return r < 0 ? r : buf_append(&c->events, &e, sizeof(e));
}

static int
join_body(struct calls *c, const struct call *call, bool *ret_is_whole)
{
    size_t count;
    const struct piece_place *pieces = pieces_of(&call->body, &count);
    struct calls_line l;
    bool is_last = !count;
    *ret_is_whole = true;
    for (size_t i = 0; i < count; i++) {
        int r = read_line(c, pieces[i].place, CALLS_BODY, call->facts.number, &c->texts,
                          c->headers, &l);
        is_last = !r && l.is_last;
        *ret_is_whole &= !r && pieces[i].number == i;
        if (!r)
            r = put_part(c, &pieces[i], l.bytes);
        if (r < 0 && r != ERR_DAMAGED)
            return r;
    }
    *ret_is_whole &= is_last;
    return 0;
}

static int
join_events(struct calls *c, const struct call *call, bool *ret_is_whole)
{
    size_t count;
    const struct piece_place *each = pieces_of(&call->events, &count);
    struct calls_line l;
    *ret_is_whole = call->facts.has_end &&
                    (call->events_told == CALLS_NONE || call->events_told == count);
    for (size_t i = 0; i < count; i++) {
        int r = read_line(c, each[i].place, CALLS_EVENT, call->facts.number, &c->texts,
                          c->headers, &l);
        *ret_is_whole &= !r && each[i].number == i;
        if (!r)
            r = put_part(c, &each[i], l.bytes);
        if (r < 0 && r != ERR_DAMAGED)
            return r;
    }
    return 0;
}

static int
join_reply(struct calls *c, const struct call *call, struct calls_whole *ret)
{
    buf_clear(&c->reply);
    buf_clear(&c->events);
    int r = call->facts.is_stream ? join_events(c, call, &ret->is_reply_whole)
                                  : join_body(c, call, &ret->is_reply_whole);
    struct calls_event *parts = (void *)c->events.p;
    size_t at = 0, n = c->events.n / sizeof(*parts);
    for (size_t i = 0; i < n; i++) {
        parts[i].bytes.p = parts[i].bytes.n ? c->reply.p + at : NULL;
        at += parts[i].bytes.n;
    }
    ret->reply = (struct view){ c->reply.p, c->reply.n };
    ret->events = parts;
    ret->event_count = n;
    return r;
}

int
calls_event(struct calls *c, size_t i, uint64_t number, struct calls_event *ret)
{
    const struct call *call = &c->all[i];
    size_t low = 0, high;
    const struct piece_place *each = pieces_of(&call->events, &high);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (each[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == call->events.n / sizeof(*each) || each[low].number != number)
        return ERR_DAMAGED;
    struct calls_line l;
    int r = read_line(c, each[low].place, CALLS_EVENT, call->facts.number, &c->texts,
                      c->headers, &l);
    if (!r)
        *ret = (struct calls_event){ each[low].ts_ns, each[low].anchor_byte, l.bytes };
    return r;
}

/* -- heads -- */

static bool
is_name(struct view name, const char *word)
{
    return name.n == strlen(word) && !strncasecmp((const char *)name.p, word, name.n);
}

/* Do they say that there is a body? */
static bool
has_body(const struct calls_header *headers, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct view value = headers[i].value;
        if (is_name(headers[i].name, "transfer-encoding"))
            return true;
        for (size_t k = 0; k < value.n && is_name(headers[i].name, "content-length"); k++)
            if (value.p[k] >= '1' && value.p[k] <= '9')
                return true;
    }
    return false;
}

static bool
lacks_request_body(const struct call *call, const struct calls_whole *w)
{
    return !call->request_body.n &&
           ((call->facts.sent != CALLS_NONE && call->facts.sent) ||
            has_body(w->request_headers, w->request_header_count));
}

static bool
lacks_body(const struct call *call, const struct calls_whole *w)
{
    const struct calls_facts *f = &call->facts;
    if (call->body.n || call->events.n)
        return false;
    if (f->received != CALLS_NONE)
        return f->received;
    return !is_name(f->method, "HEAD") && f->status != 204 && f->status != 304 &&
           has_body(w->reply_headers, w->reply_header_count);
}

/* A call's head; *ret_is_there: it is readable. */
static int
read_head(struct calls *c, const struct call *call, enum calls_type type,
          struct calls_header *headers, size_t *ret_count, bool *ret_is_there)
{
    bool is_request = type == CALLS_REQUEST;
    struct place place = is_request ? call->request : call->reply;
    struct calls_line l;
    int r = ERR_DAMAGED;
    if (place.n)
        r = read_line(c, place, type, call->facts.number,
                      is_request ? &c->request_texts : &c->reply_texts, headers, &l);
    *ret_is_there = !r;
    *ret_count = r ? 0 : l.header_count;
    return r == -ENOMEM ? r : 0;
}

/* -- parts of it -- */

static int
tell_bad(const struct call *call, int r, struct err *err)
{
    return err_code(err, r, "cannot read call %llu",
                    (unsigned long long)call->facts.number);
}

int
calls_get_request(struct calls *c, size_t i, struct calls_request *ret, struct err *err)
{
    const struct call *call = &c->all[i];
    struct known_body *k = NULL;
    int r = make_body(c, call, &k);
    if (r < 0)
        return tell_bad(call, r, err);
    *ret = (struct calls_request){ { k->body.p, k->body.n }, k->is_whole, k->base, 0 };
    if (k->is_whole)
        ret->alike = k->alike < k->body.n ? k->alike : k->body.n;
    return 0;
}

int
calls_get_reply(struct calls *c, size_t i, struct calls_whole *ret, struct err *err)
{
    const struct call *call = &c->all[i];
    *ret = (struct calls_whole){ .facts = &call->facts };
    int r = join_reply(c, call, ret);
    return r < 0 ? tell_bad(call, r, err) : 0;
}

int
calls_get_headers(struct calls *c, size_t i, const struct calls_header **ret,
                  size_t *ret_count)
{
    bool is_there;
    *ret = c->request_headers;
    return read_head(c, &c->all[i], CALLS_REQUEST, c->request_headers, ret_count,
                     &is_there);
}

/* -- all of it -- */

int
calls_get(struct calls *c, size_t i, struct calls_whole *ret, struct err *err)
{
    const struct call *call = &c->all[i];
    struct calls_whole w = { .facts = &call->facts,
                             .request_headers = c->request_headers,
                             .reply_headers = c->reply_headers };
    struct known_body *k = NULL;
    bool has_request = false, has_reply = false;
    int r = read_head(c, call, CALLS_REQUEST, c->request_headers, &w.request_header_count,
                      &has_request);
    if (!r)
        r = read_head(c, call, CALLS_REPLY, c->reply_headers, &w.reply_header_count,
                      &has_reply);
    if (!r)
        r = make_body(c, call, &k);
    if (r < 0)
        return tell_bad(call, r, err);
    struct calls_whole reply;
    r = calls_get_reply(c, i, &reply, err);
    if (r < 0)
        return r;
    w.request = (struct view){ k->body.p, k->body.n };
    w.is_request_whole = k->is_whole && has_request && !lacks_request_body(call, &w);
    w.reply = reply.reply;
    w.is_reply_whole = reply.is_reply_whole && has_reply && !lacks_body(call, &w);
    w.events = reply.events;
    w.event_count = reply.event_count;
    *ret = w;
    return 0;
}

bool
calls_is_damaged(const struct calls_whole *w)
{
    const struct calls_facts *f = w->facts;
    bool has_all = f->status && f->has_end && f->end == CALLS_OK;
    /* A request is recorded while it goes out, and before anything of its reply. */
    bool was_cut = !f->status && f->has_end && f->end == CALLS_CUT;
    return (!w->is_request_whole && !was_cut) || (has_all && !w->is_reply_whole);
}
