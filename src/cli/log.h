/* SPDX-License-Identifier: MIT */
/* log.h -- a run's logs on a terminal, for who watches it. */
#ifndef CLI_LOG_H
#define CLI_LOG_H

#include "cli/command.h"
#include "cli/follow.h"

/* From its first log to its end, or until `wait` has enough: an enum cli_followed, or an
 * error. */
int cli_log_watch(const struct cli_command *self, const char *dir,
                  struct cli_follow_wait *wait, struct err *err);

#endif
