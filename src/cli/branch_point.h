/* SPDX-License-Identifier: MIT */
/* branch_point.h -- the moment of a session from which another one goes on. */
#ifndef CLI_BRANCH_POINT_H
#define CLI_BRANCH_POINT_H

#include "library/find.h"
#include "snap/list.h"

/* The file snapshot `what` of that session, as snap_find_of(); NULL: its last one. Where
 * it has none, or `what` is a mark without files, *err says what to do instead. */
int cli_branch_point(struct snap_found *ret, const char *home,
                     struct library_found *session, const char *what, struct err *err);

#endif
