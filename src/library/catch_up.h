/* SPDX-License-Identifier: MIT */
/*
 * catch_up.h -- the library brought up to date by those who have changed sessions: what
 * is not in the index is put there, then keyframes are made where they help.
 */
#ifndef LIBRARY_CATCH_UP_H
#define LIBRARY_CATCH_UP_H

#include "library/index.h"

/*
 * ids: of stored sessions (SESSION_ID_LEN + 1 bytes each); NULL: all that are not
 * indexed, and those that are gone go out. A session that fails does not stop the others.
 * Where there is nothing to do no library is made. Returns the number of those that
 * failed, with the first one's reason in *err; < 0 when the library cannot be used. One
 * that is gone meanwhile, or that somebody else is at, has not failed.
 */
int library_catch_up(const char *home, const struct buf *ids, unsigned wait_ms,
                     struct err *err);

#endif
