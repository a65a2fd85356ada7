/* SPDX-License-Identifier: MIT */
/* lines.h -- the objects of a file of lines (base/jsonl.h), archived or not. */
#ifndef GZ_LINES_H
#define GZ_LINES_H

#include "base/jsonl.h"

/* All of the file at path through `lines`. is_growing: a last line without a newline is
 * not there yet. ERR_MISSING: there is no such file. ERR_DAMAGED: it is archived, and
 * cannot be read to its end; all before that was handed over. */
int gz_lines_read(const char *path, struct jsonl *lines, bool is_growing,
                  struct err *err);

#endif
