/* SPDX-License-Identifier: MIT */
/*
 * damaged.h -- <home>/damaged: sessions of which nothing at all can be read, out of the
 * way of the others, with all their bytes.
 *
 * A session that is whole in part is not one of them, nor is one whose conversation is
 * there, nor one whose files could not be read this time (no permission, a disk that
 * fails, no memory), nor one of a newer ahr.
 */
#ifndef LIBRARY_DAMAGED_H
#define LIBRARY_DAMAGED_H

#include <stdbool.h>

#include "base/buf.h"

/* Is there one byte in the files of the recording at tape_path, or in what repair has set
 * aside there? */
bool library_has_bytes(const char *tape_path);
/* 1: the recording at tape_path has bytes, all were read, and not one block or tail of
 * them is good; 0: else; or the error that kept us from reading. */
int library_is_ruin(const char *tape_path, struct err *err);
/* Is what was said still there: an event in the session's folder `dir`, or the log that
 * its run has in the project? */
bool library_has_talk(const char *dir);
/* Moves <home>/<kind>/<id> (kind: "live" or "sessions") to <home>/damaged/<id>, or to
 * <id>.2, … where that is taken; the new path is appended (ret_path may be NULL). Its
 * holder calls this. */
int library_set_aside(const char *home, const char *kind, const char *id,
                      struct buf *ret_path, struct err *err);

#endif
