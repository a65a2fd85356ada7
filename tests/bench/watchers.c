/* SPDX-License-Identifier: MIT */
/*
 * watchers.c -- many that look at one session.
 *
 *     watchers CTL_SOCK COUNT DEAF
 *
 * So many connections subscribe, without a picture; the last DEAF of them never read.
 * Prints `ready` when all are in, and reads what comes until stdin ends. Then: how many
 * bytes a reading one has got, the fewest and the most, and how many were skipped forward
 * or let go.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ipc/message.h"
#include "ipc/socket.h"

enum { COUNT_MAX = 250, READ_SIZE = 256 << 10, EVENTS = 64 };

struct watcher {
    int fd;
    bool is_gone;
    uint64_t bytes, skips;
    struct buf in;
};

/* Frames that are whole, and which of them are news of a skip. */
static int
take_frames(struct watcher *w)
{
    struct ipc_frame frame;
    size_t at = 0;
    ssize_t n;
    while ((n = ipc_frame_get((struct view){ w->in.p + at, w->in.n - at }, &frame)) > 0) {
        w->skips += frame.selector == IPC_SKIPPED;
        at += (size_t)n;
    }
    if (at && at < w->in.n)
        memmove(w->in.p, w->in.p + at, w->in.n - at);
    w->in.n -= at;
    return (int)n;
}

static int
read_some(struct watcher *w)
{
    if (buf_reserve(&w->in, READ_SIZE) < 0)
        return -ENOMEM;
    ssize_t n = recv(w->fd, w->in.p + w->in.n, READ_SIZE, MSG_DONTWAIT);
    if (n < 0 && errno == EAGAIN)
        return 0;
    if (n <= 0)
        return -ECONNRESET;
    w->in.n += (size_t)n;
    w->bytes += (uint64_t)n;
    return take_frames(w);
}

static int
join(struct watcher *w, const struct ipc_address *at, struct err *err)
{
    AUTO(buf) out = { 0 };
    w->fd = ipc_connect(at, err);
    if (w->fd < 0)
        return w->fd;
    ipc_message_put(&out,
                    &(struct ipc_message){ .selector = IPC_SUBSCRIBE,
                                           .field = { 0, 0, IPC_SUB_WATCH } },
                    IPC_TO_HOST);
    struct pollfd p = { .fd = w->fd, .events = POLLIN };
    if (send(w->fd, out.p, out.n, MSG_NOSIGNAL) != (ssize_t)out.n ||
        poll(&p, 1, 10000) <= 0)
        return err_set(err, -EIO, "no word of the recorder");
    return 0;
}

static void
watch(struct watcher *all, int epoll_fd)
{
    struct epoll_event events[EVENTS];
    for (;;) {
        int n = epoll_wait(epoll_fd, events, EVENTS, -1);
        for (int i = 0; i < n; i++) {
            uint32_t which = events[i].data.u32;
            if (which == COUNT_MAX)
                return;
            struct watcher *w = &all[which];
            if (read_some(w) >= 0)
                continue;
            w->is_gone = true;
            epoll_ctl(epoll_fd, EPOLL_CTL_DEL, w->fd, NULL);
        }
    }
}

static void
follow(int epoll_fd, int fd, uint32_t which)
{
    struct epoll_event e = { .events = EPOLLIN, .data.u32 = which };
    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &e);
}

static void
tell(const struct watcher *all, size_t reading)
{
    uint64_t fewest = UINT64_MAX, most = 0, skips = 0, gone = 0;
    for (size_t i = 0; i < reading; i++) {
        const struct watcher *w = &all[i];
        fewest = w->bytes < fewest ? w->bytes : fewest;
        most = w->bytes > most ? w->bytes : most;
        skips += w->skips;
        gone += w->is_gone;
    }
    printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", reading ? fewest : 0,
           most, skips, gone);
}

int
main(int argc, char **argv)
{
    static struct watcher all[COUNT_MAX];
    struct ipc_address at;
    struct err err;
    if (argc != 4 || ipc_address_parse(&at, argv[1], &err) < 0)
        return 2;
    size_t count = strtoul(argv[2], NULL, 10), deaf = strtoul(argv[3], NULL, 10);
    if (count > COUNT_MAX || deaf > count)
        return 2;
    int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    for (size_t i = 0; i < count; i++) {
        if (join(&all[i], &at, &err) < 0) {
            fprintf(stderr, "watchers: %s\n", err.text);
            return 1;
        }
        if (i < count - deaf)
            follow(epoll_fd, all[i].fd, (uint32_t)i);
    }
    follow(epoll_fd, STDIN_FILENO, COUNT_MAX);
    puts("ready");
    fflush(stdout);
    watch(all, epoll_fd);
    tell(all, count - deaf);
    return 0;
}
