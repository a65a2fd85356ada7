/* SPDX-License-Identifier: MIT */
/*
 * conn_priv.h -- the host's end of the link to a client.
 *
 * What is sent waits in a bounded queue when the client is slow. A client that shows a
 * terminal is lossy: when it does not read for a while its output is dropped, and it is
 * told from where it goes on. Any other client gets every byte, and its queue being full
 * holds the agent up, as a pipe does.
 */
#ifndef HOST_CONN_PRIV_H
#define HOST_CONN_PRIV_H

#include "ipc/message.h"

struct conn {
    int fd; /* non-blocking; -1: gone */
    bool is_lossy;
    bool is_skipping;     /* output is not sent until the queue is empty */
    uint64_t progress_ns; /* when it last took something; monotonic */
    struct buf in;
    size_t in_at; /* parsed up to here */
    struct buf out;
    size_t out_at; /* sent up to here */
};

void conn_init(struct conn *c, int fd, bool is_lossy);
void conn_close(struct conn *c);
/* Queues what is not sent at once. A failing connection is noticed by the next read. */
void conn_send(struct conn *c, const struct ipc_message *m);
void conn_send_text(struct conn *c, uint8_t selector, const char *text);
/* Output is sent in messages; off: where it begins. */
void conn_send_output(struct conn *c, struct view bytes, uint64_t off);
/* Sends what waits. When a lossy client has caught up it is told to go on at off. */
void conn_flush(struct conn *c, uint64_t off);
bool conn_has_waiting(const struct conn *c);
/* Something is to be sent, or to be said, when it reads again. */
bool conn_wants_room(const struct conn *c);
/* No more output, please. */
bool conn_is_full(const struct conn *c);
/* Drops the output that waits, from now on. */
void conn_skip(struct conn *c);
/* There will be no more: a client that is being skipped is told to go on at off. */
void conn_end_skip(struct conn *c, uint64_t off);
/* The next message: 1, 0 when there is none yet, -ECONNRESET at the end, -EPROTO. The
 * message's bytes are borrowed until the next call. */
int conn_next(struct conn *c, struct ipc_message *ret);

#endif
