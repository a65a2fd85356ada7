/* SPDX-License-Identifier: MIT */
/*
 * All descriptors made here are close-on-exec; those that the caller got from the user's
 * shell go on to the child.
 */
#include "pty/child.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "pty/exec.h"
#include "pty/tty.h"

struct launch {
    struct pty_exec exec;
    int tty_fd, gate_fd;
};

static void
close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void
close_child(struct pty_child *c)
{
    close_fd(&c->master_fd);
    close_fd(&c->gate_fd);
    close_fd(&c->errno_fd);
}

static void
launch_release(struct launch *l)
{
    close_fd(&l->tty_fd);
    close_fd(&l->gate_fd);
    pty_exec_release(&l->exec);
}

static int
open_terminal(struct launch *l, struct pty_child *c)
{
    char name[64];
    c->master_fd = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (c->master_fd < 0 || grantpt(c->master_fd) || unlockpt(c->master_fd))
        return -errno;
    int r = ptsname_r(c->master_fd, name, sizeof(name));
    if (r)
        return -r;
    l->tty_fd = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    return l->tty_fd < 0 ? -errno : pty_exec_lift(&l->tty_fd);
}

/*
 * Without a user's terminal: what the kernel thinks sane, for UTF-8. No echo, since
 * nobody types, and no flow control for the same reason: a ^S in piped input would need
 * quoting, and Linux (since 6.0) heeds even a quoted one when it looks ahead in a full
 * queue.
 */
static int
set_up_terminal(int fd, const struct termios *termios, uint16_t cols, uint16_t rows)
{
    struct termios sane;
    if (!termios) {
        if (tcgetattr(fd, &sane))
            return -errno;
        sane.c_lflag &= ~(tcflag_t)ECHO;
        sane.c_iflag &= ~(tcflag_t)IXON;
        sane.c_iflag |= IUTF8;
        termios = &sane;
    }
    if (tcsetattr(fd, TCSANOW, termios))
        return -errno;
    return pty_set_size(fd, cols, rows);
}

static int
open_gate(struct launch *l, struct pty_child *c)
{
    int fds[2];
    /* A socket, because its writer can do without SIGPIPE. */
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
        return -errno;
    c->gate_fd = fds[0];
    l->gate_fd = fds[1];
    return pty_exec_lift(&l->gate_fd);
}

static int
take_terminal(int fd)
{
    if (setsid() < 0 || ioctl(fd, TIOCSCTTY, 0))
        return errno;
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++) {
        if (dup2(fd, i) < 0)
            return errno;
    }
    return 0;
}

static _Noreturn void
run_child(struct launch *l, struct pty_child *c)
{
    close_child(c); /* else the gate would never be seen closed */
    int errnum = take_terminal(l->tty_fd);
    pty_exec_reset_signals();
    uint8_t go;
    if (!errnum && file_read(l->gate_fd, &go, 1) != 1)
        _exit(0);
    pty_exec_run(&l->exec, errnum);
}

static int
fork_child(struct launch *l, struct pty_child *c)
{
    c->pid = pty_exec_fork();
    if (!c->pid)
        run_child(l, c);
    return c->pid < 0 ? c->pid : 0;
}

int
pty_child_fork(struct pty_child *ret, char *const *argv, char *const *envp,
               const struct termios *termios, uint16_t cols, uint16_t rows,
               struct err *err)
{
    assert(argv[0]);
    struct launch l = { .exec.tell_fd = -1, .tty_fd = -1, .gate_fd = -1 };
    struct pty_child c = { .pid = -1, .master_fd = -1, .gate_fd = -1, .errno_fd = -1 };
    const char *what = "cannot open a pseudo-terminal";
    int r = open_terminal(&l, &c);
    if (!r) {
        what = "cannot set up the pseudo-terminal";
        r = set_up_terminal(l.tty_fd, termios, cols, rows);
    }
    if (!r) {
        what = "cannot start a process";
        r = open_gate(&l, &c);
    }
    if (!r)
        r = pty_exec_init(&l.exec, argv, envp, &c.errno_fd);
    if (!r)
        r = fork_child(&l, &c);
    launch_release(&l);
    if (r) {
        close_child(&c);
        return err_code(err, r, "%s", what);
    }
    *ret = c;
    return 0;
}

int
pty_child_exec(struct pty_child *c, const char *command, int *ret_status, struct err *err)
{
    /* When the child is already gone, errno_fd says why. */
    send(c->gate_fd, "", 1, MSG_NOSIGNAL);
    close_fd(&c->gate_fd);
    int r = pty_exec_wait(c->pid, &c->errno_fd, command, ret_status, err);
    if (r)
        close_child(c);
    return r;
}

void
pty_child_cancel(struct pty_child *c)
{
    kill(c->pid, SIGKILL);
    while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    close_child(c);
}

void
pty_child_signal(const struct pty_child *c, int signo)
{
    assert(c->pid > 1);
    pid_t foreground = tcgetpgrp(c->master_fd);
    pty_exec_signal(c->pid, signo);
    if (foreground > 1 && foreground != c->pid)
        pty_exec_signal(foreground, signo);
}
