/* SPDX-License-Identifier: MIT */
#include "pty/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "pty/command_priv.h"

/* -- before -- */

int
pty_exec_lift(int *fd)
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
make_words(struct pty_exec *x)
{
    size_t n = 0;
    while (x->argv[n])
        n++;
    x->script = calloc(n + 2, sizeof(*x->script));
    if (!x->script)
        return -ENOMEM;
    x->script[0] = x->shell;
    for (size_t i = 1; i < n; i++)
        x->script[i + 1] = x->argv[i];
    return pty_command_paths(x->argv[0], x->envp, &x->paths);
}

int
pty_exec_init(struct pty_exec *x, char *const *argv, char *const *envp, int *ret_told_fd)
{
    int fds[2];
    *x = (struct pty_exec){
        .argv = argv, .envp = envp, .shell = "/bin/sh", .tell_fd = -1
    };
    int r = make_words(x);
    if (r)
        return r;
    if (pipe2(fds, O_CLOEXEC))
        return -errno;
    x->tell_fd = fds[1];
    r = pty_exec_lift(&x->tell_fd);
    if (!r)
        r = pty_exec_lift(&fds[0]);
    if (r)
        close(fds[0]);
    else
        *ret_told_fd = fds[0];
    return r;
}

void
pty_exec_release(struct pty_exec *x)
{
    if (x->tell_fd >= 0)
        close(x->tell_fd);
    x->tell_fd = -1;
    buf_release(&x->paths);
    free(x->script);
    x->script = NULL;
}

/* -- between -- */

pid_t
pty_exec_fork(void)
{
    sigset_t all, before;
    sigfillset(&all);
    /* The caller's handlers must not run in the child. */
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    if (!pid)
        return 0;
    int r = pid < 0 ? -errno : 0;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return r < 0 ? r : pid;
}

void
pty_exec_reset_signals(void)
{
    struct sigaction act = { .sa_handler = SIG_DFL };
    for (int signo = 1; signo <= SIGRTMAX; signo++)
        sigaction(signo, &act, NULL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static int
try_exec(char *path, void *arg)
{
    struct pty_exec *x = arg;
    execve(path, x->argv, x->envp);
    if (errno != ENOEXEC)
        return errno;
    x->script[1] = path;
    execve(x->shell, x->script, x->envp);
    return errno;
}

_Noreturn void
pty_exec_run(struct pty_exec *x, int errnum)
{
    if (!errnum)
        errnum = pty_command_each(&x->paths, try_exec, x);
    file_write_all(x->tell_fd, &errnum, sizeof(errnum));
    _exit(pty_command_status(errnum));
}

/* -- after -- */

int
pty_exec_wait(pid_t pid, int *told_fd, const char *command, int *ret_status,
              struct err *err)
{
    int errnum;
    ssize_t n = file_read(*told_fd, &errnum, sizeof(errnum));
    close(*told_fd);
    *told_fd = -1;
    if (n != sizeof(errnum))
        return 0;
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    *ret_status = pty_command_status(errnum);
    return pty_command_error(command, errnum, err);
}

/* Will a stopped process not act on it before it is continued? */
static bool
needs_cont(int signo)
{
    return signo != SIGKILL && signo != SIGCONT && signo != SIGSTOP && signo != SIGTSTP &&
           signo != SIGTTIN && signo != SIGTTOU;
}

void
pty_exec_signal(pid_t group, int signo)
{
    killpg(group, signo);
    if (needs_cont(signo))
        killpg(group, SIGCONT);
}
