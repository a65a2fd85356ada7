/* SPDX-License-Identifier: MIT */
/* ahr fs: the commands that are about snapshots of files. */
#include "cli/commands.h"

static const struct cli_command *const commands[] = {
    &cli_fs_snapshot, &cli_fs_list, &cli_fs_diff, &cli_fs_restore,
    &cli_fs_delete,   &cli_fs_tidy, &cli_fs_auto, NULL,
};

const struct cli_commands cli_fs_all = {
    "ahr fs",
    "ahr-fs",
    "Snapshots of the files that an agent works on.",
    commands,
};

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    (void)self, (void)err;
    return cli_dispatch(&cli_fs_all, argc, argv);
}

const struct cli_command cli_fs = {
    "fs", "COMMAND …", "snapshots of files: take, list, compare, restore",
    NULL, run,         true,
};
