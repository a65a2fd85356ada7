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

/* Asks, and reads standard input, which is a terminal, to its end (Ctrl-D); is_line: or
 * to the end of a line. The bytes go nowhere but into ret, which is not moved while there
 * is room in it. A signal that ends or stops us finds the terminal as it was. 0 or
 * negative.
 */
int cli_read_unseen(const struct cli_command *self, const char *question, bool is_line,
                    struct buf *ret);

#endif
