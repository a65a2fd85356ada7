/* SPDX-License-Identifier: MIT */
/*
 * commands.h -- a table of commands, and the choice of one of them by its first word:
 * those of ahr, and those of a command that has others below it.
 *
 * `ahr` alone, `ahr -h` and `ahr help` list them; `ahr help NAME …` is `ahr NAME -h …`.
 */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/command.h"

struct cli_commands {
    const char *name;  /* what stands before a command: "ahr", "ahr fs" */
    const char *page;  /* its man page: "ahr", "ahr-fs" */
    const char *about; /* one sentence */
    const struct cli_command *const *list; /* NULL behind the last one */
};

/* Those of ahr itself, which main.c has, and those below others. */
extern const struct cli_commands cli_all, cli_artifact_all, cli_fs_all;

/* Runs the command that argv[0] names, and tells what went wrong. The exit status. A
 * command below another is called by both words: its name is "fs list". */
int cli_dispatch(const struct cli_commands *c, int argc, char **argv);

#endif
