/* SPDX-License-Identifier: MIT */
#include "snap/git_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "snap/repo.h"

enum { ARGS_MAX = 32, SAID_MAX = 8192 };

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

const char *const snap_git_settings[] = {
    "pack.compression=1",
    "pack.threads=1",
    "fastimport.unpackLimit=0", /* always a pack: no file for each object */
    "core.bigFileThreshold=16m",
    "core.fsync=all",
    "core.protectNTFS=false",
    "core.protectHFS=false",
    "core.quotePath=false",
    "core.sharedRepository=0600",
    "core.logAllRefUpdates=false",
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.fsmonitor=false",
    "gc.auto=0",
    "maintenance.auto=false",
    /* Names and files that are somebody's, and that no git checks out from here. */
    "fsck.hasDotgit=ignore",
    "fsck.gitmodulesBlob=ignore",
    "fsck.gitmodulesLarge=ignore",
    "fsck.gitmodulesName=ignore",
    "fsck.gitmodulesParse=ignore",
    "fsck.gitmodulesPath=ignore",
    "fsck.gitmodulesSymlink=ignore",
    "fsck.gitmodulesUpdate=ignore",
    "fsck.gitmodulesUrl=ignore",
    "fsck.gitattributesBlob=ignore",
    "fsck.gitattributesLarge=ignore",
    "fsck.gitattributesLineLength=ignore",
    "fsck.gitattributesSymlink=ignore",
    "fsck.gitignoreSymlink=ignore",
    "fsck.mailmapSymlink=ignore",
    NULL,
};

/* In place of all that the user's environment says to git. The last two are for libc:
 * for each object zlib has 256 KiB, which else go back to the kernel each time. */
static const char *const surroundings[] = {
    "GIT_CONFIG_GLOBAL=/dev/null",
    "GIT_CONFIG_NOSYSTEM=1",
    "GIT_ATTR_NOSYSTEM=1",
    "GIT_TERMINAL_PROMPT=0",
    "GIT_OPTIONAL_LOCKS=0",
    "GIT_NO_REPLACE_OBJECTS=1",
    "GIT_NO_LAZY_FETCH=1",
    "GIT_PAGER=cat",
    "LC_ALL=C",
    "MALLOC_TRIM_THRESHOLD_=67108864",
    "MALLOC_TOP_PAD_=1048576",
};

/* Made before the fork: behind it no memory may be asked for. All words are borrowed, but
 * for git_dir. */
struct start {
    const char *repo_path; /* borrowed */
    char *git_dir;         /* GIT_DIR=… */
    char **env;
    const char *argv[ARGS_MAX + 2 * COUNT(snap_git_settings) + 2];
    int in_fd, out_fd, said_fd, failed_fd;
    pid_t parent;
};

static void
start_release(struct start *s)
{
    free(s->env);
    free(s->git_dir);
}

static bool
is_passed_on(const char *variable)
{
    static const char *const ours[] = { "GIT_",      "LC_",          "LANG=",
                                        "LANGUAGE=", "MALLOC_TRIM_", "MALLOC_TOP_" };
    for (size_t i = 0; i < COUNT(ours); i++)
        if (strncmp(variable, ours[i], strlen(ours[i])) == 0)
            return false;
    return true;
}

static void
put_word(char **words, size_t *n, const char *word)
{
    memcpy(&words[(*n)++], &word, sizeof(word)); /* exec takes char *, and changes none */
}

static int
make_environment(struct start *s)
{
    size_t n = 0, kept = 0;
    while (environ[n])
        n++;
    if (asprintf(&s->git_dir, "GIT_DIR=%s", s->repo_path) < 0) {
        s->git_dir = NULL;
        return -ENOMEM;
    }
    s->env = calloc(n + COUNT(surroundings) + 2, sizeof(*s->env));
    if (!s->env)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        if (is_passed_on(environ[i]))
            s->env[kept++] = environ[i];
    for (size_t i = 0; i < COUNT(surroundings); i++)
        put_word(s->env, &kept, surroundings[i]);
    s->env[kept] = s->git_dir;
    return 0;
}

static int
make_words(struct start *s, const char *const *args)
{
    size_t n = 0, given = 0;
    s->argv[n++] = "git";
    for (size_t i = 0; snap_git_settings[i]; i++) {
        s->argv[n++] = "-c";
        s->argv[n++] = snap_git_settings[i];
    }
    for (; args[given]; given++) {
        if (given == ARGS_MAX)
            return -E2BIG;
        s->argv[n++] = args[given];
    }
    s->argv[n] = NULL;
    return 0;
}

/* All may be 0, 1 or 2 themselves, where our caller had those closed. */
static bool
set_files(const struct start *s)
{
    int fds[] = { s->in_fd, s->out_fd, s->said_fd };
    for (int i = 0; i < 3; i++) {
        fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 3);
        if (fds[i] < 0)
            return false;
    }
    for (int i = 0; i < 3; i++)
        if (dup2(fds[i], i) < 0)
            return false;
    return true;
}

