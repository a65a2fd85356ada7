/* SPDX-License-Identifier: MIT */
/*
 * wire_priv.h -- the state of a proxy, and what its files do for each other.
 *
 *   proxy.c    the loop: what is listened to, time, signals, the end
 *   conn.c     a client's connection: requests in, bytes out, and how much waits
 *   gate.c     who may ask for what
 *   visit.c    those who come to the session's ctl.sock
 *   call.c     a request on its way to an upstream, and the reply on its way back
 *   reply.c    a reply as the client is sent it
 *   fetch.h    the upstreams' end
 *   record.h   what is kept of it
 *   cassette.h a recording in the upstreams' place
 */
#ifndef WIRE_WIRE_PRIV_H
#define WIRE_WIRE_PRIV_H

#include <uv.h>

#include "base/queue.h"
#include "door/door.h"
#include "wire/cassette.h"
#include "wire/chunks.h"
#include "wire/fetch.h"
#include "wire/head.h"
#include "wire/proxy.h"

enum {
    WIRE_CONNS_MAX = 1024,
    WIRE_PIECE = 64 << 10,
    WIRE_OUT_HIGH = 256 << 10, /* so much waits for a client: no more is read for it */
    WIRE_OUT_LOW = 64 << 10,
    WIRE_KEPT_MAX = 128 << 20, /* of all requests: with more, large ones are not kept */
    WIRE_SIGNALS = 3,
};

struct wire {
    const struct wire_options *opt;
    uv_loop_t loop;
    uv_poll_t door_poll, control_poll;
    uv_signal_t signals[WIRE_SIGNALS];
    uv_timer_t tick_timer, retry_timer;
    uv_idle_t due_idle;
    uv_check_t due_check;
    uv_prepare_t due_prepare;
    uint16_t port;
    struct door *visitors;
    struct fetches *fetches;
    struct wire_record *record; /* NULL: nothing is recorded, or nobody came yet */
    bool has_asked;             /* … for it */
    struct conn *conns;
    size_t conn_count;
    struct call *due; /* whose requests are to be recorded, when the loop comes round */
    size_t kept;      /* bytes of requests */
    bool is_ending;
    struct wire_result result;
};

/* -- proxy.c -- */

/* The loop is left. */
void wire_stop(struct wire *w, enum wire_end end, int signo);

/* -- visit.c -- */

int wire_visit_open(struct wire *w, struct err *err);
void wire_visit_close(struct wire *w);

/* -- conn.c -- */

enum conn_state {
    CONN_HEAD,  /* the next request's head is waited for */
    CONN_BODY,  /* … its body */
    CONN_WAIT,  /* … the reply's end */
    CONN_DRAIN, /* all is said: what the client still sends is passed over */
};

struct conn {
    struct wire *wire;
    struct conn *next, *before;
    int fd;
    uv_poll_t poll;
    int events; /* what is polled for */
    enum conn_state state;
    struct queue in, out;
    struct call *call;         /* NULL: none goes on */
    uint64_t left;             /* of a body with a length */
    struct wire_chunks chunks; /* of one in chunks */
    bool is_chunked;
    bool is_closing;   /* when what waits is sent */
    bool is_gone;      /* nothing can be sent any more, nor will anything come */
    bool is_busy;      /* on the stack: it is not to be freed */
    uint64_t since_ns; /* monotonic: it waits for something of the client's */
};

struct conn *conn_new(struct wire *w, int fd);
/* It has nothing to do with calls any more. */
void conn_drop(struct conn *c);
/* Sends, or keeps what is not taken. */
void conn_send(struct conn *c, const struct view *parts, size_t count);
bool conn_is_full(const struct conn *c);
/* The call takes more of its body; or no more reading is wanted. */
void conn_update(struct conn *c);
/* The reply has ended; keep: the next request may come. */
void conn_replied(struct conn *c, bool keep);
/* The reply breaks off, and the client sees that when it has read what there is;
 * by_reset: it would take the end of the connection for the end of the reply. */
void conn_break(struct conn *c, bool by_reset);
/* Each second: whoever keeps us waiting for too long is let go. */
void conn_tick(struct conn *c, uint64_t now_ns);

/* -- gate.c -- */

struct gate_pass {
    const struct calls_upstream *upstream;
    struct view path; /* behind the secret segment */
};

/* NULL: it may pass; else why not, and its status in *ret_status. */
const char *gate_check(const struct wire *w, const struct wire_head *head,
                       struct gate_pass *ret, unsigned *ret_status);

/* -- call.c -- */

/* head is borrowed until it returns. */
int call_begin(struct conn *c, const struct wire_head *head, const struct gate_pass *to);
/* May more of the body come? */
bool call_has_room(const struct call *call);
void call_body(struct call *call, struct view bytes);
void call_body_end(struct call *call);
/* The client takes more. */
void call_resume(struct call *call);
/* The client is gone. */
void call_abort(struct call *call);
/* Those whose requests are to be recorded now. */
void call_record_due(struct wire *w);
/* Nothing is recorded of it. */
void call_refuse(struct conn *c, unsigned status, const char *why);

/* -- reply.c -- */

enum reply_framing { REPLY_NONE, REPLY_LENGTH, REPLY_CHUNKED, REPLY_CLOSE };

/* How the reply's body is sent to the client. */
struct reply {
    struct conn *conn;
    bool is_head_method; /* HEAD: never a body */
    unsigned minor;      /* of the client's HTTP */
    bool keeps;          /* the connection may be kept */
    bool has_head;       /* it was sent */
    enum reply_framing framing;
};

void reply_head(struct reply *r, unsigned status, struct view reason,
                const struct calls_header *headers, size_t count);
void reply_data(struct reply *r, struct view bytes);
void reply_end(struct reply *r);
/* It breaks off here. */
void reply_break(struct reply *r);
/* One of ours: why, as the APIs tell errors. is_final: to ask again is no use, and
 * clients are told so. */
void reply_error(struct reply *r, unsigned status, const char *type, const char *why,
                 bool is_final);
/* A header of one connection alone, or named so by a Connection among `headers`. */
bool reply_is_hop(struct view name, const struct calls_header *headers, size_t count);

#endif
