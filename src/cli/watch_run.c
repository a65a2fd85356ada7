/* SPDX-License-Identifier: MIT */
#include "cli/watch_run.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/log.h"
#include "pty/guard.h"
#include "pty/signals.h"

enum { CTRL_C = 3 };

struct watching {
    struct cli_follow_wait wait; /* first */
    struct pty_tty tty;          /* `raw` is not quite that; fd -1: none */
    int key_fd;                  /* -1: the terminal is not ours now */
    bool is_left;
    int signo; /* … by this; 0: by a key */
};

/* -- the terminal -- */

static bool
find_terminal(struct watching *w)
{
    if (!pty_tty_init(&w->tty, STDIN_FILENO))
        return false;
    w->tty.raw = w->tty.saved;
    w->tty.raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    w->tty.raw.c_cc[VMIN] = 1;
    w->tty.raw.c_cc[VTIME] = 0;
    w->tty.raw.c_cc[VINTR] = _POSIX_VDISABLE;
    return true;
}

/* In its background we only show. */
static void
take_terminal(struct watching *w)
{
    bool is_ours = pty_tty_is_foreground(&w->tty) && pty_tty_set_raw(&w->tty) == 0;
    w->key_fd = is_ours ? w->tty.fd : -1;
}

static void
give_terminal(struct watching *w)
{
    pty_tty_restore(&w->tty);
    w->key_fd = -1;
}

/* -- what comes -- */

static void
take_keys(struct watching *w)
{
    uint8_t keys[256];
    if (!pty_tty_is_foreground(&w->tty)) {
        w->key_fd = -1;
        return;
    }
    ssize_t n = file_read(w->key_fd, keys, sizeof(keys));
    w->is_left |= !n || (n < 0 && n != -EAGAIN && n != -EINTR); /* it has hung up */
    for (ssize_t i = 0; i < n; i++)
        w->is_left |= keys[i] == 'q' || keys[i] == 'd' || keys[i] == CTRL_C;
}

static void
take_signals(struct watching *w)
{
    for (int signo; !w->signo && (signo = pty_signals_next());)
        switch (signo) {
        case SIGTSTP:
            give_terminal(w);
            pty_signals_suspend(false);
            take_terminal(w);
            break;
        case SIGCONT:
            take_terminal(w);
            break;
        case SIGHUP:
        case SIGINT:
        case SIGQUIT:
        case SIGTERM:
            w->signo = signo;
            w->is_left = true;
            break;
        default:
            break;
        }
}

/* A cli_follow_wait's. */
static int
wait_for(struct cli_follow_wait *wait, struct pollfd *fds, size_t n, int timeout_ms)
{
    struct watching *w = (struct watching *)wait;
    struct pollfd all[CLI_FOLLOW_FDS + 1] = { { .fd = w->key_fd, .events = POLLIN } };
    memcpy(all + 1, fds, n * sizeof(*fds));
    bool has_come = pty_signals_poll(all, n + 1, timeout_ms) > 0;
    for (size_t i = 0; i < n; i++)
        fds[i].revents = has_come ? all[i + 1].revents : 0;
    take_signals(w);
    if (has_come && all[0].revents && w->key_fd >= 0)
        take_keys(w);
    return w->is_left ? CLI_FOLLOW_LEFT : 0;
}

/* -- all of it -- */

/* Nobody waits for a terminal that was stopped (Ctrl-S) to say that it was left. */
static bool
can_say(void)
{
    struct pollfd fd = { .fd = STDERR_FILENO, .events = POLLOUT };
    return poll(&fd, 1, 0) > 0;
}

int
cli_watch_run(const struct cli_command *self, const char *dir, const char *called,
              struct err *err)
{
    struct watching w = { .wait.poll = wait_for, .key_fd = -1 };
    struct pty_guard guard = { .fd = -1 };
    bool has_keys = find_terminal(&w);
    cli_say(self, "a run has no screen: its log follows, and %s leaves it",
            has_keys ? "q" : "Ctrl-C");
    if (has_keys)
        pty_guard_post(&guard, &w.tty, "");
    pty_signals_hold();
    pty_signals_listen();
    take_terminal(&w);
    int r = cli_log_watch(self, dir, &w.wait, err);
    give_terminal(&w);
    pty_guard_relieve(&guard);
    if (r < 0)
        return r;
    if (r == CLI_FOLLOW_LEFT && can_say())
        cli_say(self, "%s goes on", called);
    return w.signo ? 128 + w.signo : CLI_DONE;
}
