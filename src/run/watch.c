/* SPDX-License-Identifier: MIT */
#include "run/watch_priv.h"

#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

int
run_watch_init(struct run_watch *w, struct err *err)
{
    *w = (struct run_watch){ .fd = epoll_create1(EPOLL_CLOEXEC) };
    for (int i = 0; i < RUN_WATCHED; i++)
        w->what[i].fd = -1;
    return w->fd < 0 ? err_sys(err, "cannot wait for descriptors") : 0;
}

void
run_watch_release(struct run_watch *w)
{
    if (w->fd >= 0)
        close(w->fd);
    w->fd = -1;
}

void
run_watch_set(struct run_watch *w, enum run_watched which, int fd, uint32_t events)
{
    struct epoll_event e = { .events = events, .data.u32 = which };
    int have = w->what[which].fd;
    if (have == fd && (fd < 0 || w->what[which].events == events))
        return;
    if (have >= 0 && have != fd) /* one that was closed is gone by itself */
        (void)epoll_ctl(w->fd, EPOLL_CTL_DEL, have, NULL);
    w->what[which].fd = fd;
    w->what[which].events = events;
    if (fd >= 0)
        (void)epoll_ctl(w->fd, have == fd ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &e);
}

void
run_watch_get(struct run_watch *w, uint32_t ret[RUN_WATCHED])
{
    struct epoll_event e[RUN_WATCHED];
    memset(ret, 0, sizeof(*ret) * RUN_WATCHED);
    int n = epoll_wait(w->fd, e, RUN_WATCHED, 0);
    for (int i = 0; i < n; i++)
        ret[e[i].data.u32] = e[i].events;
}
