/* SPDX-License-Identifier: MIT */
#include "pty/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* Away from the terminal's signals, and without what others may wait for the end of. */
static void
stand_apart(int end_fd, int tty_fd)
{
    setsid();
    dup2(tty_fd, STDIN_FILENO);
    dup2(end_fd, STDOUT_FILENO);
    close_range(STDERR_FILENO, ~0U, 0);
}

static _Noreturn void
stand_guard(int end_fd, const struct pty_tty *t, const char *give)
{
    char nothing;
    stand_apart(end_fd, t->fd);
    while (read(STDOUT_FILENO, &nothing, 1) < 0 && errno == EINTR)
        ;
    if (pty_tty_restore_left(STDIN_FILENO, &t->saved, &t->raw))
        pty_tty_write(STDIN_FILENO, give);
    _exit(0);
}

void
pty_guard_post(struct pty_guard *g, const struct pty_tty *t, const char *give)
{
    int fds[2];
    *g = (struct pty_guard){ .fd = -1 };
    if (t->fd < 0 || pipe2(fds, O_CLOEXEC))
        return;
    /* From its first moment: with the one it guards, the whole job may be hung up. */
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    if (pid == 0)
        stand_guard(fds[0], t, give);
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(fds[0]);
    if (pid < 0) {
        close(fds[1]);
        return;
    }
    *g = (struct pty_guard){ .pid = pid, .fd = fds[1] };
}

void
pty_guard_relieve(struct pty_guard *g)
{
    if (!g->pid)
        return;
    kill(g->pid, SIGKILL);
    while (waitpid(g->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    close(g->fd);
    *g = (struct pty_guard){ .fd = -1 };
}
