/* SPDX-License-Identifier: MIT */
/* histories.h -- `ahr import` of what agents keep of their sessions. */
#ifndef CLI_HISTORIES_H
#define CLI_HISTORIES_H

#include "cli/command.h"

struct cli_histories {
    const struct cli_command *self;
    int agent;         /* enum journal_keeper */
    const char *since; /* NULL: any */
    int upkeep;
    bool is_dry_run, is_json;
    bool (*is_stopped)(void *ctx);
};

/* Is that a history, or a folder, and no recording of a terminal? */
bool cli_histories_is(const char *path);
/* count 0: those in the usual places. The exit status, or an error. */
int cli_histories(const struct cli_histories *opt, int count, char **paths,
                  struct err *err);

#endif
