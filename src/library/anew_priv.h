/* SPDX-License-Identifier: MIT */
/*
 * anew_priv.h -- a session's folder made anew without its secrets.
 *
 * Every file of the old folder is made again in the new one, synced, or left out: what is
 * derived, and scraps of recordings that cannot be read and so may hold anything. Links
 * and folders are refused, since what they lead to is not the session's.
 */
#ifndef LIBRARY_ANEW_PRIV_H
#define LIBRARY_ANEW_PRIV_H

#include "library/rewrite.h"
#include "library/scrub_priv.h"

struct anew {
    const struct library_rewrite *rw; /* borrowed, and so are the next two */
    const char *from, *to;            /* folders */
    int from_fd, to_fd;
    struct scrub *scrub;           /* made here */
    struct buf files;              /* `"name":places,…` of those that held any */
    struct library_rewritten done; /* so far */
};

void anew_release(struct anew *a);
int anew_make(struct anew *a, struct err *err);

#endif
