/* SPDX-License-Identifier: MIT */
/* progress.h -- "37 %" on stderr, for work that takes long, when that is a terminal. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>

#include "cli/command.h"

struct cli_progress {
    const struct cli_command *command; /* borrowed */
    const char *what;                  /* borrowed: the file's name */
    uint64_t next_ns;
    bool is_on, is_shown;
};

void cli_progress_begin(struct cli_progress *p, const struct cli_command *c,
                        const char *what);
/* A tape_progress step; ctx is the struct. total 0: unknown. */
void cli_progress_step(void *ctx, uint64_t done, uint64_t total);
/* Wipes the line. */
void cli_progress_end(struct cli_progress *p);
/* The same, and says something meanwhile, in which names may be that hold anything. */
void cli_progress_tell(struct cli_progress *p, const char *text);

#endif
