/* SPDX-License-Identifier: MIT */
/* branch_git.h -- the user's git, in the user's repository. */
#ifndef CLI_BRANCH_GIT_H
#define CLI_BRANCH_GIT_H

#include "base/buf.h"

/* Runs `git WORDS…` in the folder, without hooks, and without the variables that would
 * lead it elsewhere. The first line that it prints is appended to ret, unless that is
 * NULL. ERR_MISSING: there is no git; -EIO with what it said last. */
int cli_branch_git(const char *dir, const char *const *words, struct buf *ret,
                   struct err *err);

#endif
