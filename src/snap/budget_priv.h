/* SPDX-License-Identifier: MIT */
/*
 * budget_priv.h -- the oldest automatic snapshots go, as many as it takes.
 *
 * How much that will free is told by git before anything is removed: what the snapshots
 * have in common stays until the last of them goes.
 */
#ifndef SNAP_BUDGET_PRIV_H
#define SNAP_BUDGET_PRIV_H

#include "base/buf.h"

/* now_bytes: what all repositories hold. Those that somebody is at are left alone. */
int snap_budget(const char *home, uint64_t budget_bytes, uint64_t now_bytes,
                uint64_t *ret_dropped, struct err *err);

#endif
