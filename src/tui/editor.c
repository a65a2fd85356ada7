/* SPDX-License-Identifier: MIT */
#include "tui/editor.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"

enum { NOT_FOUND = 127 }; /* what a shell says of a command */

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

/* One that was stopped is told to go on: nobody else would. */
static int
wait_for(pid_t pid, const struct job *job)
{
    int status;
    for (;;) {
        pid_t got = waitpid(pid, &status, WUNTRACED);
        if (got < 0 && errno != EINTR)
            return -errno;
        if (got == pid && !WIFSTOPPED(status))
            return status;
        if (got == pid) {
            if (job->is_foreground)
                give_foreground(job->in_fd, pid);
            kill(-pid, SIGCONT);
        }
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
    pid_t pid = fork();
    if (pid < 0)
        return -errno;
    if (!pid)
        become_editor(job);
    setpgid(pid, pid); /* both of us: whoever is first */
    if (job->is_foreground)
        give_foreground(job->in_fd, pid);
    int status = wait_for(pid, job);
    if (job->is_foreground)
        give_foreground(job->in_fd, getpgrp());
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
