/* SPDX-License-Identifier: MIT */
/*
 * watch_priv.h -- descriptors waited for as they are.
 *
 * The loop's own polls make a descriptor non-blocking, and with it that of everyone who
 * shares it: our terminal is the shell's, too. So they lie in an epoll of ours, and the
 * loop waits for that.
 */
#ifndef RUN_WATCH_PRIV_H
#define RUN_WATCH_PRIV_H

#include <stdint.h>

#include "base/err.h"

enum run_watched { RUN_WATCH_IN, RUN_WATCH_TO, RUN_WATCH_OUT, RUN_WATCH_PIPES };
enum { RUN_WATCHED = RUN_WATCH_PIPES + 1 };

struct run_watch {
    int fd; /* readable when there is something */
    struct {
        int fd;          /* -1: not watched */
        uint32_t events; /* EPOLLIN, EPOLLOUT; 0: only whether it is gone */
    } what[RUN_WATCHED];
};

int run_watch_init(struct run_watch *w, struct err *err);
void run_watch_release(struct run_watch *w);
/* fd -1: not any more. What cannot be waited for (a file) is not watched. */
void run_watch_set(struct run_watch *w, enum run_watched which, int fd, uint32_t events);
/* What there is now, by enum run_watched. */
void run_watch_get(struct run_watch *w, uint32_t ret[RUN_WATCHED]);

#endif
