/* SPDX-License-Identifier: MIT */
/*
 * upkeep.h -- `--upkeep auto|off`, for commands that start work in the background: also
 * AHR_UPKEEP=off, and `upkeep = off` in the config file.
 */
#ifndef CLI_UPKEEP_H
#define CLI_UPKEEP_H

#include "cli/option.h"
#include "library/list.h"

enum cli_upkeep { CLI_UPKEEP_AUTO, CLI_UPKEEP_OFF };

/* A row of an option table; the struct has an int for it. */
#define CLI_UPKEEP_OPTION(type, field, help)                                   \
    {                                                                          \
        "upkeep", 0, CLI_CHOICE, offsetof(type, field), "auto|off", help, 0, 0 \
    }

/* library_tend(), where that is wanted. What fails is not told: the next who looks tries
 * again. */
void cli_tend(int upkeep, const char *home, const struct library_listed *listed);
/* `ahr index ID`, for a session that was just made. */
void cli_index_later(int upkeep, const char *home, const char *id);
/* `ahr fs tidy`, where there is something to tidy. */
void cli_tidy_later(int upkeep, const char *home, uint64_t budget_bytes);

#endif
