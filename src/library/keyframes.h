/* SPDX-License-Identifier: MIT */
/*
 * keyframes.h -- where a recording's keyframes are kept: as `keyframes` in the session's
 * folder, for other files in $XDG_CACHE_HOME/ahr/keyframes (~/.cache), which is swept so
 * that it does not grow without end.
 */
#ifndef LIBRARY_KEYFRAMES_H
#define LIBRARY_KEYFRAMES_H

#include "library/find.h"

enum {
    LIBRARY_KEYFRAMES_WORTH = 1
                              << 20, /* bytes of a stream: less is gone through at once */
    LIBRARY_KEYFRAMES_FILES = 100,   /* in the cache: others go, the oldest first … */
    LIBRARY_KEYFRAMES_BYTES = 1 << 28, /* … and those that make it larger than this */
};

/* Appends the path, as a C string by buf_str(); folders that are missing are made. An
 * error means that there is no place for them: one does without. */
int library_keyframes_path(const struct library_found *f, struct buf *ret);
/*
 * Those of a stored session, made before anybody asks for them, where they help: its
 * recording is gone through to its end. The session is held meanwhile. 1: they are there
 * now; 0: none are needed, or there is no place for them; ERR_BUSY: somebody is at it.
 */
int library_keyframes_make(const char *home, const char *id, struct err *err);

/* Removes those of the recording at tape_path from both places. */
int library_keyframes_remove(const char *tape_path, struct err *err);

#endif
