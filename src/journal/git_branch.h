/* SPDX-License-Identifier: MIT */
/* git_branch.h -- which branch a folder's work tree is on. */
#ifndef JOURNAL_GIT_BRANCH_H
#define JOURNAL_GIT_BRANCH_H

#include "base/buf.h"

/* The branch of the git work tree around the folder, appended, by its files alone;
 * nothing where there is none, or its HEAD is detached. root is absolute. */
void journal_git_branch(const char *root, struct buf *ret);

#endif
