/* SPDX-License-Identifier: MIT */
/*
 * watch.h -- tells when files below a root have changed and then come to rest.
 *
 * The kernel tells of changes (inotify), so that nothing is done while nothing happens.
 * Where it does not, since there are too many folders, the tree is looked at now and
 * then. What is ignored may count as a change: whoever takes a snapshot finds out.
 */
#ifndef SNAP_WATCH_H
#define SNAP_WATCH_H

#include "base/buf.h"

struct snap_watch;

/* All borrowed, for as long as the watch is there. */
struct snap_watch_options {
    const char *home, *root; /* as snap_request has them */
    /* Files whose changes do not count: real paths, NULL behind the last, all in one
     * folder, and whatever there goes on with such a name. NULL: none. */
    const char *const *but;
    uint64_t since_ns;  /* what has changed since this time (wall clock) counts, too */
    size_t folders_max; /* that are watched by the kernel; 0: as many as is usual */
};

int snap_watch_new(struct snap_watch **ret, const struct snap_watch_options *opt,
                   struct err *err);
void snap_watch_free(struct snap_watch *w);
/* Waits until something has changed and then nothing for quiet_ms, but not longer than
 * patience_ms after the first change. 1: so it is. 0: stop_fd can be read, or has hung
 * up; what has changed meanwhile is not told. */
int snap_watch_wait(struct snap_watch *w, unsigned quiet_ms, unsigned patience_ms,
                    int stop_fd, struct err *err);

#endif
