/* SPDX-License-Identifier: MIT */
/* remove.h -- takes a recording away, with all files that belong to it. */
#ifndef TAPE_REMOVE_H
#define TAPE_REMOVE_H

#include "tape/io.h"

/*
 * Removes the recording at path, its segments and its tails; what repair has set aside
 * (NAME.torn) stays. 0 also when nothing is there. Nothing is touched when it is being
 * recorded or repaired (ERR_BUSY), when something under one of these names is no regular
 * file (a symbolic link neither), or when NAME.1 … is somebody's file of another kind.
 * What an attempt that failed or was killed leaves is the beginning of the recording, and
 * can be removed again.
 */
int tape_remove(struct tape_io *io, const char *path, struct err *err);

#endif
