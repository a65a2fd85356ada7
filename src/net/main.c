/* SPDX-License-Identifier: MIT */
/*
 * main.c -- ahr-net: what needs the network's libraries, apart from ahr, which must start
 * in a moment. `ahr proxy` becomes this program.
 */
#include <signal.h>
#include <stdio.h>

#include "cli/commands.h"
#include "net/net.h"

static const struct cli_command *const commands[] = { &net_proxy, &net_within, NULL };

static const struct cli_commands all = {
    "ahr",
    "ahr",
    "The part of ahr that talks to the network; 'ahr' starts it.",
    commands,
};

int
main(int argc, char **argv)
{
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_DFL);
    int status = cli_dispatch(&all, argc - 1, argv + 1);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    perror("ahr: cannot write to standard output");
    return status ? status : (int)CLI_FAILED;
}
