/* SPDX-License-Identifier: MIT */
#include "client/ask.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "ipc/socket.h"
#include "term/term.h"

enum {
    READ_SIZE = 64 << 10,
    IN_MAX = 4 * IPC_FRAME_MAX,
    PICTURE_MAX = 17 << 20,
    SCREEN_MS = 5000, /* until the next piece of it */
};

/* When waiting ends; NEVER: not by itself. */
#define NEVER UINT64_MAX

static uint64_t
deadline_in(int timeout_ms)
{
    return timeout_ms < 0 ? NEVER : clock_mono_ns() + (uint64_t)timeout_ms * 1000000;
}

static int
wait_until(int fd, short events, uint64_t deadline_ns)
{
    for (;;) {
        uint64_t left_ms = clock_left_ms(deadline_ns, clock_mono_ns());
        int ms = deadline_ns == NEVER ? -1 : left_ms > INT_MAX ? INT_MAX : (int)left_ms;
        struct pollfd p = { .fd = fd, .events = events };
        int n = poll(&p, 1, ms);
        if (n > 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return -errno;
        if (n == 0 && ms >= 0 && clock_mono_ns() >= deadline_ns)
            return -ETIMEDOUT;
    }
}

static int
send_all(int fd, struct view v, uint64_t deadline_ns)
{
    while (v.n) {
        ssize_t n = send(fd, v.p, v.n, MSG_DONTWAIT | MSG_NOSIGNAL);
        int r = n >= 0            ? 0
                : errno == EAGAIN ? wait_until(fd, POLLOUT, deadline_ns)
                : errno == EINTR  ? 0
                : errno == EPIPE || errno == ENOTCONN ? -ECONNRESET
                                                      : -errno;
        if (r < 0)
            return r;
        if (n > 0)
            v = (struct view){ v.p + n, v.n - (size_t)n };
    }
    return 0;
}

static int
say(struct client_ask *a, const struct ipc_message *m, uint64_t deadline_ns)
{
    AUTO(buf) out = { 0 };
    int r = ipc_message_put(&out, m, IPC_TO_HOST);
    return r < 0 ? r : send_all(a->fd, (struct view){ out.p, out.n }, deadline_ns);
}

/* What the last answer was borrowed from. */
static void
drop_read(struct client_ask *a)
{
    if (a->in_at && a->in_at < a->in.n)
        memmove(a->in.p, a->in.p + a->in_at, a->in.n - a->in_at);
    a->in.n -= a->in_at;
    a->in_at = 0;
}

static int
read_more(struct client_ask *a, uint64_t deadline_ns)
{
    int r = wait_until(a->fd, POLLIN, deadline_ns);
    if (!r)
        r = buf_reserve(&a->in, READ_SIZE);
    if (r < 0)
        return r;
    ssize_t n = recv(a->fd, a->in.p + a->in.n, READ_SIZE, MSG_DONTWAIT);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -errno;
    a->in.n += (size_t)n;
    return n ? 0 : -ECONNRESET;
}

static int
hear(struct client_ask *a, uint64_t deadline_ns, struct ipc_message *ret)
{
    struct ipc_frame frame;
    ssize_t n;
    while ((n = ipc_frame_get((struct view){ a->in.p, a->in.n }, &frame)) == 0) {
        int r = read_more(a, deadline_ns);
        if (r < 0)
            return r;
    }
    if (n < 0)
        return (int)n;
    a->in_at = (size_t)n;
    return ipc_message_get(ret, &frame, IPC_TO_CLIENT);
}

static int
tell(int code, struct err *err)
{
    switch (code) {
    case -ETIMEDOUT:
        return err_set(err, code, "the recorder does not answer");
    case -ECONNRESET:
        return err_set(err, code, "the recorder has closed the connection");
    case -EPROTO:
        return err_set(err, code,
                       "the recorder's answer makes no sense; is it another "
                       "version of ahr, or another program?");
    default:
        return err_code(err, code, "cannot talk to the recorder");
    }
}

int
client_ask_send(struct client_ask *a, const struct ipc_message *m, int timeout_ms,
                struct err *err)
{
    int r = say(a, m, deadline_in(timeout_ms));
    /* One that has hung up may have said why: who listens next is told. */
    return r < 0 && r != -ECONNRESET ? tell(r, err) : 0;
}

int
client_ask(struct client_ask *a, const struct ipc_message *m, int timeout_ms,
           struct ipc_message *ret, struct err *err)
{
    uint64_t deadline_ns = deadline_in(timeout_ms);
    struct ipc_message got = { 0 };
    drop_read(a);
    int r = m ? say(a, m, deadline_ns) : 0;
    if (!r || r == -ECONNRESET)
        r = hear(a, deadline_ns, &got);
    if (r < 0)
        return tell(r, err);
    if (got.selector == IPC_REFUSED)
        return err_set(err, -EPERM, "%.*s", (int)got.bytes.n, (const char *)got.bytes.p);
    *ret = got;
    return 0;
}

static int
introduce(struct client_ask *a, const char *token, struct err *err)
{
    struct ipc_message m = { .selector = IPC_AUTH,
                             .bytes = { (const uint8_t *)token, strlen(token) } };
    if (m.bytes.n > IPC_MESSAGE_BYTES_MAX)
        return err_set(err, ERR_USAGE, "the recorder's token is too long");
    return client_ask_send(a, &m, -1, err);
}

int
client_ask_open(struct client_ask *ret, const char *address, const char *token,
                struct err *err)
{
    struct ipc_address at;
    int r = ipc_address_parse(&at, address, err);
    if (r < 0)
        return r;
    int fd = ipc_connect(&at, err);
    if (fd < 0)
        return fd;
    struct client_ask a = { .fd = fd, .in = { .ceiling = IN_MAX } };
    if (at.is_tcp && token)
        r = introduce(&a, token, err);
    if (r < 0)
        client_ask_close(&a);
    else
        *ret = a;
    return r;
}

void
client_ask_close(struct client_ask *a)
{
    if (a->fd >= 0)
        close(a->fd);
    buf_release(&a->in);
    *a = (struct client_ask){ .fd = -1 };
}

/* -- the screen -- */

static int
collect_picture(struct client_ask *a, struct buf *picture, struct err *err)
{
    struct ipc_message m = { .selector = IPC_SUBSCRIBE,
                             .field = { 0, 0, IPC_SUB_WATCH | IPC_SUB_PICTURE } };
    struct ipc_message got = { 0 };
    int r = client_ask(a, &m, SCREEN_MS, &got, err);
    for (; !r; r = client_ask(a, NULL, SCREEN_MS, &got, err)) {
        if (got.selector == IPC_SKIPPED || got.selector == IPC_ENDED)
            break;
        if (got.selector != IPC_PICTURE)
            continue;
        if (got.bytes.n && buf_append(picture, got.bytes.p, got.bytes.n) < 0)
            return err_code(err, picture->failed, "cannot take the screen");
        if (got.field[1] && picture->n)
            return 0;
        if (got.field[1])
            break;
    }
    return r < 0 ? r
                 : err_set(err, -ENODATA, "the recorder has no picture of the screen");
}

int
client_ask_screen(struct client_ask *a, struct term **ret, struct err *err)
{
    AUTO(buf) picture = { .ceiling = PICTURE_MAX };
    struct term_options opt = term_options_default();
    int r = collect_picture(a, &picture, err);
    if (r < 0)
        return r;
    return term_restore((struct view){ picture.p, picture.n }, &opt, ret, err);
}
