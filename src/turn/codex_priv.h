/* SPDX-License-Identifier: MIT */
/* codex_priv.h -- what Codex's stream and its rollouts have in common. */
#ifndef TURN_CODEX_PRIV_H
#define TURN_CODEX_PRIV_H

#include "turn/event.h"

/* An object of its counts (raw). What is told of the cache is taken off the input, which
 * counts that, too: what was read first, then what was written, each if it fits. */
struct turn_usage codex_usage(struct view object);

#endif
