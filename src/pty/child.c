/* SPDX-License-Identifier: MIT */
/*
 * Between fork and exec only calls that are safe in a signal handler: all that the child
 * needs is made before. All descriptors made here are close-on-exec; those that the
 * caller got from the user's shell go on to the child.
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
#include "pty/command_priv.h"
#include "pty/tty.h"

struct launch {
    char *const *argv; /* borrowed */
    char *const *envp; /* borrowed */
    struct buf paths;  /* where the command may be */
    char **script;     /* argv for a script without #!: shell, path, arguments */
    char shell[sizeof("/bin/sh")];
    int tty_fd, gate_fd, errno_fd;
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
    close_fd(&l->errno_fd);
    buf_release(&l->paths);
    free(l->script);
}

/* Out of the way of 0, 1 and 2, which will be the terminal. */
static int
lift(int *fd)
{
    if (*fd > STDERR_FILENO)
        return 0;
    int lifted = fcntl(*fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (lifted < 0)
        return -errno;
    close(*fd);
    *fd = lifted;
    return 0;
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
    return l->tty_fd < 0 ? -errno : lift(&l->tty_fd);
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
open_pipes(struct launch *l, struct pty_child *c)
{
    int fds[2];
    /* A socket, because its writer can do without SIGPIPE. */
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
        return -errno;
    c->gate_fd = fds[0];
    l->gate_fd = fds[1];
    if (pipe2(fds, O_CLOEXEC))
        return -errno;
    c->errno_fd = fds[0];
    l->errno_fd = fds[1];
    int r = lift(&l->gate_fd);
    return r ? r : lift(&l->errno_fd);
}

static int
make_words(struct launch *l)
{
    size_t n = 0;
    while (l->argv[n])
        n++;
    l->script = calloc(n + 2, sizeof(*l->script));
    if (!l->script)
        return -ENOMEM;
    l->script[0] = l->shell;
    for (size_t i = 1; i < n; i++)
        l->script[i + 1] = l->argv[i];
    return pty_command_paths(l->argv[0], l->envp, &l->paths);
}

static int
try_exec(char *path, void *arg)
{
    struct launch *l = arg;
    execve(path, l->argv, l->envp);
    if (errno != ENOEXEC)
        return errno;
    l->script[1] = path;
    execve(l->shell, l->script, l->envp);
    return errno;
}

static void
reset_signals(void)
{
    struct sigaction act = { .sa_handler = SIG_DFL };
    for (int signo = 1; signo <= SIGRTMAX; signo++)
        sigaction(signo, &act, NULL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
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
    reset_signals();
    uint8_t go;
    if (!errnum && file_read(l->gate_fd, &go, 1) != 1)
        _exit(0);
    if (!errnum)
        errnum = pty_command_each(&l->paths, try_exec, l);
    file_write_all(l->errno_fd, &errnum, sizeof(errnum));
    _exit(pty_command_status(errnum));
}

static int
fork_child(struct launch *l, struct pty_child *c)
{
    sigset_t all, before;
    sigfillset(&all);
    /* The caller's handlers must not run in the child. */
    sigprocmask(SIG_SETMASK, &all, &before);
    c->pid = fork();
    if (!c->pid)
        run_child(l, c);
    int r = c->pid < 0 ? -errno : 0;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return r;
}

int
pty_child_fork(struct pty_child *ret, char *const *argv, char *const *envp,
               const struct termios *termios, uint16_t cols, uint16_t rows,
               struct err *err)
{
    assert(argv[0]);
    struct launch l = { .argv = argv,
                        .envp = envp,
                        .shell = "/bin/sh",
                        .tty_fd = -1,
                        .gate_fd = -1,
                        .errno_fd = -1 };
    struct pty_child c = { .pid = -1, .master_fd = -1, .gate_fd = -1, .errno_fd = -1 };
    const char *what = "cannot open a pseudo-terminal";
    int r = open_terminal(&l, &c);
    if (!r) {
        what = "cannot set up the pseudo-terminal";
        r = set_up_terminal(l.tty_fd, termios, cols, rows);
    }
    if (!r) {
        what = "cannot start a process";
        r = open_pipes(&l, &c);
    }
    if (!r)
        r = make_words(&l);
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

static void
reap(pid_t pid)
{
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

int
pty_child_exec(struct pty_child *c, const char *command, int *ret_status, struct err *err)
{
    int errnum;
    /* When the child is already gone, errno_fd says why. */
    send(c->gate_fd, "", 1, MSG_NOSIGNAL);
    close_fd(&c->gate_fd);
    ssize_t n = file_read(c->errno_fd, &errnum, sizeof(errnum));
    close_fd(&c->errno_fd);
    if (n != sizeof(errnum))
        return 0;
    reap(c->pid);
    close_child(c);
    *ret_status = pty_command_status(errnum);
    return pty_command_error(command, errnum, err);
}

void
pty_child_cancel(struct pty_child *c)
{
    kill(c->pid, SIGKILL);
    reap(c->pid);
    close_child(c);
}

/* Will a stopped process not act on it before it is continued? */
static bool
needs_cont(int signo)
{
    return signo != SIGKILL && signo != SIGCONT && signo != SIGSTOP && signo != SIGTSTP &&
           signo != SIGTTIN && signo != SIGTTOU;
}

static void
signal_group(pid_t group, int signo)
{
    killpg(group, signo);
    if (needs_cont(signo))
        killpg(group, SIGCONT);
}

void
pty_child_signal(const struct pty_child *c, int signo)
{
    assert(c->pid > 1);
    pid_t foreground = tcgetpgrp(c->master_fd);
    signal_group(c->pid, signo);
    if (foreground > 1 && foreground != c->pid)
        signal_group(foreground, signo);
}
