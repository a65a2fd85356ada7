/* SPDX-License-Identifier: MIT */
#include "cli/unseen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include "base/file.h"

static int
hide(const struct termios *saved)
{
    struct termios t = *saved;
    t.c_lflag &= ~(tcflag_t)ECHO;
    t.c_lflag |= ECHONL; /* that a line was taken is seen */
    return tcsetattr(STDIN_FILENO, TCSADRAIN, &t) < 0 ? -errno : 0;
}

/* 1: a signal has come, and waits for the end of being blocked. */
static int
read_some(int signal_fd, struct buf *ret, bool *ret_is_end)
{
    struct pollfd fds[] = { { .fd = STDIN_FILENO, .events = POLLIN },
                            { .fd = signal_fd, .events = POLLIN } };
    if (poll(fds, 2, -1) < 0)
        return errno == EINTR ? 0 : -errno;
    if (fds[1].revents)
        return 1;
    int r = buf_reserve(ret, 1);
    if (r < 0)
        return r;
    ssize_t n = file_read(STDIN_FILENO, ret->p + ret->n, ret->cap - ret->n);
    if (n < 0)
        return (int)n;
    ret->n += (size_t)n;
    *ret_is_end = n == 0;
    return 0;
}

int
cli_read_unseen(const struct cli_command *self, const char *question, bool is_line,
                struct buf *ret)
{
    static const int numbers[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP };
    struct termios saved;
    sigset_t set, before;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        sigaddset(&set, numbers[i]);
    if (tcgetattr(STDIN_FILENO, &saved) < 0)
        return -errno;
    int signal_fd = signalfd(-1, &set, SFD_CLOEXEC), r = 1;
    if (signal_fd < 0)
        return -errno;
    for (bool is_end = false; r == 1;) {
        sigprocmask(SIG_BLOCK, &set, &before);
        r = hide(&saved);
        if (!r)
            cli_say(self, "%s", question);
        while (!r && !is_end) {
            r = read_some(signal_fd, ret, &is_end);
            is_end |= is_line && ret->n && memchr(ret->p, '\n', ret->n);
        }
        tcsetattr(STDIN_FILENO, TCSADRAIN, &saved);
        sigprocmask(SIG_SETMASK, &before, NULL); /* a signal is delivered here */
    }
    close(signal_fd);
    return r;
}
