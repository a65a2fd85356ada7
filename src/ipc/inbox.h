/* SPDX-License-Identifier: MIT */
/* inbox.h -- messages as they come over a socket, however they are cut. Never waits. */
#ifndef IPC_INBOX_H
#define IPC_INBOX_H

#include "ipc/message.h"

struct ipc_inbox {
    struct buf in;
    size_t at; /* parsed up to here */
};

/* The next message: 1, 0 when there is none yet, -ECONNRESET at the end, -EPROTO. The
 * message's bytes are borrowed until the next call. */
int ipc_inbox_next(struct ipc_inbox *b, int fd, enum ipc_way way,
                   struct ipc_message *ret);
void ipc_inbox_release(struct ipc_inbox *b);

#endif
