/* SPDX-License-Identifier: MIT */
#include "pty/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "pty/tty.h"

enum {
    STEP = 512,        /* written at once where a write may wait, after poll() */
    PATIENCE_MS = 500, /* for the last word */
};

void
pty_output_open(struct pty_output *o, int fd)
{
    struct stat st;
    int own = pty_reopen_nonblock(fd, O_WRONLY);
    *o = (struct pty_output){ .fd = own >= 0 ? own : fd, .given_fd = fd };
    if (own >= 0 || fstat(fd, &st) < 0)
        return;
    if (S_ISSOCK(st.st_mode))
        o->kind = PTY_OUTPUT_SOCKET;
    else if (S_ISFIFO(st.st_mode) || isatty(fd)) /* somebody else's */
        o->kind = PTY_OUTPUT_WAITS;
}

void
pty_output_close(struct pty_output *o)
{
    if (o->fd != o->given_fd)
        close(o->fd);
    queue_release(&o->waiting);
}

size_t
pty_output_waiting(const struct pty_output *o)
{
    return queue_size(&o->waiting);
}

static void
give_up(struct pty_output *o, int error)
{
    o->is_gone = true;
    o->error = error;
    queue_clear(&o->waiting);
}

void
pty_output_lose(struct pty_output *o)
{
    give_up(o, EPIPE);
}

/* How much of it is taken now. */
static size_t
write_now(struct pty_output *o, struct view v)
{
    size_t done = 0;
    while (done < v.n && !o->is_gone) {
        ssize_t n = o->kind == PTY_OUTPUT_SOCKET
                        ? send(o->fd, v.p + done, v.n - done, MSG_DONTWAIT | MSG_NOSIGNAL)
                        : write(o->fd, v.p + done, v.n - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0) {
            give_up(o, errno);
            return v.n;
        }
        done += (size_t)n;
        o->taken += (size_t)n;
    }
    return done;
}

void
pty_output_flush(struct pty_output *o)
{
    struct view v = queue_view(&o->waiting);
    if (o->kind == PTY_OUTPUT_WAITS && v.n > STEP)
        v.n = STEP;
    size_t n = write_now(o, v);
    if (!o->is_gone) /* else there is nothing left in it */
        queue_drop(&o->waiting, n);
}

void
pty_output_put(struct pty_output *o, struct view v)
{
    if (o->is_gone || !v.n)
        return;
    size_t done = pty_output_waiting(o) || o->kind == PTY_OUTPUT_WAITS ? 0
                                                                       : write_now(o, v);
    if (done < v.n && !o->is_gone)
        queue_put(&o->waiting, (struct view){ v.p + done, v.n - done });
}

void
pty_output_try(struct pty_output *o, struct view v)
{
    uint64_t end_ns = clock_mono_ns() + PATIENCE_MS * 1000000ULL, now_ns;
    while (v.n && !o->is_gone && (now_ns = clock_mono_ns()) < end_ns) {
        struct pollfd fd = { .fd = o->fd, .events = POLLOUT };
        if (poll(&fd, 1, (int)((end_ns - now_ns) / 1000000) + 1) <= 0)
            continue;
        bool is_cut = o->kind == PTY_OUTPUT_WAITS && v.n > STEP;
        size_t n = write_now(o, (struct view){ v.p, is_cut ? STEP : v.n });
        v = (struct view){ v.p + n, v.n - n };
    }
}
