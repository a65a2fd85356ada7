/* SPDX-License-Identifier: MIT */
/*
 * note.c -- a call's request in the record, and its end.
 *
 * Its lines are written when all of the request is there: only then is it known whether
 * it repeats another one, and in which conversation it stands.
 */
#include <stdlib.h>

#include "base/utf8.h"
#include "calls/agent.h"
#include "turn/totals.h"
#include "wire/record_priv.h"

/* -- the head -- */

static struct view
view_of(const char *s)
{
    return (struct view){ (const uint8_t *)s, strlen(s) };
}

/* The masked text goes to n->texts, which may still move: a place in it. */
struct part {
    size_t at, n;
};

static struct part
since(const struct wire_note *n, size_t at)
{
    return (struct part){ at, n->texts.n - at };
}

static struct view
part_of(const struct wire_note *n, struct part p)
{
    return (struct view){ n->texts.p + p.at, p.n };
}

static struct part
keep_text(struct wire_note *n, struct view text)
{
    size_t at = n->texts.n;
    buf_append(&n->texts, text.p, text.n);
    return since(n, at);
}

static struct part
keep_url(struct wire_note *n, struct view url)
{
    size_t at = n->texts.n;
    calls_mask_url(&n->mask, url, &n->texts);
    return since(n, at);
}

/* Without "user:password@". */
static struct part
keep_target(struct wire_note *n, const char *target)
{
    const char *slashes = strstr(target, "//");
    const char *host = slashes ? slashes + 2 : target;
    size_t end = strcspn(host, "/");
    const char *at = memrchr(host, '@', end);
    size_t start = n->texts.n;
    buf_append(&n->texts, target, (size_t)(host - target));
    calls_mask_url(&n->mask, view_of(at ? at + 1 : host), &n->texts);
    return since(n, start);
}

static struct part
keep_value(struct wire_note *n, const struct calls_header *h)
{
    size_t at = n->texts.n;
    calls_mask_header(&n->mask, h, &n->texts);
    return since(n, at);
}

static void
keep_head(struct wire_note *n, const struct wire_asked *a)
{
    struct part names[CALLS_HEADERS_MAX], values[CALLS_HEADERS_MAX];
    struct calls_line *l = &n->head;
    size_t count = a->header_count < CALLS_HEADERS_MAX ? a->header_count
                                                       : CALLS_HEADERS_MAX;
    for (size_t i = 0; i < count; i++)
        calls_mask_learn(&n->mask, &a->headers[i]);
    calls_mask_learn_url(&n->mask, a->url);
    struct part upstream = keep_text(n, view_of(a->upstream));
    struct part target = keep_target(n, a->target);
    struct part method = keep_text(n, a->method), url = keep_url(n, a->url);
    for (size_t i = 0; i < count; i++) {
        names[i] = keep_text(n, a->headers[i].name);
        values[i] = keep_value(n, &a->headers[i]);
    }
    l->upstream = part_of(n, upstream);
    l->target = part_of(n, target);
    l->method = part_of(n, method);
    l->url = part_of(n, url);
    l->http_minor = a->http_minor;
    for (size_t i = 0; i < count; i++)
        n->headers[i] = (struct calls_header){ part_of(n, names[i]),
                                               part_of(n, values[i]) };
    l->headers = n->headers;
    l->header_count = count;
}

/* -- the call -- */

struct wire_note *
wire_note_new(struct wire_record *r, const struct wire_asked *asked)
{
    struct wire_note *n = r ? calloc(1, sizeof(*n)) : NULL;
    if (!n)
        return NULL;
    n->record = r;
    n->number = ++r->calls;
    n->mask.redact = r->opt.redact;
    n->api = calls_talk_api(asked->method, asked->url);
    n->has_turns = r->opt.has_turns && n->api != TURN_API_AUTO;
    n->has_body = asked->has_body;
    uint64_t anchor_byte = record_anchor(
        r); /* before the time: what was shown was before */
    n->head = calls_line(CALLS_REQUEST, n->number, record_now_ns(r));
    n->head.anchor_byte = anchor_byte;
    n->head.has_turns = n->has_turns;
    keep_head(n, asked);
    record_learn_agent(r, calls_agent(asked->headers, asked->header_count));
    n->next = r->first;
    if (n->next)
        n->next->before = n;
    r->first = n;
    return n;
}

