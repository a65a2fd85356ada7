/* SPDX-License-Identifier: MIT */
/* ahr stop: ends a live session. */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/live.h"
#include "cli/option.h"

/* The command has 5 s before it is killed; the rest is for the disk. */
enum { SOON_MS = 1000, PATIENCE_MS = 20000, LOOK_MS = 20 };

/* Did it end, by itself or told to? */
static bool
is_over(const struct cli_live *l)
{
    struct library_live again = { 0 };
    int r = library_reach(&again, l->at.found.id, NULL);
    if (!r)
        library_live_release(&again);
    return r == ERR_MISSING;
}

/* The recorder hangs up when all is done, or because it drops those who only wait: its
 * folder tells which. */
static int
wait_end(const struct cli_command *self, struct cli_live *l, struct err *err)
{
    uint64_t deadline_ns = clock_mono_ns() + PATIENCE_MS * 1000000ULL;
    struct ipc_message got;
    int r = client_ask(&l->ask, NULL, SOON_MS, &got, err);
    if (r == -ETIMEDOUT) {
        r = 0;
        if (isatty(STDERR_FILENO))
            cli_say(self, "it takes its time; what has not ended within 5 s is killed");
    }
    while (!r)
        r = client_ask(&l->ask, NULL, PATIENCE_MS, &got, err);
    if (r != -ECONNRESET && r != -ETIMEDOUT)
        return cli_live_error(l, r, err);
    while (!is_over(l)) {
        if (clock_mono_ns() >= deadline_ns)
            return err_set(err, -ETIMEDOUT,
                           "session %s has not ended within %d s; its recorder goes on "
                           "with it",
                           l->called, PATIENCE_MS / 1000);
        nanosleep(&(struct timespec){ .tv_nsec = LOOK_MS * 1000000L }, NULL);
    }
    return 0;
}

static int
stop(const struct cli_command *self, struct cli_live *l, struct err *err)
{
    struct ipc_message done, m = { .selector = IPC_STOP, .field = { SIGTERM } };
    int r = cli_ask_done(&l->ask, &m, &done, err);
    if (r == -ECONNRESET && is_over(l))
        return 0;
    return r < 0 ? cli_live_error(l, r, err) : wait_end(self, l, err);
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    struct cli_live l;
    int count, r = cli_parse(self, argc, argv, NULL, &count, err);
    if (r)
        return r;
    if (count != 1)
        return err_set(err, ERR_USAGE, "give one session; see 'ahr stop -h'");
    r = cli_live_open(&l, argv[0], err);
    if (r < 0)
        return r;
    r = stop(self, &l, err);
    if (!r)
        cli_say(self, "session %s has ended", l.called);
    cli_live_release(&l);
    return r;
}

const struct cli_command cli_stop = {
    "stop", "SESSION", "end a live session", NULL, run, false,
};
