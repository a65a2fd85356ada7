/* SPDX-License-Identifier: MIT */
/*
 * mirror.h -- a client without a terminal that holds the screen.
 *
 * A process of its own: whatever the bytes of the agent do to the terminal model, the
 * recorder goes on. It gives newcomers the screen, and answers what programs ask a
 * terminal when no user's terminal does.
 */
#ifndef CLIENT_MIRROR_H
#define CLIENT_MIRROR_H

#include "base/err.h"

/* Serves the host at the other end until that hangs up. */
int client_mirror(int link_fd, struct err *err);

#endif
