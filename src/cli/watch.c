/* SPDX-License-Identifier: MIT */
/* ahr watch: a session's screen, or its bytes where there is no terminal, to look at. */
#include "cli/join.h"
#include "cli/option.h"

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    int count, r = cli_parse(self, argc, argv, NULL, &count, err);
    return r ? r : cli_join(self, CLIENT_WATCH, count, argv, err);
}

static const struct cli_option options[] = { { 0 } };

const struct cli_command cli_watch = {
    "watch", "[SESSION]", "look at a session without touching it; q leaves it",
    options, run,         false,
};
