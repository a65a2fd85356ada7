/* SPDX-License-Identifier: MIT */
/* ending.h -- what a user is told when a session has ended. */
#ifndef CLI_ENDING_H
#define CLI_ENDING_H

#include "cli/command.h"
#include "client/client.h"

struct cli_ending {
    const struct cli_command *command;
    const char *id;
    const char *out_file; /* NULL: the recording is in the library */
    bool is_out_terminal; /* what was shown may have ended in the middle of a line */
};

/* What is wrong with the recording, if something is. */
void cli_say_losses(const struct cli_ending *e, const struct client_result *done);
/* "session ID: completed, 1,234 bytes in 1.234 s" */
void cli_say_end(const struct cli_ending *e, const struct client_result *done);

#endif
