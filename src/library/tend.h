/* SPDX-License-Identifier: MIT */
/*
 * tend.h -- what a look at the library finds undone is done in the background: sessions
 * whose recorder has vanished are recovered, those that are not indexed are indexed.
 *
 * One at a time a home: the process that does it has <home>/library.tend locked for its
 * life. One that did not help is not started again before LIBRARY_TEND_S have gone by.
 */
#ifndef LIBRARY_TEND_H
#define LIBRARY_TEND_H

#include "library/list.h"

enum { LIBRARY_TEND_S = 60 };

/*
 * By what library_list() has counted (unindexed, gone, interrupted, why). Starts `ahr
 * recover --all`, which indexes what is pending, too, or `ahr index --all`, detached;
 * nobody waits for it. 1: it was started, or somebody is at it already; 0: there is
 * nothing to do, or somebody just was at it and left the same to do; else an error, which
 * nobody needs to tell.
 */
int library_tend(const char *home, const struct library_listed *listed);

#endif
