/* SPDX-License-Identifier: MIT */
/* snapshots_priv.h -- the lines of snapshots that a vanished recorder owes. */
#ifndef LIBRARY_SNAPSHOTS_PRIV_H
#define LIBRARY_SNAPSHOTS_PRIV_H

#include "base/err.h"

/* Appends to the snapshots.jsonl beside the recording a line (kind "auto") for each
 * snapshot of the recording that has none there, and syncs it. Where none is missing
 * nothing is changed. */
int snapshots_complete(const char *tape_path, struct err *err);

#endif