static void
write_head(struct wire_note *n)
{
    if (n->is_head_written)
        return;
    n->is_head_written = true;
    record_put(n->record, &n->head);
}

/* -- the body -- */

static struct record_asked *
find_asked(struct wire_record *r, uint64_t hash)
{
    for (size_t i = 1; i <= RECORD_ASKED; i++) {
        struct record_asked *a = &r->asked[(r->asked_at - i) % RECORD_ASKED];
        if (a->call && a->hash == hash)
            return a;
    }
    return NULL;
}

/* The same was asked before, and had failed. */
static void
look_for_retry(struct wire_note *n, struct view body)
{
    struct wire_record *r = n->record;
    uint64_t hash = turn_hash(body) ^ turn_hash(n->head.url) ^
                    turn_hash(n->head.upstream) * 3 ^ turn_hash(n->head.method) * 5;
    struct record_asked *before = find_asked(r, hash);
    if (before && before->has_failed)
        n->head.retry_of = before->call;
    n->asked = &r->asked[r->asked_at++ % RECORD_ASKED];
    *n->asked = (struct record_asked){ hash, n->number, false };
}

void
note_failed(struct wire_note *n)
{
    if (n->asked && n->asked->call == n->number)
        n->asked->has_failed = true;
}

/* A turn_event_fn. */
static int
tell_asked(void *ctx, const struct turn_event *e)
{
    struct wire_note *n = ctx;
    record_tell(n, e, n->head.ts_ns, n->head.anchor_byte);
    return 0;
}

static void
mask_body(struct wire_note *n, struct view body, bool is_whole, struct buf *out)
{
    if (is_whole) {
        calls_mask_body(&n->mask, body, out);
        return;
    }
    (void)calls_mask_feed(&n->mask, &n->sent, body, out);
    calls_mask_cut(&n->sent);
    (void)calls_mask_flush(&n->mask, &n->sent, out);
}

void
wire_note_body(struct wire_note *n, struct view body, bool is_whole)
{
    if (!n || n->is_head_written)
        return;
    struct wire_record *r = n->record;
    struct calls_line l = calls_line(CALLS_REQUEST_BODY, n->number, record_now_ns(r));
    l.anchor_byte = n->head.anchor_byte;
    AUTO(buf) kind = { 0 };
    look_for_retry(n, body);
    write_head(n);
    buf_clear(&r->masked);
    mask_body(n, body, is_whole, &r->masked);
    struct view masked = { r->masked.p, r->masked.n };
    buf_append(&kind, n->head.target.p, n->head.target.n);
    buf_append(&kind, n->head.url.p, n->head.url.n);
    if (n->has_body) {
        if (calls_bases_tell(r->bases, &l, (struct view){ kind.p, kind.n }, masked,
                             &r->ops) < 0)
            l.base = 0, l.bytes = masked;
        l.is_last = true;
        l.size_bytes = body.n;
        record_put(r, &l);
    }
    (void)calls_talk_request(r->talk, n->api, masked, tell_asked, n);
    n->talk_asked = calls_talk_asked(r->talk);
    record_write(r);
    if (r->masked.cap > RECORD_KEPT)
        buf_release(&r->masked);
    if (r->ops.cap > RECORD_KEPT)
        buf_release(&r->ops);
}

size_t
note_put_piece(struct wire_note *n, const struct calls_line *as, struct buf *ready,
               bool is_last)
{
    struct view all = { ready->p, ready->n };
    struct calls_line l = *as;
    l.ts_ns = record_now_ns(n->record);
    l.anchor_byte = record_late_anchor(n->record);
    l.bytes = (struct view){ ready->p, is_last ? all.n : utf8_whole(all.p, all.n) };
    l.is_last = is_last;
    if (l.bytes.n || is_last)
        record_put(n->record, &l);
    return l.bytes.n;
}

