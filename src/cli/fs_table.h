/* SPDX-License-Identifier: MIT */
/* fs_table.h -- snapshots of files as rows of a table. */
#ifndef CLI_FS_TABLE_H
#define CLI_FS_TABLE_H

#include "cli/fs_names.h"
#include "cli/table.h"
#include "snap/facts.h"

/* Ready for cli_table_look(). is_here: all are of one folder, which has no column. */
struct cli_table cli_fs_table(bool is_here);
/* The session by its name, where it has one. */
void cli_fs_table_put(struct cli_table *t, struct cli_fs_names *names,
                      const struct snap_facts *f);

#endif
