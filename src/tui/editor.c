/* SPDX-License-Identifier: MIT */
#include "tui/editor.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"

enum {
    NOT_FOUND = 127, /* what a shell says of a command */
    STOP_MS = 50, /* after which one that has stopped goes on; at the next, twice … */
    STOP_MAX_MS = 1600,
    HANGUP_MS = 500, /* it may take to go */
};

static const char *
find_editor(void)
{
    static const char *const names[] = { "VISUAL", "EDITOR" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return value;
    }
    return "vi";
}

/* Does it take "+LINE"? By the name of its program, which may have a path and arguments.
 */
static bool
takes_line(const char *editor)
{
    static const char *const names[] = { "vi",          "vim",   "nvim",  "view", "ex",
                                         "nano",        "pico",  "emacs", "mg",   "joe",
                                         "emacsclient", "micro", "kak",   "ne",   "jed" };
    size_t n = strcspn(editor, " \t");
    const char *name = editor;
    for (size_t i = 0; i < n; i++)
        if (editor[i] == '/')
            name = editor + i + 1;
    n -= (size_t)(name - editor);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strlen(names[i]) == n && !strncmp(names[i], name, n))
            return true;
    return false;
}

/* -- the terminal's foreground -- */

/* SIGTTOU would stop us when we are not in it ourselves. */
static void
give_foreground(int fd, pid_t group)
{
    sigset_t mask, old;
    sigemptyset(&mask);
    sigaddset(&mask, SIGTTOU);
    sigprocmask(SIG_BLOCK, &mask, &old);
    tcsetpgrp(fd, group);
    sigprocmask(SIG_SETMASK, &old, NULL);
}

static void
calm_signals(void)
{
    sigset_t none;
    for (int signo = 1; signo < NSIG; signo++)
        signal(signo, SIG_DFL); /* of those that cannot be had it says so */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* -- the editor -- */

struct job {
    const char *script;
    const char *args[2]; /* NULL: no more */
    int in_fd, out_fd;
    bool is_foreground; /* the terminal is ours to give */
};

static void
become_editor(const struct job *job)
{
    setpgid(0, 0);
    if (job->is_foreground)
        give_foreground(job->in_fd, getpid());
    calm_signals();
    if (dup2(job->in_fd, STDIN_FILENO) < 0 || dup2(job->out_fd, STDOUT_FILENO) < 0 ||
        dup2(job->out_fd, STDERR_FILENO) < 0)
        _exit(NOT_FOUND);
    execl("/bin/sh", "sh", "-c", job->script, "sh", job->args[0], job->args[1],
          (char *)NULL);
    _exit(NOT_FOUND);
}

/* -- waiting for it -- */

struct wait {
    pid_t pid;
    const struct job *job;
    sigset_t signals, before; /* that wake us; what was blocked before */
    struct sigaction child_before;
    int stop_ms;    /* of the next stop */
    int timeout_ms; /* until it is continued, or killed; < 0: neither */
    int signo;      /* ends us; 0: none */
};

/* From before it is there: none is missed. Those that our parent has us ignore are. */
static void
hold_signals(struct wait *w)
{
    static const int ending[] = { SIGHUP, SIGTERM, SIGINT, SIGQUIT };
    struct sigaction now, plain = { .sa_handler = SIG_DFL };
    sigaction(SIGCHLD, &plain, &w->child_before); /* ignored, it would never come */
    sigemptyset(&w->signals);
    sigaddset(&w->signals, SIGCHLD);
    for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
        if (sigaction(ending[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(&w->signals, ending[i]);
    sigprocmask(SIG_BLOCK, &w->signals, &w->before);
}

/* The one that ends us comes again, wherever it is waited for. */
static void
release_signals(struct wait *w)
{
    if (w->signo)
        kill(getpid(), w->signo);
    sigaction(SIGCHLD, &w->child_before, NULL);
    sigprocmask(SIG_SETMASK, &w->before, NULL);
}

static void
hang_up(struct wait *w, int signo)
{
    w->signo = signo;
    w->timeout_ms = HANGUP_MS;
    kill(-w->pid, SIGHUP);
    kill(-w->pid, SIGCONT);
}

/* One that cannot have the terminal stops again at once: it waits longer each time. */
static void
take_stop(struct wait *w)
{
    if (w->signo)
        return;
    w->timeout_ms = w->stop_ms;
    w->stop_ms = w->stop_ms < STOP_MAX_MS ? w->stop_ms * 2 : STOP_MAX_MS;
}

static void
take_time(struct wait *w)
{
    w->timeout_ms = -1;
    if (w->signo) {
        kill(-w->pid, SIGKILL);
        return;
    }
    if (w->job->is_foreground)
        give_foreground(w->job->in_fd, w->pid);
    kill(-w->pid, SIGCONT);
}

static void
wait_signal(struct wait *w)
{
    struct timespec time = { .tv_sec = w->timeout_ms / 1000,
                             .tv_nsec = w->timeout_ms % 1000 * 1000000L };
    int signo = w->timeout_ms < 0 ? sigwaitinfo(&w->signals, NULL)
                                  : sigtimedwait(&w->signals, NULL, &time);
    if (signo < 0 && errno == EAGAIN)
        take_time(w);
    else if (signo > 0 && signo != SIGCHLD && !w->signo)
        hang_up(w, signo);
}

static int
wait_for(struct wait *w)
{
    int status;
    for (;;) {
        pid_t got = waitpid(w->pid, &status, WUNTRACED | WNOHANG);
        if (got < 0 && errno != EINTR)
            return -errno;
        if (got == w->pid && !WIFSTOPPED(status))
            return status;
        if (got == w->pid)
            take_stop(w);
        wait_signal(w);
    }
}

static int
tell(int status, const char *editor, struct err *err)
{
    if (WIFSIGNALED(status))
        return err_set(err, -EIO, "'%s' was ended by signal %d", editor,
                       WTERMSIG(status));
    if (WEXITSTATUS(status) == NOT_FOUND)
        return err_set(err, ERR_MISSING, "cannot run '%s'; set $EDITOR", editor);
    if (WEXITSTATUS(status))
        return err_set(err, -EIO, "'%s' has failed with %d", editor, WEXITSTATUS(status));
    return 0;
}

static int
run(const struct job *job)
{
    struct wait w = { .job = job, .stop_ms = STOP_MS, .timeout_ms = -1 };
    hold_signals(&w);
    pid_t pid = w.pid = fork();
    if (!pid)
        become_editor(job);
    int status = -errno;
    if (pid > 0) {
        setpgid(pid, pid); /* both of us: whoever is first */
        if (job->is_foreground)
            give_foreground(job->in_fd, pid);
        status = wait_for(&w);
        if (job->is_foreground)
            give_foreground(job->in_fd, getpgrp());
    }
    release_signals(&w);
    return status;
}

int
tui_editor(const char *path, unsigned line, int in_fd, int out_fd, struct err *err)
{
    AUTO(buf) script = { 0 };
    const char *editor = find_editor();
    char at[16];
    snprintf(at, sizeof(at), "+%u", line);
    buf_printf(&script, "%s \"$@\"", editor);
    struct job job = { .script = buf_str(&script),
                       .args = { path, NULL },
                       .in_fd = in_fd,
                       .out_fd = out_fd,
                       .is_foreground = tcgetpgrp(in_fd) == getpgrp() };
    if (line && takes_line(editor)) {
        job.args[0] = at;
        job.args[1] = path;
    }
    int status = script.failed ? script.failed : run(&job);
    if (status < 0)
        return err_code(err, status, "cannot run '%s'", editor);
    return tell(status, editor, err);
}
