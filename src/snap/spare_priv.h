/* SPDX-License-Identifier: MIT */
/* spare_priv.h -- packs with nothing in them that is needed go, where there is no room to
 * write another. */
#ifndef SNAP_SPARE_PRIV_H
#define SNAP_SPARE_PRIV_H

#include <stdbool.h>

#include "base/buf.h"

/* Removes the packs that hold nothing which those commits (a line each) need, and writes
 * nothing. All that they need must be there, else nothing goes. *ret_is_all: the others
 * hold nothing else. The repository is held alone. */
int snap_spare(bool *ret_is_all, const char *repo_path, struct view commits,
               const char *doing, struct err *err);

#endif
