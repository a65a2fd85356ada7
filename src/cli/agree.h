/* SPDX-License-Identifier: MIT */
/* agree.h -- asking before something is deleted. */
#ifndef CLI_AGREE_H
#define CLI_AGREE_H

#include <stdbool.h>

#include "cli/table.h"

/* There is somebody to ask, or ERR_USAGE. */
int cli_may_ask(struct err *err);
/* Shows the table on the terminal, whatever stdout is, and asks "Delete 3 sessions for
 * good?". The table is for stderr (cli_table_look()). */
bool cli_is_agreed(struct cli_table *t, size_t count, const char *thing);

#endif
