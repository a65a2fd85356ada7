/* SPDX-License-Identifier: MIT */
/*
 * conn.c -- a client's connection: requests one after the other, bytes out, and how much
 * waits in either direction.
 *
 * It is read from also while a reply is on its way: that is how it is known that the
 * client has gone. What it sends by then is the next request, and waits, up to 64 KiB.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "wire/wire_priv.h"

enum {
    PARTS_MAX = 4,
    AHEAD_MAX = 64 << 10, /* of the next request */
    HEAD_S = 30,          /* for a head that has begun */
    IDLE_S = 600,         /* for the next one */
    BODY_S = 300,         /* for more of a body */
    DRAIN_S = 2,
};

static const uint64_t NS_A_S = UINT64_C(1000000000);

static void advance(struct conn *c);
static void on_poll(uv_poll_t *poll, int status, int events);

/* -- there, and gone -- */

struct conn *
conn_new(struct wire *w, int fd)
{
    struct conn *c = calloc(1, sizeof(*c));
    if (!c || uv_poll_init(&w->loop, &c->poll, fd)) {
        free(c);
        close(fd);
        return NULL;
    }
    c->wire = w;
    c->fd = fd;
    c->poll.data = c;
    c->since_ns = clock_mono_ns();
    c->next = w->conns;
    if (c->next)
        c->next->before = c;
    w->conns = c;
    w->conn_count++;
    conn_update(c);
    return c;
}

static void
on_closed(uv_handle_t *handle)
{
    struct conn *c = handle->data;
    close(c->fd);
    queue_release(&c->in);
    queue_release(&c->out);
    free(c);
}

void
conn_drop(struct conn *c)
{
    struct wire *w = c->wire;
    if (c->before)
        c->before->next = c->next;
    else
        w->conns = c->next;
    if (c->next)
        c->next->before = c->before;
    w->conn_count--;
    uv_close((uv_handle_t *)&c->poll, on_closed);
}

/* The client is gone: its call with it. Frees c, unless it is busy. */
static void
lose(struct conn *c)
{
    struct call *call = c->call;
    c->is_gone = true;
    c->call = NULL;
    if (call)
        call_abort(call);
    if (!c->is_busy)
        conn_drop(c);
}

/* -- out -- */

bool
conn_is_full(const struct conn *c)
{
    return queue_size(&c->out) >= WIRE_OUT_HIGH;
}

static void
keep(struct conn *c, const struct view *parts, size_t count, size_t sent)
{
    for (size_t i = 0; i < count; i++) {
        size_t skip = sent < parts[i].n ? sent : parts[i].n;
        struct view rest = { parts[i].p + skip, parts[i].n - skip };
        sent -= skip;
        if (rest.n && queue_put(&c->out, rest) < 0)
            c->is_gone = true; /* better nothing than something else */
    }
}

void
conn_send(struct conn *c, const struct view *parts, size_t count)
{
    struct iovec vec[PARTS_MAX];
    struct msghdr m = { .msg_iov = vec, .msg_iovlen = count };
    ssize_t n = 0;
    if (c->is_gone)
        return;
    for (size_t i = 0; i < count; i++) {
        memcpy(&vec[i].iov_base, &parts[i].p, sizeof(parts[i].p)); /* only read */
        vec[i].iov_len = parts[i].n;
    }
    if (!queue_size(&c->out)) {
        do
            n = sendmsg(c->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
        while (n < 0 && errno == EINTR);
        if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK) {
            c->is_gone = true; /* reading finds its end */
            return;
        }
        n = n < 0 ? 0 : n;
    }
    keep(c, parts, count, (size_t)n);
    conn_update(c);
}

