/* SPDX-License-Identifier: MIT */
/* ahr artifact: the commands that are about files that a run makes. */
#include "cli/commands.h"

static const struct cli_command *const commands[] = {
    &cli_artifact_add,
    &cli_artifact_list,
    NULL,
};

const struct cli_commands cli_artifact_all = {
    "ahr artifact",
    "ahr-artifact",
    "Files that a run of ahr run makes.",
    commands,
};

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    (void)self, (void)err;
    return cli_dispatch(&cli_artifact_all, argc, argv);
}

const struct cli_command cli_artifact = {
    "artifact", "COMMAND …", "files that a run makes: add, list", NULL, run, true,
};
