/* SPDX-License-Identifier: MIT */
/* reach.h -- from what a person calls a session to the sockets of its recorder. */
#ifndef LIBRARY_REACH_H
#define LIBRARY_REACH_H

#include "library/find.h"

struct library_live {
    struct library_found found; /* id, recording and meta */
    struct buf ctl_path;        /* as a C string by buf_str() */
    struct buf done_tape_path;  /* where the recording will be at the end */
};

void library_live_release(struct library_live *l);
/* what NULL or "last": the live session that began last. ERR_MISSING, with the reason and
 * what to do, when there is none, when it has ended, when its recorder has vanished. */
int library_reach(struct library_live *ret, const char *what, struct err *err);

#endif
