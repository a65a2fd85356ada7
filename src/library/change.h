/* SPDX-License-Identifier: MIT */
/*
 * change.h -- stored sessions renamed and deleted.
 *
 * A live one is ERR_BUSY, and so is one that somebody else is at; one whose recorder has
 * vanished is recovered first, unless it is to go. Killed at any point, a session is
 * there once and whole, or gone.
 */
#ifndef LIBRARY_CHANGE_H
#define LIBRARY_CHANGE_H

#include "base/err.h"
#include "redact/redact.h"

/* name NULL: none any more. An index that cannot be changed keeps the session as it is.
 */
int library_rename(const char *home, const char *id, const char *name,
                   struct redact *redact, struct err *err);
/* Its snapshots of files, then its folder and all that is in it, and its rows. Snapshots
 * that cannot be removed keep it. 1: but the rows, and *err tells why:
 * the index is damaged or of a newer ahr, or the disk is full even then. A recording at
 * an out-file stays. Unless it is forced, one that an active session descends from stays:
 * who began while we were asking, say (library/kin.h). */
int library_delete(const char *home, const char *id, bool is_forced, struct err *err);
/* Ends what a killed delete, clean or redact has left in sessions/ under a hidden name
 * (.gone-<id>, .new-<id>, .old-<id>), where nobody is at it: an old folder whose place is
 * empty goes back there, all else is removed. */
void library_sweep(const char *home);

#endif
