/* SPDX-License-Identifier: MIT */
/* record.h -- ahr record, as another command starts it. */
#ifndef CLI_RECORD_H
#define CLI_RECORD_H

#include "cli/command.h"
#include "session/meta.h"

/* What no option of it says. */
struct cli_record_more {
    const struct session_branch *branch;   /* NULL: it is none */
    const struct session_lineage *lineage; /* NULL: of no other */
    /* The command runs; its client is not there yet. NULL: nobody asks. */
    void (*started)(void *ctx, const char *id);
    void *ctx;
};

/* Runs cli_record: argv is what stands behind "record", with room for one more at its
 * end; more may be NULL. Returns as a command's run(). */
int cli_record_with(const struct cli_record_more *more, int argc, char **argv,
                    struct err *err);

#endif
