/* SPDX-License-Identifier: MIT */
#include "client/link_priv.h"

#include <errno.h>
#include <sys/socket.h>

enum { READ_SIZE = 256 << 10 };

void
link_release(struct link *l)
{
    queue_release(&l->in);
    queue_release(&l->out);
}

void
link_flush(struct link *l)
{
    while (queue_size(&l->out)) {
        struct view v = queue_view(&l->out);
        ssize_t n = send(l->fd, v.p, v.n, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno != EAGAIN)
            n = (ssize_t)v.n;
        if (n < 0)
            return;
        queue_drop(&l->out, (size_t)n);
    }
}

int
link_say(struct link *l, const struct ipc_message *m)
{
    queue_compact(&l->out);
    int r = ipc_message_put(&l->out.b, m, IPC_TO_HOST);
    link_flush(l);
    return r;
}

int
link_read(struct link *l)
{
    struct queue *q = &l->in;
    queue_compact(q);
    if (buf_reserve(&q->b, READ_SIZE) < 0)
        return 0;
    ssize_t n = recv(l->fd, q->b.p + q->b.n, READ_SIZE, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (n <= 0)
        return -ECONNRESET;
    q->b.n += (size_t)n;
    return 1;
}

int
link_next(struct link *l, struct ipc_message *ret)
{
    struct ipc_frame frame;
    ssize_t size;
    while ((size = ipc_frame_get(queue_view(&l->in), &frame)) > 0) {
        queue_drop(&l->in, (size_t)size);
        if (!ipc_message_get(ret, &frame, IPC_TO_CLIENT))
            return 1;
    }
    return size < 0 ? -EPROTO : 0;
}
