/* SPDX-License-Identifier: MIT */
/*
 * compile_priv.h -- rules to a pack, with the whole of vectorscan.
 *
 * Only the program ahr-rules links this: at build time for the rules that are built in,
 * at run time for the user's own. The databases are for the plainest CPU of the
 * architecture.
 */
#ifndef REDACT_COMPILE_PRIV_H
#define REDACT_COMPILE_PRIV_H

#include "redact/rules_priv.h"

/* Appends the pack to out. A pattern that cannot be compiled is told with its line in
 * path. */
int compile_rules(const struct rules *rules, const char *path, struct buf *out,
                  struct err *err);

#endif
