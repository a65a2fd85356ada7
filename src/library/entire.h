/* SPDX-License-Identifier: MIT */
/* entire.h -- where a session's conversation is in its project's .entire/, and away with
 * it. */
#ifndef LIBRARY_ENTIRE_H
#define LIBRARY_ENTIRE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

/* The project of the session whose folder is `dir`, if it is a run that keeps a
 * transcript there: the folder around that of its run, else where it was started. Appends
 * nothing for others, and when it is not known. */
int library_entire_root(const char *dir, struct buf *ret);
/* Appends the folder of a session of the library in .entire/, where some of its files are
 * there: true. No link is followed below the project. */
bool library_entire_find(const char *home, const char *id, struct buf *ret);
/* As journal_entire_remove(). */
int library_entire_remove(const char *dir, const char *id, struct err *err);

#endif
