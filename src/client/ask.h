/* SPDX-License-Identifier: MIT */
/*
 * ask.h -- a question to a recorder, and its answer: for commands that do one thing and
 * are done.
 */
#ifndef CLIENT_ASK_H
#define CLIENT_ASK_H

#include "ipc/message.h"

struct term;

struct client_ask {
    int fd;
    struct buf in;
    size_t in_at;
};

/* address: a socket's path, or tcp:HOST:PORT, where token (NULL: none) is the first
 * word. */
int client_ask_open(struct client_ask *ret, const char *address, const char *token,
                    struct err *err);
void client_ask_close(struct client_ask *a);
/* Sends m, to which no answer comes at once. */
int client_ask_send(struct client_ask *a, const struct ipc_message *m, int timeout_ms,
                    struct err *err);
/* Sends m (NULL: nothing) and waits for the next message: borrowed until the next call.
 * timeout_ms < 0: none. IPC_REFUSED is an error, -EPERM, with the recorder's reason;
 * -ETIMEDOUT; -ECONNRESET when it has hung up; -EPROTO. */
int client_ask(struct client_ask *a, const struct ipc_message *m, int timeout_ms,
               struct ipc_message *ret, struct err *err);
/* The session's screen now, as a model of the caller's; -ENODATA when there is no picture
 * of it. The connection is a watcher's from then on, and good for nothing else. */
int client_ask_screen(struct client_ask *a, struct term **ret, struct err *err);

#endif
