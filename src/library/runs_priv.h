/* SPDX-License-Identifier: MIT */
/* runs_priv.h -- the folder of a project's runs, for those who look at all of them. */
#ifndef LIBRARY_RUNS_PRIV_H
#define LIBRARY_RUNS_PRIV_H

#include <stdbool.h>

#include "base/buf.h"

/* That of the project around the folder `from` (the nearest): its descriptor, and its
 * path in *ret_path. -1: there is none. No link is followed. */
int runs_find(const char *from, struct buf *ret_path);
/* Is nobody at the run of that name? */
bool runs_is_free(int runs_fd, const char *name);

#endif
