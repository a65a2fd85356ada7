/* SPDX-License-Identifier: MIT */
/*
 * lag_priv.h -- a terminal that is too slow for the bytes that are passed to it.
 *
 * One that takes 2.5 MB/s holds the command up, as it would without us. A slower one is
 * left out: the host sends nothing until the terminal has taken something again, and then
 * goes on with what the session's screen shows by then.
 */
#ifndef CLIENT_LAG_PRIV_H
#define CLIENT_LAG_PRIV_H

#include "client/show_priv.h"

/* Drops what waits when the terminal is too slow for it. */
void lag_check(struct show *s, uint64_t now_ns);
/* When lag_check() or lag_wants_room() has something new to say; < 0: never. */
int lag_wait_ms(const struct show *s, uint64_t now_ns);
/* The terminal was too slow: we wait for it to take something. */
bool lag_wants_room(const struct show *s, uint64_t now_ns);
/* What waits for the terminal is dropped, and no more is to come; until SKIPPED after: */
void lag_pause(struct show *s);
void lag_unpause(struct show *s);

#endif
