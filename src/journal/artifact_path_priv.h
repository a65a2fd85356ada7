/* SPDX-License-Identifier: MIT */
/* artifact_path_priv.h -- where a file lies, and how it is listed. */
#ifndef JOURNAL_ARTIFACT_PATH_PRIV_H
#define JOURNAL_ARTIFACT_PATH_PRIV_H

#include <stdbool.h>

#include "base/buf.h"

/* Appends the absolute path; base is for relative ones. False: it cannot be one. */
bool journal_path_whole(struct view path, const char *base, struct buf *ret);
/* Appends it as it is listed: below root relative to it, else as it is. */
void journal_path_listed(const char *whole, const char *root, struct buf *ret);

#endif
