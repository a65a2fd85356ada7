/* SPDX-License-Identifier: MIT */
/* session.h -- SESSION, as subcommands take it. */
#ifndef CLI_SESSION_H
#define CLI_SESSION_H

#include "library/find.h"

/* library_find(); and for a link where the recording itself lies: its tails and segments
 * are beside it, not beside the link. */
int cli_find(struct library_found *ret, const char *what, struct err *err);
/* Is the session with this id being recorded? */
bool cli_is_live(const char *id);

#endif
