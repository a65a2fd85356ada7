/* SPDX-License-Identifier: MIT */
/*
 * exchange.h -- a stored session's folder made anew takes the place of the old one.
 *
 * In one step where the file system can: at each moment there is one folder of that id,
 * the old one or the new. Else in two, between which there is none for an instant; killed
 * there, sessions/.old-<id> is to be put back (library_sweep()).
 */
#ifndef SESSION_EXCHANGE_H
#define SESSION_EXCHANGE_H

#include "base/buf.h"

/* What stands before an id in sessions/ while it is made, moved or removed. */
#define SESSION_NEW  ".new-"
#define SESSION_OLD  ".old-"
#define SESSION_GONE ".gone-"

/* sessions/.new-<id> becomes sessions/<id>; where the old one is now is appended. What
 * fails leaves things as they were. The caller syncs sessions/. */
int session_exchange(const char *home, const char *id, struct buf *ret_old,
                     struct err *err);

#endif
