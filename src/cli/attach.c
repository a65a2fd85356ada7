/* SPDX-License-Identifier: MIT */
/* ahr attach: this terminal becomes a session's, beside those that it has. */
#include <unistd.h>

#include "cli/join.h"
#include "cli/option.h"

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    int count, r = cli_parse(self, argc, argv, NULL, &count, err);
    if (r)
        return r;
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return err_set(
            err, ERR_USAGE,
            "this needs a terminal; 'ahr watch' writes a session's output to a "
            "pipe or file, 'ahr send' types into it");
    return cli_join(self, CLIENT_ATTACH, count, argv, err);
}

static const struct cli_option options[] = { { 0 } };

const struct cli_command cli_attach = {
    "attach", "[SESSION]", "see and use a session on this terminal; Ctrl-] d leaves it",
    options,  run,         false,
};
