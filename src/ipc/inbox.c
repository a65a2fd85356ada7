/* SPDX-License-Identifier: MIT */
#include "ipc/inbox.h"

#include <errno.h>
#include <sys/socket.h>

enum { READ_SIZE = 64 << 10 };

/* Reads more; 1 when something came. */
static int
fill(struct ipc_inbox *b, int fd)
{
    struct buf *in = &b->in;
    if (in->p && b->at && in->n > b->at)
        memmove(in->p, in->p + b->at, in->n - b->at);
    in->n -= b->at;
    b->at = 0;
    int r = buf_reserve(in, READ_SIZE);
    if (r < 0)
        return r;
    ssize_t n;
    do
        n = recv(fd, in->p + in->n, READ_SIZE, MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return 0;
    if (n <= 0)
        return -ECONNRESET;
    in->n += (size_t)n;
    return 1;
}

int
ipc_inbox_next(struct ipc_inbox *b, int fd, enum ipc_way way, struct ipc_message *ret)
{
    struct ipc_frame frame;
    for (;;) {
        struct view left = { b->in.p ? b->in.p + b->at : NULL, b->in.n - b->at };
        ssize_t n = ipc_frame_get(left, &frame);
        if (n < 0)
            return (int)n;
        if (n > 0) {
            b->at += (size_t)n;
            int r = ipc_message_get(ret, &frame, way);
            return r < 0 ? r : 1;
        }
        int r = fill(b, fd);
        if (r <= 0)
            return r;
    }
}

void
ipc_inbox_release(struct ipc_inbox *b)
{
    buf_release(&b->in);
    b->at = 0;
}