/* What waits goes out. */
static void
flush(struct conn *c)
{
    while (queue_size(&c->out)) {
        struct view v = queue_view(&c->out);
        ssize_t n = send(c->fd, v.p, v.n, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
            c->is_gone = true;
        if (n < 0)
            break;
        queue_drop(&c->out, (size_t)n);
    }
    queue_compact(&c->out);
}

/* -- what is waited for -- */

static bool
wants_more(const struct conn *c)
{
    if (c->state == CONN_BODY)
        return !c->call || call_has_room(c->call);
    return c->state != CONN_WAIT || queue_size(&c->in) < AHEAD_MAX;
}

void
conn_update(struct conn *c)
{
    int events = wants_more(c) || c->is_gone ? UV_READABLE : 0;
    if (queue_size(&c->out) || c->is_gone)
        events |= UV_WRITABLE;
    if (!events)
        events = UV_DISCONNECT; /* that it goes is always told */
    if (events == c->events)
        return;
    c->events = events;
    uv_poll_start(&c->poll, events, on_poll);
}

/* -- in -- */

/* Nothing follows what was sent. Where the end of a reply is the end of the connection,
 * one that breaks off must look otherwise. */
static void
end_output(struct conn *c)
{
    static const struct linger at_once = { .l_onoff = 1 };
    if (queue_size(&c->out))
        return;
    if (c->is_closing) {
        (void)setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
        c->is_gone = true;
    } else {
        (void)shutdown(c->fd, SHUT_WR);
    }
}

/* All is said; what still comes is passed over for a moment, so that the client reads
 * what it was told before it is told that nobody listens. */
static void
begin_drain(struct conn *c)
{
    c->state = CONN_DRAIN;
    c->since_ns = clock_mono_ns();
    queue_clear(&c->in);
    end_output(c);
}

static void
refuse(struct conn *c, unsigned status, const char *why)
{
    call_refuse(c, status, why); /* it drains then */
}

/* True: there is a request. */
static bool
take_head(struct conn *c)
{
    struct wire_head head;
    struct wire_refusal refusal;
    struct gate_pass to;
    unsigned status;
    int n = wire_head_parse(queue_view(&c->in), &head, &refusal);
    if (n < 0)
        refuse(c, refusal.status, refusal.why);
    if (n <= 0)
        return false;
    const char *why = gate_check(c->wire, &head, &to, &status);
    if (why) {
        refuse(c, status, why);
        return false;
    }
    c->state = head.has_body ? CONN_BODY : CONN_WAIT;
    c->is_chunked = head.is_chunked;
    c->left = head.length;
    c->chunks = (struct wire_chunks){ 0 };
    if (call_begin(c, &head, &to) < 0) {
        refuse(c, 503, "there is no memory for this request");
        return false;
    }
    queue_drop(&c->in, (size_t)n);
    if (!head.has_body)
        call_body_end(c->call);
    return true;
}

static void
end_body(struct conn *c)
{
    c->state = CONN_WAIT;
    if (c->call)
        call_body_end(c->call);
}

static void
take_plain_body(struct conn *c)
{
    struct view v = queue_view(&c->in);
    if (v.n > c->left)
        v.n = (size_t)c->left;
    if (v.n && c->call)
        call_body(c->call, v);
    if (c->state != CONN_BODY) /* it has given up, and the connection with it */
        return;
    c->left -= v.n;
    queue_drop(&c->in, v.n);
    if (!c->left)
        end_body(c);
}

static void
take_chunks(struct conn *c)
{
    struct view all = queue_view(&c->in), rest = all, data;
    int r;
    while ((r = wire_chunks_next(&c->chunks, &rest, &data)) == 1) {
        if (c->call)
            call_body(c->call, data);
        if (c->state != CONN_BODY)
            return;
    }
    queue_drop(&c->in, all.n - rest.n);
    if (r == 2) {
        end_body(c);
    } else if (r < 0) {
        struct call *call = c->call;
        c->call = NULL;
        if (call)
            call_abort(call);
        refuse(c, 400, "the request's body is not in proper chunks");
    }
}

/* As far as what has come leads. */
static void
advance(struct conn *c)
{
    bool goes_on = true;
    while (goes_on && !c->is_gone) {
        size_t before = queue_size(&c->in);
        switch (c->state) {
        case CONN_HEAD:
            goes_on = before && take_head(c);
            break;
        case CONN_BODY:
            if (c->is_chunked)
                take_chunks(c);
            else
                take_plain_body(c);
            goes_on = c->state != CONN_BODY;
            break;
        case CONN_WAIT:
        case CONN_DRAIN:
            goes_on = false;
            break;
        }
    }
    queue_compact(&c->in);
}

/* One read, so that others have their turn. */
static void
read_some(struct conn *c)
{
    static uint8_t bytes[WIRE_PIECE];
    ssize_t n;
    do
        n = recv(c->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return;
    if (n <= 0) {
        c->is_gone = true;
        return;
    }
    if (c->state == CONN_DRAIN)
        return;
    if (c->state != CONN_HEAD || !queue_size(&c->in))
        c->since_ns = clock_mono_ns();
    if (queue_put(&c->in, (struct view){ bytes, (size_t)n }) < 0)
        c->is_gone = true;
    else
        advance(c);
}

static void
write_some(struct conn *c)
{
    flush(c);
    if (c->call && queue_size(&c->out) <= WIRE_OUT_LOW)
        call_resume(c->call);
    if (c->state == CONN_DRAIN)
        end_output(c);
}

static void
on_poll(uv_poll_t *poll, int status, int events)
{
    struct conn *c = poll->data;
    c->is_busy = true;
    if (status < 0)
        c->is_gone = true;
    if (!c->is_gone && (events & UV_WRITABLE))
        write_some(c);
    if (!c->is_gone && (events & (UV_READABLE | UV_DISCONNECT)))
        read_some(c);
    c->is_busy = false;
    if (c->is_gone)
        lose(c);
    else
        conn_update(c);
}

void
conn_break(struct conn *c, bool by_reset)
{
    c->call = NULL;
    c->is_closing = by_reset;
    begin_drain(c);
    conn_update(c);
}

void
conn_replied(struct conn *c, bool keep)
{
    bool is_whole = c->state == CONN_WAIT;
    c->call = NULL;
    if (!keep || !is_whole) {
        begin_drain(c);
        conn_update(c);
        return;
    }
    c->state = CONN_HEAD;
    c->since_ns = clock_mono_ns();
    if (c->is_busy) /* whoever called us goes on with it */
        return;
    c->is_busy = true;
    advance(c);
    c->is_busy = false;
    if (c->is_gone)
        lose(c);
    else
        conn_update(c);
}

void
conn_tick(struct conn *c, uint64_t now_ns)
{
    uint64_t s = c->state == CONN_HEAD    ? (queue_size(&c->in) ? HEAD_S : IDLE_S)
                 : c->state == CONN_BODY  ? BODY_S
                 : c->state == CONN_DRAIN ? DRAIN_S
                                          : UINT64_MAX / NS_A_S;
    if (now_ns - c->since_ns < s * NS_A_S)
        return;
    if (c->state == CONN_DRAIN && queue_size(&c->out))
        return; /* it reads slowly */
    c->is_busy = true;
    if (c->state == CONN_HEAD && queue_size(&c->in))
        refuse(c, 408, "the request's head did not come in time");
    else
        c->is_gone = true;
    c->is_busy = false;
    if (c->is_gone)
        lose(c);
}
