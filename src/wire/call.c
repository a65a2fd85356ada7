/* SPDX-License-Identifier: MIT */
/*
 * call.c -- a request on its way to an upstream, and the reply on its way back.
 *
 * The body is kept until it is recorded: a connection to the upstream that has gone
 * meanwhile is made anew with all of it. One of more than CALLS_BODY_MAX, or a large one
 * while there are many of them, is passed on and recorded piece by piece, but for a
 * cassette, which is asked with all of it. The request is recorded when it is on its way;
 * nothing of the reply is shown before that, nor before it is recorded itself.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/num.h"
#include "calls/read.h"
#include "wire/wire_priv.h"

enum { BIG_AHEAD = 1 << 20 }; /* of a big body, so much waits for the upstream */

struct call {
    struct wire *wire;
    struct conn *conn; /* NULL: the client is gone */
    struct reply reply;
    struct fetch *fetch; /* NULL: not yet, or not any more */
    struct cassette_play *play;
    struct wire_note *note;
    struct call *next_due;
    bool is_due;
    struct queue body; /* what is kept of it */
    size_t taken;      /* … and so much of that went to the upstream */
    size_t kept;       /* … and so much counts among what all have */
    uint64_t length, sent, received;
    uint64_t expected; /* of the reply's body; UINT64_MAX: its end will tell */
    bool tells_end;    /* … and is not just the connection's */
    bool is_big, is_body_whole, is_recorded, is_waiting; /* for more of the body */
    bool is_paused;         /* the upstream, for the client */
    struct buf method, url; /* for a cassette */
    struct calls_mask mask; /* … with the credentials of the one who asks */
    const char *upstream;   /* … its name; borrowed */
};

static const struct fetch_events events;

/* Its body has grown, or become less. */
static void
weigh(struct call *call)
{
    size_t now = queue_size(&call->body);
    call->wire->kept += now - call->kept;
    call->kept = now;
}

static void
release(struct call *call)
{
    struct wire *w = call->wire;
    queue_clear(&call->body);
    weigh(call);
    for (struct call **p = &w->due; *p; p = &(*p)->next_due)
        if (*p == call) {
            *p = call->next_due;
            break;
        }
    queue_release(&call->body);
    buf_release(&call->method);
    buf_release(&call->url);
    calls_mask_release(&call->mask);
    free(call);
}

/* -- the record -- */

/* When the loop comes round: until then the body is on its way. */
static void
make_due(struct call *call)
{
    struct wire *w = call->wire;
    if (call->is_due || call->is_recorded)
        return;
    call->is_due = true;
    call->next_due = w->due;
    w->due = call;
}

static void
record_request(struct call *call)
{
    struct view body = queue_view(&call->body);
    if (call->is_recorded)
        return;
    call->is_recorded = true;
    if (!call->is_big)
        wire_note_body(call->note, body, call->is_body_whole);
}

void
call_record_due(struct wire *w)
{
    while (w->due) {
        struct call *call = w->due;
        w->due = call->next_due;
        call->is_due = false;
        if (call->is_body_whole)
            record_request(call);
    }
}

/* Over: the note has its end, and the call is no more. */
static void
finish(struct call *call, enum calls_status status, const char *why)
{
    record_request(call);
    wire_note_end(call->note, status, why, call->sent, call->received);
    release(call);
}

/* -- the request -- */

static bool
is_forwarded(struct view name, const struct wire_head *head)
{
    return !reply_is_hop(name, head->headers, head->header_count) &&
           !wire_head_is(name, "host") && !wire_head_is(name, "content-length") &&
           !wire_head_is(name, "expect");
}

static int
start_fetch(struct call *call, const struct wire_head *head, const struct gate_pass *to)
{
    struct calls_header headers[WIRE_HEADERS_MAX];
    AUTO(buf) url = { 0 };
    size_t n = 0;
    for (size_t i = 0; i < head->header_count; i++)
        if (is_forwarded(head->headers[i].name, head))
            headers[n++] = head->headers[i];
    buf_append(&url, to->upstream->url.p, to->upstream->url.n);
    buf_append(&url, to->path.p, to->path.n);
    const struct fetch_request r = {
        .method = buf_str(&call->method),
        .url = buf_str(&url),
        .headers = headers,
        .header_count = n,
        .has_body = head->has_body,
        .length = head->is_chunked ? FETCH_CHUNKED : head->length,
    };
    if (url.failed || call->method.failed)
        return -ENOMEM;
    return fetch_start(call->wire->fetches, &r, &events, call, &call->fetch);
}

static struct wire_note *
make_note(struct wire *w, const struct wire_head *head, const struct gate_pass *to,
          struct view url)
{
    struct buf base = to->upstream->url;
    const struct wire_asked asked = {
        .upstream = to->upstream->name,
        .target = buf_str(&base),
        .method = head->method,
        .url = url,
        .http_minor = head->minor,
        .has_body = head->has_body,
        .headers = head->headers,
        .header_count = head->header_count,
    };
    return wire_note_new(w->record, &asked);
}