static void
take_piece(struct wire_note *n, struct view piece, bool is_last, bool is_cut)
{
    n->sent_bytes += piece.n;
    (void)calls_mask_feed(&n->mask, &n->sent, piece, &n->sent_piece);
    if (is_cut)
        calls_mask_cut(&n->sent);
    if (is_last)
        (void)calls_mask_flush(&n->mask, &n->sent, &n->sent_piece);
    struct calls_line l = calls_line(CALLS_REQUEST_BODY, n->number, 0);
    l.size_bytes = n->sent_bytes;
    l.piece = n->sent_pieces;
    bool is_due = is_last || n->sent_piece.n >= RECORD_PIECE;
    n->sent_pieces += is_due;
    n->is_sending = !is_last;
    if (is_due)
        buf_drop(&n->sent_piece, note_put_piece(n, &l, &n->sent_piece, is_last));
    record_write(n->record);
}

/* What was kept until now may be much: no more than a piece of it is there twice. */
void
wire_note_body_piece(struct wire_note *n, struct view piece, bool is_last)
{
    if (!n)
        return;
    write_head(n);
    for (; piece.n > RECORD_PIECE;
         piece = (struct view){ piece.p + RECORD_PIECE, piece.n - RECORD_PIECE })
        take_piece(n, (struct view){ piece.p, RECORD_PIECE }, false, false);
    take_piece(n, piece, is_last, false);
}

/* -- the end -- */

static void
release(struct wire_note *n)
{
    struct wire_record *r = n->record;
    if (n->before)
        n->before->next = n->next;
    else
        r->first = n->next;
    if (n->next)
        n->next->before = n->before;
    note_release_reply(n);
    calls_mask_release(&n->mask);
    calls_mask_stream_release(&n->sent);
    buf_release(&n->sent_piece);
    buf_release(&n->texts);
    free(n);
}

static uint64_t
between(uint64_t from_ns, uint64_t to_ns)
{
    return to_ns ? (to_ns > from_ns ? to_ns - from_ns : 0) : CALLS_NONE;
}

static void
put_end(struct wire_note *n, enum calls_status status, struct view error, uint64_t sent,
        uint64_t received)
{
    struct calls_line l = calls_line(CALLS_END, n->number, n->ends_ns);
    l.anchor_byte = record_late_anchor(n->record);
    l.end = status;
    l.error = error;
    l.sent = sent;
    l.received = received;
    l.events = n->is_stream ? n->events : CALLS_NONE;
    l.first_byte_ns = between(n->head.ts_ns, n->reply_ns);
    l.first_token_ns = between(n->head.ts_ns, n->token_ns);
    l.duration_ns = between(n->head.ts_ns, n->ends_ns);
    if (n->answer) {
        struct turn_reply_facts f = calls_answer_facts(n->answer);
        l.model = f.model;
        l.stop = f.stop;
        l.usage = f.usage;
        if (f.stop.n && status == CALLS_OK && !calls_answer_has_failed(n->answer))
            calls_talk_answered(n->record->talk, n->talk_asked);
    }
    record_put(n->record, &l);
}

/* Clients leave when a stream has said that it is over, before its connection says so. */
static bool
has_all(const struct wire_note *n)
{
    return n->is_stream && n->answer && calls_answer_facts(n->answer).is_whole;
}

void
wire_note_end(struct wire_note *n, enum calls_status status, const char *error,
              uint64_t sent, uint64_t received)
{
    AUTO(buf) why = { 0 };
    if (!n)
        return;
    struct wire_record *r = n->record;
    write_head(n);
    if (n->is_sending) /* it breaks off, and what has come is all there will be */
        take_piece(n, (struct view){ 0 }, true, true);
    wire_note_data_end(n, status == CALLS_OK);
    if (status == CALLS_ABORTED && has_all(n)) {
        status = CALLS_OK;
        error = "";
    }
    n->ends_ns = record_now_ns(r);
    calls_mask_body(&n->mask, view_of(error), &why);
    if (!why.n && n->damage)
        buf_puts(&why, n->damage);
    struct view text = { why.p, why.n };
    note_conclude(n, status == CALLS_OK ? (struct view){ 0 } : text);
    put_end(n, status, text, sent, received);
    if (status != CALLS_OK || (n->answer && calls_answer_has_failed(n->answer)))
        note_failed(n);
    record_write(r);
    release(n);
}
