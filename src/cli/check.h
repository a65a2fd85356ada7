/* SPDX-License-Identifier: MIT */
/* check.h -- looks for secrets in files and folders: `ahr redact --check`. */
#ifndef CLI_CHECK_H
#define CLI_CHECK_H

#include "cli/command.h"
#include "redact/redact.h"

struct cli_check_options {
    bool is_json, is_terminal;
    uint32_t cols;
};

/* Prints what is found in the files, in all files below the folders, or in standard input
 * for "-". What cannot be looked at is told and does not stop the rest. Returns the exit
 * status, or an error. */
int cli_check(const struct cli_command *self, struct redact *redact,
              const struct cli_check_options *opt, int count, char **paths,
              struct err *err);

#endif
