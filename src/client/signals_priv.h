/* SPDX-License-Identifier: MIT */
/* signals_priv.h -- signals arrive only while the client waits, and are only noted. */
#ifndef CLIENT_SIGNALS_PRIV_H
#define CLIENT_SIGNALS_PRIV_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

void signals_hold(void);
/* From now on they are noted, but for those that our parent has us ignore. */
void signals_listen(void);
/* ppoll() that they interrupt; timeout_ms < 0: none. */
int signals_poll(struct pollfd *fds, size_t n, int timeout_ms);
/* The next one that has come; 0: none. */
int signals_next(void);
/* Stops this process, as the signal would have without us. */
void signals_stop_self(void);

#endif
