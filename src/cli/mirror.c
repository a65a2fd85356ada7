/* SPDX-License-Identifier: MIT */
/* ahr mirror: what a recorder starts to hold the screen. The recorder is at stdin. */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/option.h"
#include "client/mirror.h"

enum { NICE = 5 };

/* What is typed on the terminal that the recorder was started from is not for us. */
static void
stand_apart(void)
{
    static const int ignored[] = { SIGINT, SIGHUP, SIGQUIT, SIGTSTP };
    for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
        signal(ignored[i], SIG_IGN);
    prctl(PR_SET_NAME, "ahr-mirror");
    (void)!nice(NICE);
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    int count, type, r = cli_parse(self, argc, argv, NULL, &count, err);
    socklen_t n = sizeof(type);
    if (r)
        return r;
    if (count || getsockopt(STDIN_FILENO, SOL_SOCKET, SO_TYPE, &type, &n))
        return err_set(err, ERR_USAGE, "this is for recorders to start, not for you");
    stand_apart();
    r = client_mirror(STDIN_FILENO, err);
    return r < 0 ? r : CLI_DONE;
}

static const struct cli_option options[] = { { 0 } };

const struct cli_command cli_mirror = { "mirror", "", NULL, options, run, false };
