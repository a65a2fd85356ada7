/* SPDX-License-Identifier: MIT */
#include "run/child_priv.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "pty/exec.h"

enum {
    /* Of the pipe: the more it holds the less the command waits, and the longer it takes
     * to end one that never pauses: what is in it is still read. */
    OUT_SIZE = 128 << 10,
    STATUS_CANNOT = 126,
};

/* What the child has as 0, 1 and 2, and where it is; all over 2, close-on-exec. */
struct ends {
    int fd[3];
    int dir_fd; /* -1: here */
};

static void
close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void
close_ends(struct ends *e)
{
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
        close_fd(&e->fd[i]);
    close_fd(&e->dir_fd);
}

/* -- before fork -- */

/* One end is the child's, blocking as programs expect it; ours is not. Both are over 2:
 * where our own 0, 1 or 2 is closed, nobody takes a pipe of ours for it. */
static int
open_pipe(int *ret_ours, int *ret_theirs, bool is_input)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC))
        return -errno;
    *ret_ours = fds[is_input];
    *ret_theirs = fds[!is_input];
    int r = pty_exec_lift(ret_ours);
    if (!r)
        r = pty_exec_lift(ret_theirs);
    if (!r && fcntl(*ret_ours, F_SETFL, O_NONBLOCK))
        r = -errno;
    return r;
}

static int
open_nothing(int *ret)
{
    *ret = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return *ret < 0 ? -errno : pty_exec_lift(ret);
}

static int
open_pipes(struct run_child *c, struct ends *e, bool has_input)
{
    int r = has_input ? open_pipe(&c->in_fd, &e->fd[0], true) : open_nothing(&e->fd[0]);
    if (!r)
        r = open_pipe(&c->out_fd, &e->fd[1], false);
    if (!r)
        r = open_pipe(&c->err_fd, &e->fd[2], false);
    if (!r)
        (void)fcntl(c->out_fd, F_SETPIPE_SZ, OUT_SIZE); /* where it is allowed */
    return r;
}

static int
open_dir(struct ends *e, const char *dir)
{
    e->dir_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return e->dir_fd < 0 ? -errno : pty_exec_lift(&e->dir_fd);
}

/* -- in the child -- */

static int
take_ends(const struct ends *e)
{
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
        if (dup2(e->fd[i], i) < 0)
            return errno;
    return e->dir_fd >= 0 && fchdir(e->dir_fd) ? errno : 0;
}

static _Noreturn void
be_child(const struct ends *e, struct pty_exec *x)
{
    setpgid(0, 0);
    int errnum = take_ends(e);
    pty_exec_reset_signals();
    pty_exec_run(x, errnum);
}

/* -- all of it -- */

static int
start(struct run_child *c, struct ends *e, struct pty_exec *x, struct err *err)
{
    c->pid = pty_exec_fork();
    if (c->pid < 0)
        return err_code(err, c->pid, "cannot start a process");
    if (!c->pid)
        be_child(e, x);
    setpgid(c->pid, c->pid); /* whoever of us comes first: signals find it from now on */
    return 0;
}

int
run_child_start(struct run_child *ret, char *const *argv, char *const *envp,
                const char *dir, bool has_input, int *ret_status, struct err *err)
{
    assert(argv[0]);
    struct run_child c = { .pid = -1, .in_fd = -1, .out_fd = -1, .err_fd = -1 };
    struct ends e = { .fd = { -1, -1, -1 }, .dir_fd = -1 };
    struct pty_exec x = { .tell_fd = -1 };
    int told_fd = -1;
    *ret_status = STATUS_CANNOT;
    int r = dir ? open_dir(&e, dir) : 0;
    if (r) {
        r = err_code(err, r, "cannot run '%s' in '%s'", argv[0], dir);
    } else {
        r = open_pipes(&c, &e, has_input);
        if (!r)
            r = pty_exec_init(&x, argv, envp, &told_fd);
        r = r ? err_code(err, r, "cannot make a pipe for '%s'", argv[0])
              : start(&c, &e, &x, err);
    }
    close_ends(&e);
    pty_exec_release(&x);
    if (!r)
        r = pty_exec_wait(c.pid, &told_fd, argv[0], ret_status, err);
    close_fd(&told_fd);
    if (r)
        run_child_close(&c);
    else
        *ret = c;
    return r;
}

void
run_child_signal(const struct run_child *c, int signo)
{
    assert(c->pid > 1);
    pty_exec_signal(c->pid, signo);
}

void
run_child_close(struct run_child *c)
{
    close_fd(&c->in_fd);
    close_fd(&c->out_fd);
    close_fd(&c->err_fd);
}
