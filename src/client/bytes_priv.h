/* SPDX-License-Identifier: MIT */
/* bytes_priv.h -- output that is no terminal: every byte, from the recording where the
 * host has left some out. */
#ifndef CLIENT_BYTES_PRIV_H
#define CLIENT_BYTES_PRIV_H

#include "client/show_priv.h"

enum { BYTES_PENDING_MAX = 1 << 20 }; /* output that has not been taken */

void bytes_take(struct show *s, uint64_t off, struct view v);
/* Reads on from the recording, if something is to come from there. */
void bytes_fill(struct show *s);
bool bytes_is_filling(const struct show *s);

#endif
