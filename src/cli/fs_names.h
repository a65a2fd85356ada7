/* SPDX-License-Identifier: MIT */
/* fs_names.h -- what the sessions of snapshots are called, each looked up once. */
#ifndef CLI_FS_NAMES_H
#define CLI_FS_NAMES_H

#include "base/buf.h"

struct cli_fs_names {
    const char *home; /* borrowed */
    struct buf known;
};

void cli_fs_names_release(struct cli_fs_names *n);
/* NULL: it has no name, or is no part of the library. Good until the next question. */
const char *cli_fs_name(struct cli_fs_names *n, const char *session);

#endif
