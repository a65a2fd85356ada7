/* SPDX-License-Identifier: MIT */
/* run.h -- ahr run, as another command starts it. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "run/run.h"

/* What no option of it says. */
struct cli_run_more {
    const struct session_lineage *lineage; /* NULL: of no other */
    const struct run_script *script;       /* NULL: none */
    const char
        *other_name; /* whoever sets it, that is no name for this one; NULL: none */
    /* It is kept, and will begin. NULL: nobody asks. */
    void (*opened)(void *ctx, const char *id);
    /* It has ended: the exit status. NULL: as it is. */
    int (*ended)(void *ctx, const struct run_result *done);
    void *ctx;
};

/* Runs cli_run: argv is what stands behind "run", with room for one more at its end; more
 * may be NULL. Returns as a command's run(). */
int cli_run_with(const struct cli_run_more *more, int argc, char **argv, struct err *err);

#endif
