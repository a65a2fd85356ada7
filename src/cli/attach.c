/* SPDX-License-Identifier: MIT */
/* ahr attach: this terminal becomes a session's, beside those that it has. */
#include <unistd.h>

#include "cli/join.h"
#include "cli/option.h"

struct args {
    struct cli_viewing viewing;
};

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    struct args args = { .viewing.deliver = CLI_DELIVER_UNSAID };
    int count, r = cli_parse(self, argc, argv, &args, &count, err);
    if (r)
        return r;
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return err_set(
            err, ERR_USAGE,
            "this needs a terminal; 'ahr watch' writes a session's output to a "
            "pipe or file, 'ahr send' types into it");
    return cli_join(self, CLIENT_ATTACH, &args.viewing, count, argv, err);
}

static const struct cli_option options[] = {
    CLI_PREFIX_OPTION(struct args),
    CLI_DELIVER_OPTION(struct args),
    { 0 },
};

const struct cli_command cli_attach = {
    "attach",
    "[--prefix KEY] [--deliver ask|yes|no] [SESSION]",
    "see and use a session on this terminal; Ctrl-] d leaves it",
    options,
    run,
    false,
};
