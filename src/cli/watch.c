/* SPDX-License-Identifier: MIT */
/* ahr watch: a session's screen, or its bytes where there is no terminal, to look at. */
#include "cli/join.h"
#include "cli/option.h"

struct args {
    struct cli_viewing viewing;
};

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    struct args args = { .viewing.deliver = TUI_DELIVER_NO };
    int count, r = cli_parse(self, argc, argv, &args, &count, err);
    return r ? r : cli_join(self, CLIENT_WATCH, &args.viewing, count, argv, err);
}

static const struct cli_option options[] = {
    CLI_PREFIX_OPTION(struct args),
    { 0 },
};

const struct cli_command cli_watch = {
    "watch",
    "[--prefix KEY] [SESSION]",
    "look at a session without touching it; q leaves it",
    options,
    run,
    false,
};
