/* SPDX-License-Identifier: MIT */
/* join_priv.h -- many packs become few. */
#ifndef SNAP_JOIN_PRIV_H
#define SNAP_JOIN_PRIV_H

#include "base/err.h"

/* Puts the small packs of a repository into one, with all that is in them: each byte is
 * written again only when what it lies with has doubled. The caller does not hold it, and
 * is the only one who tidies. ERR_BUSY: somebody is at it and does not end. */
int snap_join(const char *repo_path, struct err *err);

#endif
