/* SPDX-License-Identifier: MIT */
/* join.h -- what `attach` and `watch` have in common. */
#ifndef CLI_JOIN_H
#define CLI_JOIN_H

#include "cli/command.h"
#include "cli/viewing.h"
#include "client/client.h"

/* From SESSION (none: the latest) on the command line to the end of looking on; the exit
 * status. The caller has seen to it that there is a terminal where one is needed. */
int cli_join(const struct cli_command *self, enum client_kind kind,
             const struct cli_viewing *viewing, int argc, char **argv, struct err *err);

#endif
