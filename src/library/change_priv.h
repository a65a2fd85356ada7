/* SPDX-License-Identifier: MIT */
/* change_priv.h -- what comes before and after each change of a stored session's files.
 */
#ifndef LIBRARY_CHANGE_PRIV_H
#define LIBRARY_CHANGE_PRIV_H

#include "redact/redact.h"

/* What goes with a session: called when it is held, in no index, and put away if it was
 * stored, before anything of it has gone. An error (< 0) keeps the session. What it says
 * in *err is left there. */
struct change_also {
    int (*fn)(void *ctx, struct err *err);
    void *ctx;
};

/* One whose recorder has vanished, to where it belongs. 1: it is not in sessions/
 * afterwards either. ERR_BUSY for a live one. */
int library_settle(const char *home, const char *id, struct err *err);
/* The next who looks does it if we cannot. */
void library_index_again(const char *home, const char *id, struct redact *redact);
/* As library_delete(); also may be NULL. */
int change_delete(const char *home, const char *id, bool is_forced,
                  const struct change_also *also, struct err *err);

#endif
