/* SPDX-License-Identifier: MIT */
/* root.h -- which folder a snapshot is of. */
#ifndef SNAP_ROOT_H
#define SNAP_ROOT_H

#include "base/buf.h"

/* Appends the real path of the git work tree around dir (the nearest folder with a .git
 * that is one), else that of dir itself. No git is run: the user's is never asked. */
int snap_root(struct buf *ret, const char *dir, struct err *err);

#endif
