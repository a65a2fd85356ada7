/* SPDX-License-Identifier: MIT */
/* change_priv.h -- what comes before and after each change of a stored session's files.
 */
#ifndef LIBRARY_CHANGE_PRIV_H
#define LIBRARY_CHANGE_PRIV_H

#include "redact/redact.h"

/* One whose recorder has vanished, to where it belongs. 1: it is not in sessions/
 * afterwards either. ERR_BUSY for a live one. */
int library_settle(const char *home, const char *id, struct err *err);
/* The next who looks does it if we cannot. */
void library_index_again(const char *home, const char *id, struct redact *redact);

#endif
