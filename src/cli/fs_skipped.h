/* SPDX-License-Identifier: MIT */
/* fs_skipped.h -- what a snapshot has left out, as it is told. */
#ifndef CLI_FS_SKIPPED_H
#define CLI_FS_SKIPPED_H

#include "base/json.h"
#include "cli/command.h"
#include "snap/skip.h"

/* The first thousand of them, and how many there are: two keys of an object. */
void cli_fs_skipped_json(struct json *j, const struct snap_skips *skips);
/* The first few, a line each. */
void cli_fs_skipped_say(const struct cli_command *self, const struct snap_skips *skips);

#endif
