/* SPDX-License-Identifier: MIT */
#include "host/conn_priv.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/le.h"

enum {
    LOSSY_FULL = 1 << 20,   /* of output that waits */
    EXACT_FULL = 256 << 10, /* what is read at once comes on top of it */
    READ_SIZE = 64 << 10,
    COMPACT_AT = 512 << 10,
};

void
conn_init(struct conn *c, int fd, bool is_lossy)
{
    *c = (struct conn){ .fd = fd, .is_lossy = is_lossy };
    c->progress_ns = clock_mono_ns();
    int size = 1 << 20; /* the more is on its way the fewer are the turns */
    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
}

void
conn_close(struct conn *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    buf_release(&c->in);
    buf_release(&c->out);
    c->in_at = c->out_at = 0;
}

bool
conn_has_waiting(const struct conn *c)
{
    return c->out_at < c->out.n;
}

bool
conn_wants_room(const struct conn *c)
{
    return conn_has_waiting(c) || c->is_skipping;
}

bool
conn_is_full(const struct conn *c)
{
    return !c->is_skipping &&
           c->out.n - c->out_at >= (size_t)(c->is_lossy ? LOSSY_FULL : EXACT_FULL);
}

/* Sends of the queue what the client takes now. */
static void
send_some(struct conn *c)
{
    ssize_t n;
    do
        n = send(c->fd, c->out.p + c->out_at, c->out.n - c->out_at,
                 MSG_DONTWAIT | MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    if (n <= 0)
        return;
    c->progress_ns = clock_mono_ns();
    c->out_at += (size_t)n;
    if (c->out_at == c->out.n) {
        buf_clear(&c->out);
        c->out_at = 0;
    }
}

void
conn_send(struct conn *c, const struct ipc_message *m)
{
    if (c->fd < 0)
        return;
    bool is_first = !conn_has_waiting(c);
    if (!ipc_message_put(&c->out, m, IPC_TO_CLIENT) && is_first)
        send_some(c);
}

void
conn_send_text(struct conn *c, uint8_t selector, const char *text)
{
    conn_send(c,
              &(struct ipc_message){ .selector = selector,
                                     .bytes = { (const uint8_t *)text, strlen(text) } });
}

void
conn_send_output(struct conn *c, struct view bytes, uint64_t off)
{
    while (bytes.n && c->fd >= 0 && !c->is_skipping) {
        size_t n = bytes.n < IPC_MESSAGE_BYTES_MAX ? bytes.n
                                                   : (size_t)IPC_MESSAGE_BYTES_MAX;
        conn_send(c, &(struct ipc_message){ .selector = IPC_OUTPUT,
                                            .field = { off },
                                            .bytes = { bytes.p, n } });
        bytes.p += n;
        bytes.n -= n;
        off += n;
    }
}

/* Where the frame begins that c->out_at stands in, or at the start of. */
static size_t
begun_frame(const struct conn *c)
{
    size_t at = 0, next = 0;
    while (next <= c->out_at && next < c->out.n) {
        at = next;
        next += IPC_FRAME_HEAD + get_le32(c->out.p + next);
    }
    return at;
}

/* Gives the room of what was sent back, when it is much. */
static void
compact(struct conn *c)
{
    if (c->out_at < COMPACT_AT)
        return;
    size_t start = begun_frame(c);
    memmove(c->out.p, c->out.p + start, c->out.n - start);
    c->out.n -= start;
    c->out_at -= start;
}

void
conn_flush(struct conn *c, uint64_t off)
{
    if (c->fd < 0)
        return;
    if (conn_has_waiting(c))
        send_some(c);
    if (conn_has_waiting(c))
        compact(c);
    else
        conn_end_skip(c, off);
}

void
conn_end_skip(struct conn *c, uint64_t off)
{
    if (!c->is_skipping)
        return;
    c->is_skipping = false;
    conn_send(c, &(struct ipc_message){ .selector = IPC_SKIPPED, .field = { off } });
}

void
conn_skip(struct conn *c)
{
    struct ipc_frame frame;
    size_t keep = begun_frame(c);
    if (keep < c->out_at) /* it must be sent to its end */
        keep += IPC_FRAME_HEAD + get_le32(c->out.p + keep);
    for (size_t at = keep; at < c->out.n;) {
        ssize_t n = ipc_frame_get((struct view){ c->out.p + at, c->out.n - at }, &frame);
        if (n <= 0)
            break;
        if (frame.selector != IPC_OUTPUT) {
            memmove(c->out.p + keep, c->out.p + at, (size_t)n);
            keep += (size_t)n;
        }
        at += (size_t)n;
    }
    c->out.n = keep;
    c->is_skipping = true;
}

/* Reads more; 1 when something came. */
static int
fill(struct conn *c)
{
    if (c->in.n > c->in_at)
        memmove(c->in.p, c->in.p + c->in_at, c->in.n - c->in_at);
    c->in.n -= c->in_at;
    c->in_at = 0;
    int r = buf_reserve(&c->in, READ_SIZE);
    if (r < 0)
        return r;
    ssize_t n;
    do
        n = recv(c->fd, c->in.p + c->in.n, READ_SIZE, MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return 0;
    if (n <= 0)
        return -ECONNRESET;
    c->in.n += (size_t)n;
    return 1;
}

int
conn_next(struct conn *c, struct ipc_message *ret)
{
    struct ipc_frame frame;
    for (;;) {
        ssize_t n = ipc_frame_get((struct view){ c->in.p + c->in_at, c->in.n - c->in_at },
                                  &frame);
        if (n < 0)
            return (int)n;
        if (n > 0) {
            c->in_at += (size_t)n;
            int r = ipc_message_get(ret, &frame, IPC_TO_HOST);
            return r < 0 ? r : 1;
        }
        int r = fill(c);
        if (r <= 0)
            return r;
    }
}