/* To be kept whole; more: of it comes now. */
static bool
is_too_big(const struct call *call, uint64_t size, size_t more)
{
    bool is_full = call->wire->kept + more > WIRE_KEPT_MAX;
    bool is_large = size > CALLS_BODY_MAX || (size > BIG_AHEAD && is_full);
    return is_large && !call->wire->opt->cassette;
}

int
call_begin(struct conn *c, const struct wire_head *head, const struct gate_pass *to)
{
    static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
    struct wire *w = c->wire;
    struct call *call = calloc(1, sizeof(*call));
    if (!call)
        return -ENOMEM;
    call->wire = w;
    call->conn = c;
    call->reply = (struct reply){ .conn = c,
                                  .is_head_method = head->method.n == 4 &&
                                                    !memcmp(head->method.p, "HEAD", 4),
                                  .minor = head->minor,
                                  .keeps = head->keeps_alive };
    call->length = head->is_chunked ? 0 : head->length;
    call->body.b.ceiling = w->opt->cassette ? CALLS_ALL_MAX : 0;
    call->is_big = is_too_big(call, call->length, 0);
    call->upstream = to->upstream->name;
    buf_append(&call->method, head->method.p, head->method.n);
    buf_append(&call->url, to->path.p, to->path.n);
    if (!to->path.n)
        buf_puts(&call->url, "/");
    for (size_t i = 0; w->opt->cassette && i < head->header_count; i++)
        calls_mask_learn(&call->mask, &head->headers[i]);
    call->note = make_note(w, head, to, (struct view){ call->url.p, call->url.n });
    int r = w->opt->cassette ? 0 : start_fetch(call, head, to);
    if (r < 0) {
        finish(call, CALLS_ERROR, "there was no memory for it");
        return r;
    }
    c->call = call;
    if (head->wants_continue && head->has_body && head->minor)
        conn_send(c, &(struct view){ (const uint8_t *)go_on, sizeof(go_on) - 1 }, 1);
    return 0;
}

bool
call_has_room(const struct call *call)
{
    return !call->is_big || queue_size(&call->body) - call->taken < BIG_AHEAD;
}

/* What was kept until now is recorded, and what comes from now on as it comes. */
static void
become_big(struct call *call)
{
    call->is_big = true;
    wire_note_body_piece(call->note, queue_view(&call->body), false);
    queue_drop(&call->body, call->taken);
    queue_compact(&call->body);
    call->taken = 0;
    weigh(call);
}

static void
ask_upstream(struct call *call)
{
    if (!call->is_waiting || !call->fetch)
        return;
    call->is_waiting = false;
    fetch_resume(call->fetch);
}

static void
give_up(struct call *call, const char *why)
{
    if (call->fetch)
        fetch_cancel(call->fetch);
    events.done(call, FETCH_BROKEN, why);
}

void
call_body(struct call *call, struct view bytes)
{
    call->sent += bytes.n;
    if (!call->is_big && is_too_big(call, call->sent, bytes.n))
        become_big(call);
    if (call->is_big)
        wire_note_body_piece(call->note, bytes, false);
    if (queue_put(&call->body, bytes) < 0) {
        give_up(call, "there is no memory for the request's body");
        return;
    }
    weigh(call);
    ask_upstream(call);
}

static void
take_cassette(struct call *call)
{
    const struct cassette_asked asked = {
        .mask = &call->mask,
        .upstream = call->upstream,
        .method = { call->method.p, call->method.n },
        .url = { call->url.p, call->url.n },
        .body = queue_view(&call->body),
    };
    cassette_answer(call->wire->opt->cassette, &call->wire->loop, &asked,
                    call->wire->opt->is_original_pace, &events, call, &call->play);
}

void
call_body_end(struct call *call)
{
    call->is_body_whole = true;
    if (call->is_big)
        wire_note_body_piece(call->note, (struct view){ 0 }, true);
    ask_upstream(call);
    make_due(call);
    if (call->wire->opt->cassette)
        take_cassette(call);
}

/* -- fetch_events -- */

static size_t
give_more(void *ctx, uint8_t *p, size_t n, bool *ret_is_end)
{
    struct call *call = ctx;
    struct view body = queue_view(&call->body);
    size_t got = body.n - call->taken < n ? body.n - call->taken : n;
    if (got)
        memcpy(p, body.p + call->taken, got);
    call->taken += got;
    if (call->is_big) {
        queue_drop(&call->body, got);
        queue_compact(&call->body);
        call->taken = 0;
        weigh(call);
        if (call->conn)
            conn_update(call->conn);
    }
    *ret_is_end = call->is_body_whole && call->taken == queue_size(&call->body);
    call->is_waiting = !got && !*ret_is_end;
    return got;
}