/* In the child, with every signal blocked. */
static _Noreturn void
become_git(const struct start *s)
{
    sigset_t none;
    for (int sig = 1; sig < NSIG; sig++)
        (void)signal(sig, SIG_DFL);
    sigemptyset(&none);
    setsid();
    umask(077);
    char *argv[COUNT(s->argv)];
    memcpy(argv, s->argv, sizeof(argv));
    /* By SIGTERM it removes its lock files on its way out. */
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) == 0 && getppid() == s->parent &&
        chdir(s->repo_path) == 0 && set_files(s)) {
        sigprocmask(SIG_SETMASK, &none, NULL);
        execvpe("git", argv, s->env);
    }
    int e = errno;
    (void)!write(s->failed_fd, &e, sizeof(e));
    _exit(127);
}

/* The process, or -errno, also when it could not become git. */
static pid_t
fork_git(struct start *s)
{
    int fds[2], e = 0;
    sigset_t all, before;
    if (pipe2(fds, O_CLOEXEC) < 0)
        return -errno;
    int keeper = fcntl(fds[1], F_DUPFD_CLOEXEC, 3); /* not where 0, 1, 2 are put */
    s->failed_fd = keeper;
    s->parent = getpid();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t pid = keeper < 0 ? -1 : fork();
    if (pid == 0)
        become_git(s);
    e = pid < 0 ? errno : 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(fds[1]);
    if (keeper >= 0)
        close(keeper);
    if (pid > 0 && file_read(fds[0], &e, sizeof(e)) == sizeof(e))
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
    close(fds[0]);
    return e ? -e : pid;
}

static void
close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void
close_all(struct snap_git *g)
{
    close_fd(&g->in_fd);
    close_fd(&g->out_fd);
    close_fd(&g->said_fd);
}

/* Our ends into *g, its into *s. */
static int
open_ends(struct snap_git *g, struct start *s, bool has_in, int out_fd)
{
    int fds[2];
    g->said_fd = memfd_create("said", MFD_CLOEXEC);
    s->said_fd = g->said_fd;
    if (g->said_fd < 0)
        return -errno;
    if (!has_in) {
        s->in_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    } else if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0) {
        g->in_fd = fds[0];
        s->in_fd = fds[1];
    }
    if (s->in_fd < 0)
        return -errno;
    if (out_fd >= 0) {
        s->out_fd = out_fd;
        return 0;
    }
    if (pipe2(fds, O_CLOEXEC) < 0)
        return -errno;
    g->out_fd = fds[0];
    s->out_fd = fds[1];
    return 0;
}

int
snap_git_start(struct snap_git *ret, const char *repo_path, const char *const *args,
               bool has_in, int out_fd, struct err *err)
{
    struct snap_git g = { .in_fd = -1, .out_fd = -1, .said_fd = -1 };
    struct start s = { .repo_path = repo_path, .in_fd = -1, .out_fd = -1 };
    int r = make_environment(&s);
    if (!r)
        r = make_words(&s, args);
    if (!r)
        r = open_ends(&g, &s, has_in, out_fd);
    if (!r) {
        g.pid = fork_git(&s);
        r = g.pid < 0 ? (int)g.pid : 0;
    }
    close_fd(&s.in_fd);
    if (out_fd < 0)
        close_fd(&s.out_fd);
    start_release(&s);
    if (!r) {
        *ret = g;
        return 0;
    }
    close_all(&g);
    if (r == -ENOENT && access(repo_path, F_OK) == 0)
        return err_set(err, ERR_MISSING,
                       "there is no git: file snapshots are kept by it; install it, or "
                       "put it into your PATH");
    return err_code(err, r, "cannot start git in '%s'", repo_path);
}

int
snap_git_write(struct snap_git *g, const void *p, size_t n)
{
    const uint8_t *at = p;
    while (n) {
        ssize_t r = send(g->in_fd, at, n, MSG_NOSIGNAL);
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return -errno;
        at += r;
        n -= (size_t)r;
    }
    return 0;
}

void
snap_git_close_in(struct snap_git *g)
{
    close_fd(&g->in_fd);
}

static int
reap(struct snap_git *g)
{
    int status = 0;
    while (waitpid(g->pid, &status, 0) < 0)
        if (errno != EINTR)
            return -errno;
    return status;
}

/* The first line that tells of a failure, else the last one. Of fast-import each failure
 * makes others on its way out. */
