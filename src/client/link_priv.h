/* SPDX-License-Identifier: MIT */
/* link_priv.h -- messages to and from the host, without ever waiting for it. */
#ifndef CLIENT_LINK_PRIV_H
#define CLIENT_LINK_PRIV_H

#include <stdbool.h>

#include "base/queue.h"
#include "ipc/message.h"

struct link {
    int fd; /* borrowed */
    struct queue in, out;
};

void link_release(struct link *l);
/* Queued, and sent as far as the host takes it now. */
int link_say(struct link *l, const struct ipc_message *m);
/* Sends more of the queue: call it when the socket has room. What a host that is gone
 * will not take is dropped; reading tells. */
void link_flush(struct link *l);
/* Reads once: 1 when something came, 0 when there is nothing now, -ECONNRESET at the end.
 */
int link_read(struct link *l);
/* The next message that has come whole, borrowed until the next link_read(): 1; 0 when
 * there is none, -EPROTO. What is not known here is of a newer host, and passed over. */
int link_next(struct link *l, struct ipc_message *ret);

#endif
