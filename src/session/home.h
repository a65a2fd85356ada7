/* SPDX-License-Identifier: MIT */
/*
 * home.h -- where ahr keeps its files: $AHR_HOME, else $XDG_DATA_HOME/ahr, else
 * ~/.local/share/ahr.
 */
#ifndef SESSION_HOME_H
#define SESSION_HOME_H

#include "base/buf.h"

/* Appends the absolute path; nothing is made. Relative values of the variables that XDG
 * defines are ignored, as its specification asks; a relative $AHR_HOME is taken from the
 * current folder. */
int session_home(struct buf *ret, struct err *err);

#endif
