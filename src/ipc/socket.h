/* SPDX-License-Identifier: MIT */
/*
 * socket.h -- the ends of our sockets: made, reached, and who is at the other end.
 *
 * Unix sockets are 0600; TCP is for loopback alone. All descriptors are close-on-exec.
 */
#ifndef IPC_SOCKET_H
#define IPC_SOCKET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

enum { IPC_PATH_MAX = 107, IPC_HOST_MAX = 64 };

/* Where something listens: a path, or "tcp:HOST:PORT" ("tcp:[::1]:PORT" for IPv6). */
struct ipc_address {
    bool is_tcp;
    const char *path; /* borrowed; NULL for TCP */
    char host[IPC_HOST_MAX];
    uint16_t port; /* 0: any */
};

/* ERR_USAGE for what is neither, for a host that is not loopback (127.0.0.0/8, ::1,
 * localhost), for a path that no socket can have. */
int ipc_address_parse(struct ipc_address *ret, const char *text, struct err *err);

/* A listening descriptor, non-blocking. What is already at the path is left alone:
 * -EEXIST. */
int ipc_listen(const char *path, struct err *err);
int ipc_listen_tcp(const struct ipc_address *at, uint16_t *ret_port, struct err *err);
/* A connection, non-blocking; -EAGAIN when there is none, or another -errno. */
int ipc_accept(int listen_fd);
/* There is one, and no room for it: the socket would tell so again at once, for ever. */
bool ipc_is_out_of_room(int code);

/* A connection, blocking. At a path: whoever listens there must be this user, and the
 * socket this user's own (no link); else -EPERM. ERR_MISSING when nobody listens. */
int ipc_connect(const struct ipc_address *at, struct err *err);

struct ipc_peer {
    pid_t pid;
    uid_t uid;
};

/* Of a Unix socket. */
int ipc_peer(int fd, struct ipc_peer *ret);
/* Is pid the process `ancestor`, or one that it or its descendants have started? A
 * process that has left its parents is still known by AHR_SESSION=session_id in its
 * environment, or in that of one above it; one that is gone already counts as inside. A
 * bar, not a boundary. */
bool ipc_is_inside(pid_t pid, pid_t ancestor, const char *session_id);

#endif
