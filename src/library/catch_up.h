/* SPDX-License-Identifier: MIT */
/*
 * catch_up.h -- what is not in the index yet, put there; then the keyframes of what is
 * long enough for them.
 */
#ifndef LIBRARY_CATCH_UP_H
#define LIBRARY_CATCH_UP_H

#include "library/index.h"

struct library_catch_up {
    const struct buf *ids; /* these (SESSION_ID_LEN + 1 bytes each); NULL: none */
    bool is_all; /* and all that are in sessions/ alone; those that are gone go out */
    bool has_keyframes;   /* … are made where they help */
    unsigned wait_ms;     /* for the library */
    library_each_fn each; /* NULL: nobody wants to know */
    void *ctx;
};

/*
 * A session that fails does not stop the others. The library is made where there is none,
 * if there is something for it. Returns the number of those that failed: `each` was told,
 * and *err has the first reason; < 0 when nothing could be done. One that is gone
 * meanwhile, or that somebody else is at, has not failed.
 */
int library_catch_up(const char *home, const struct library_catch_up *what,
                     struct err *err);

#endif
