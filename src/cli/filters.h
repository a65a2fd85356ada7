/* SPDX-License-Identifier: MIT */
/* filters.h -- by what a search is narrowed down, as words; and what fits nothing. */
#ifndef CLI_FILTERS_H
#define CLI_FILTERS_H

#include "cli/command.h"
#include "library/search.h"

/* As they were given; NULL: not. */
struct cli_filters {
    const char *role, *agent, *tool;
    int in; /* enum library_in; < 0: not given */
};

/* A role of conversations means turns, any other word is a session's; a tool means turns,
 * too. ERR_USAGE for what excludes each other. */
int cli_filters_take(const struct cli_filters *f, struct library_search *search,
                     struct err *err);
/* Tells on stderr which of them no session and no turn of the library fits; s may be
 * NULL. */
void cli_filters_tell(const struct cli_filters *f, const struct cli_command *self,
                      struct store *s);

#endif
