/* SPDX-License-Identifier: MIT */
/*
 * unseen.h -- texts typed on the terminal that nobody is to see there.
 *
 * The terminal does not echo them: what is echoed stays on the screen, in its history,
 * and in the recording of a session that this runs in.
 */
#ifndef CLI_UNSEEN_H
#define CLI_UNSEEN_H

#include "base/buf.h"
#include "cli/command.h"

/* Asks, and reads standard input, which is a terminal, to its end (Ctrl-D). A signal that
 * ends or stops us finds the terminal as it was. 0 or negative. */
int cli_read_unseen(const struct cli_command *self, const char *question,
                    struct buf *ret);

#endif
