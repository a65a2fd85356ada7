/* SPDX-License-Identifier: MIT */
/*
 * change.h -- stored sessions renamed and deleted.
 *
 * A live one is ERR_BUSY, and so is one that somebody else is at. Killed at any point, a
 * session is there once and whole, or gone.
 */
#ifndef LIBRARY_CHANGE_H
#define LIBRARY_CHANGE_H

#include "base/err.h"
#include "redact/redact.h"

/* name NULL: none any more. */
int library_rename(const char *home, const char *id, const char *name,
                   struct redact *redact, struct err *err);
/* Its folder and all that is in it, and its rows. */
int library_delete(const char *home, const char *id, struct err *err);
/* Removes what a killed delete or redact has left in sessions/ under a hidden name. */
void library_sweep(const char *home);

#endif
