/* SPDX-License-Identifier: MIT */
#include "cli/upkeep.h"

#include <inttypes.h>
#include <stdio.h>

#include "library/tend.h"
#include "session/upkeep.h"
#include "snap/tidy.h"

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

void
cli_tidy_later(int upkeep, const char *home, uint64_t budget_bytes)
{
    char budget[24];
    if (upkeep == CLI_UPKEEP_OFF || !snap_wants_tidy(home, budget_bytes))
        return;
    snprintf(budget, sizeof(budget), "%" PRIu64, budget_bytes);
    const char *const words[] = { "fs", "tidy", "--budget", budget, NULL };
    (void)session_upkeep_start(home, words, -1, NULL);
}
