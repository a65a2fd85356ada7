/* SPDX-License-Identifier: MIT */
/*
 * hold.h -- one at a time at a stored session: a lock on the folder itself, which goes
 * when its holder does.
 *
 * The folder that is held is the one that stands at sessions/<id> when this returns; one
 * that was put in its place while we waited is held instead.
 */
#ifndef SESSION_HOLD_H
#define SESSION_HOLD_H

#include <stdbool.h>

#include "base/err.h"

/* A descriptor to close; ERR_MISSING, or ERR_BUSY after wait_ms. A folder that is a link
 * is refused (ERR_MISSING). */
int session_hold(const char *home, const char *id, unsigned wait_ms, struct err *err);

#endif
