/* SPDX-License-Identifier: MIT */
/*
 * conn_priv.h -- the host's end of a connection.
 *
 * It is sent frames of its own, and, once subscribed, those of the reel. Frames are sent
 * whole: its own go out at the next end of a frame, before more of the reel. Nothing here
 * waits.
 */
#ifndef HOST_CONN_PRIV_H
#define HOST_CONN_PRIV_H

#include <uv.h>

#include "host/reel_priv.h"
#include "ipc/inbox.h"

enum conn_kind {
    CONN_LINK = 1,   /* to the client of `ahr record` */
    CONN_MIRROR = 2, /* to the mirror */
    CONN_CTL = 4,    /* came to ctl.sock */
    CONN_IPC = 8,    /* came to ipc.sock, or over TCP */
    CONN_TAKER = 16, /* to whoever takes automatic snapshots */
};

struct conn {
    int fd; /* non-blocking */
    enum conn_kind kind;
    uint32_t number;
    struct conn *next;

    bool is_subscribed;  /* gets the reel … */
    bool is_watcher;     /* … and may do nothing else */
    bool is_lossy;       /* shows a terminal: may be skipped forward */
    bool is_skipping;    /* … and is, since skip_ns */
    bool is_paused;      /* asked for nothing until it says so */
    bool awaits_picture; /* the reel goes on behind it */
    bool has_picture_part;
    uint32_t picture_number; /* of the request for it: one before may be answered late */
    uint64_t picture_off;    /* what it will show */
    uint64_t picture_ns;     /* asked for then; monotonic */
    uint16_t cols, rows;     /* of its terminal; 0: does not count */

    bool must_auth;
    bool is_leaving;          /* told why, and then closed */
    bool is_half_closed;      /* has said all, and is still owed something */
    bool is_broken;           /* nothing can be sent to it any more */
    bool has_more;            /* … to say, that has been read already */
    size_t input_bytes;       /* on their way to the PTY */
    unsigned waiting_replies; /* for a sync */

    bool has_anchor; /* was told this, for a snapshot that it takes now */
    uint64_t anchor_off, anchor_ts_ns;

    uint64_t stuck_ns; /* since when it takes nothing; monotonic, 0: it does */
    uint64_t heard_ns; /* when it last said something whole */
    uint64_t skip_ns, leave_ns;
    struct ipc_inbox in;
    struct buf own;
    size_t own_at;     /* sent up to here */
    uint64_t frame_at; /* the reel's frame that is sent next, or is being sent … */
    uint64_t at;       /* … up to here */

    uv_poll_t poll;
    int events; /* what is polled for now */
};

void conn_init(struct conn *c, int fd, enum conn_kind kind);
void conn_close(struct conn *c);
/* A frame of its own. Whoever cannot be sent one is broken: the next read finds its end.
 */
int conn_send(struct conn *c, const struct ipc_message *m);
int conn_send_text(struct conn *c, uint8_t selector, const char *text);
/* Sends what it takes now. */
void conn_flush(struct conn *c, const struct reel *reel);
/* Something of its own waits. */
bool conn_has_own(const struct conn *c);
/* Something waits that may be sent. */
bool conn_has_waiting(const struct conn *c, const struct reel *reel);
/* How much of the reel it has not been sent; 0 while it is not to be. */
size_t conn_behind(const struct conn *c, const struct reel *reel);
/* From now on it gets what comes; what it was not sent it never will be. A frame that has
 * begun is sent to its end. */
void conn_rejoin(struct conn *c, const struct reel *reel);
/* Nothing more of the reel until conn_rejoin(). */
void conn_skip(struct conn *c, const struct reel *reel);
/* The next message: 1, 0 when there is none yet, -ECONNRESET at the end, -EPROTO. The
 * message's bytes are borrowed until the next call. */
int conn_next(struct conn *c, struct ipc_message *ret);

#endif