static struct view
main_line(const char *text)
{
    static const char sign[] = "fatal: ";
    const char *end = text + strlen(text), *line = strstr(text, sign);
    if (line)
        return (struct view){ (const uint8_t *)line, strcspn(line, "\n") };
    while (end > text && (end[-1] == '\n' || end[-1] == ' '))
        end--;
    for (line = end; line > text && line[-1] != '\n';)
        line--;
    return (struct view){ (const uint8_t *)line, (size_t)(end - line) };
}

/* Names of files are in it, and those may hold anything. */
static void
clean(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' && *text != '\n')
            *text = '?';
}

static bool
is_full(const char *text)
{
    static const char *const signs[] = { "No space left on device", "Disk quota exceeded",
                                         "Out of diskspace" };
    for (size_t i = 0; i < COUNT(signs); i++)
        if (strstr(text, signs[i]))
            return true;
    return false;
}

static int
tell(int status, int said_fd, const char *doing, struct err *err)
{
    char text[SAID_MAX + 1];
    ssize_t n = pread(said_fd, text, SAID_MAX, 0);
    text[n > 0 ? n : 0] = 0;
    clean(text);
    struct view said = main_line(text);
    if (is_full(text))
        return err_code(err, -ENOSPC, "%s", doing);
    if (said.n)
        return err_set(err, -EIO, "%s: git says: %.*s", doing,
                       said.n > 300 ? 300 : (int)said.n, (const char *)said.p);
    if (WIFSIGNALED(status))
        return err_set(err, WTERMSIG(status) == SIGPIPE ? -EPIPE : -EIO,
                       "%s: git was killed by signal %d", doing, WTERMSIG(status));
    return err_set(err, -EIO, "%s: git has failed with status %d", doing,
                   WEXITSTATUS(status));
}

int
snap_git_end(struct snap_git *g, const char *doing, struct err *err)
{
    close_fd(&g->in_fd);
    close_fd(&g->out_fd);
    int status = reap(g), r = 0;
    if (status < 0)
        r = err_code(err, status, "%s: cannot wait for git", doing);
    else if (status != 0)
        r = tell(status, g->said_fd, doing, err);
    close_all(g);
    return r;
}

void
snap_git_kill(struct snap_git *g)
{
    kill(g->pid, SIGTERM); /* it removes its lock files */
    close_fd(&g->in_fd);
    close_fd(&g->out_fd);
    (void)reap(g);
    close_all(g);
}

/* As much as it takes now. What it does not read any more is its own affair. */
static void
push(struct snap_git *g, struct view *input)
{
    ssize_t n = send(g->in_fd, input->p, input->n, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno != EAGAIN && errno != EINTR)
        input->n = 0;
    if (n > 0) {
        input->p += n;
        input->n -= (size_t)n;
    }
    if (!input->n)
        close_fd(&g->in_fd);
}

/* 0: goes on; 1: the end. */
static int
pull(struct snap_git *g, struct buf *out)
{
    int r = buf_reserve(out, 65536);
    ssize_t n = r < 0 ? r : file_read(g->out_fd, out->p + out->n, out->cap - out->n);
    if (n <= 0)
        return n < 0 ? (int)n : 1;
    out->n += (size_t)n;
    return 0;
}

static int
exchange(struct snap_git *g, struct view input, struct buf *out)
{
    if (!input.n)
        close_fd(&g->in_fd);
    for (;;) {
        struct pollfd fds[] = { { .fd = g->out_fd, .events = POLLIN },
                                { .fd = g->in_fd, .events = POLLOUT } };
        if (poll(fds, 2, -1) < 0) {
            if (errno != EINTR)
                return -errno;
            continue;
        }
        if (fds[1].revents)
            push(g, &input);
        int r = fds[0].revents ? pull(g, out) : 0;
        if (r)
            return r < 0 ? r : 0;
    }
}

int
snap_git_run(const char *repo_path, const char *const *args, struct view input,
             struct buf *out, const char *doing, struct err *err)
{
    AUTO(buf) dropped = { 0 };
    struct snap_git g = { .in_fd = -1, .out_fd = -1, .said_fd = -1 };
    int r = snap_git_start(&g, repo_path, args, input.n > 0, -1, err);
    if (r < 0)
        return r;
    r = exchange(&g, input, out ? out : &dropped);
    if (r < 0) {
        snap_git_kill(&g);
        return err_code(err, r, "%s", doing);
    }
    return snap_git_end(&g, doing, err);
}

int
snap_git_version(struct buf *ret, struct err *err)
{
    static const char *const args[] = { "--version", NULL };
    static const char words[] = "git version ";
    AUTO(buf) said = { 0 };
    int r = snap_git_run("/", args, (struct view){ 0 }, &said, "ask git for its version",
                         err);
    if (r < 0)
        return r;
    const char *text = buf_str(&said);
    if (!strncmp(text, words, sizeof(words) - 1))
        text += sizeof(words) - 1;
    return buf_append(ret, text, strcspn(text, "\n"));
}