static bool
give_again(void *ctx)
{
    struct call *call = ctx;
    if (!call->is_big)
        call->taken = 0;
    return !call->is_big;
}

static uint64_t
body_size(const struct calls_header *headers, size_t n)
{
    uint64_t size = UINT64_MAX;
    for (size_t i = 0; i < n; i++)
        if (wire_head_is(headers[i].name, "content-length") &&
            num_parse(headers[i].value, UINT64_MAX - 1, &size) < 0)
            return UINT64_MAX;
    return size;
}

/* One that ends with its connection may have been torn. */
static bool
is_framed(const struct calls_header *headers, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (wire_head_is(headers[i].name, "content-length") ||
            wire_head_is(headers[i].name, "transfer-encoding"))
            return true;
    return false;
}

static void
take_head(void *ctx, unsigned status, struct view reason,
          const struct calls_header *headers, size_t n)
{
    struct call *call = ctx;
    if (!call->is_body_whole && !call->is_big) /* more may come, behind the reply */
        become_big(call);
    record_request(call);
    if (call->is_body_whole && !call->is_big) { /* it will not be wanted again */
        call->taken = 0;
        queue_release(&call->body);
        weigh(call);
    }
    call->expected = body_size(headers, n);
    call->tells_end = is_framed(headers, n);
    wire_note_reply(call->note, status, headers, n);
    if (call->conn)
        reply_head(&call->reply, status, reason, headers, n);
}

static bool
take_data(void *ctx, struct view bytes)
{
    struct call *call = ctx;
    if (!call->conn)
        return true;
    if (conn_is_full(call->conn)) {
        call->is_paused = true;
        return false;
    }
    call->received += bytes.n;
    /* Who has the last byte knows that it is whole. */
    wire_note_data(call->note, bytes, call->received == call->expected);
    reply_data(&call->reply, bytes);
    return true;
}

static const struct {
    const char *begins, *type;
} troubles[] = {
    [FETCH_OK] = { "", "" },
    [FETCH_UNREACHABLE] = { "cannot reach the upstream", "upstream_unreachable" },
    [FETCH_UNTRUSTED] = { "the upstream's certificate is refused, and nothing was sent",
                          "upstream_untrusted" },
    [FETCH_BROKEN] = { "the upstream has broken off", "upstream_broken" },
    [FETCH_MISSING] = { "", "cassette_miss" }, /* it says all of it itself */
};

static void
take_end(void *ctx, enum fetch_end end, const char *why)
{
    struct call *call = ctx;
    struct reply *r = &call->reply;
    AUTO(buf) text = { 0 };
    call->fetch = NULL;
    call->play = NULL;
    if (end != FETCH_OK)
        buf_printf(&text, "%s%s%s%s", troubles[end].begins,
                   *troubles[end].begins ? ": " : "", why,
                   end == FETCH_UNTRUSTED ? " (--upstream-ca names other certificates)"
                                          : "");
    record_request(call);
    /* On disk before the client knows that it is whole. */
    wire_note_data_end(call->note, end == FETCH_OK && call->tells_end);
    if (call->conn && end != FETCH_OK && !r->has_head) {
        wire_note_end(call->note, CALLS_ERROR, buf_str(&text), call->sent,
                      call->received);
        call->note = NULL;
        reply_error(r, 502, troubles[end].type, buf_str(&text), end == FETCH_MISSING);
    } else if (call->conn && end == FETCH_OK) {
        wire_note_end(call->note, CALLS_OK, "", call->sent, call->received);
        call->note = NULL;
        reply_end(r);
    } else if (call->conn) {
        reply_break(r);
    }
    call->conn = NULL;
    finish(call, end == FETCH_OK ? CALLS_OK : CALLS_ERROR, buf_str(&text));
}

static const struct fetch_events events = {
    .head = take_head,
    .data = take_data,
    .more = give_more,
    .again = give_again,
    .done = take_end,
};

/* -- the client -- */

void
call_resume(struct call *call)
{
    if (!call->is_paused)
        return;
    call->is_paused = false;
    if (call->fetch)
        fetch_resume(call->fetch);
    else if (call->play)
        cassette_resume(call->play);
}

void
call_abort(struct call *call)
{
    call->conn = NULL;
    if (call->fetch)
        fetch_cancel(call->fetch);
    if (call->play)
        cassette_cancel(call->play);
    finish(call, CALLS_ABORTED, call->wire->is_ending ? "the proxy was stopped" : "");
}

void
call_refuse(struct conn *c, unsigned status, const char *why)
{
    struct reply r = { .conn = c, .minor = 1 };
    reply_error(&r, status, "invalid_request_error", why, false);
}
