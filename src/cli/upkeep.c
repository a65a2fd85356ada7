/* SPDX-License-Identifier: MIT */
#include "cli/upkeep.h"

#include "library/tend.h"
#include "session/upkeep.h"

void
cli_tend(int upkeep, const char *home, const struct library_listed *listed)
{
    if (upkeep != CLI_UPKEEP_OFF)
        (void)library_tend(home, listed);
}

void
cli_index_later(int upkeep, const char *home, const char *id)
{
    if (upkeep != CLI_UPKEEP_OFF)
        (void)session_upkeep_start(home, (const char *const[]){ "index", id, NULL }, -1,
                                   NULL);
}
