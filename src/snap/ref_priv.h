/* SPDX-License-Identifier: MIT */
/* ref_priv.h -- what a ref of a shadow repository names, without a git. */
#ifndef SNAP_REF_PRIV_H
#define SNAP_REF_PRIV_H

#include <stdbool.h>

#include "snap/facts.h"

/* A file of its own, else a line of packed-refs. ERR_MISSING, ERR_DAMAGED. */
int snap_ref_read(const char *repo_path, const char *ref,
                  char ret_commit[static SNAP_COMMIT_MAX + 1]);
/* Has any session a snapshot of that id? */
bool snap_ref_has_id(const char *repo_path, uint64_t id);

#endif
