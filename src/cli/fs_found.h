/* SPDX-License-Identifier: MIT */
/* fs_found.h -- SNAPSHOT, as the commands take it that look into one. */
#ifndef CLI_FS_FOUND_H
#define CLI_FS_FOUND_H

#include "snap/list.h"

/* snap_find() in the user's home; those of the work tree around us come first. */
int cli_fs_find(struct snap_found *ret, const char *what, struct err *err);

#endif
