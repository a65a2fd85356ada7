/* SPDX-License-Identifier: MIT */
#include "tap/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/program.h"
#include "base/uuid.h"
#include "ipc/socket.h"
#include "session/folder.h"
#include "session/lines.h"

enum {
    READY_MS = 5000, /* for the first one to serve */
    SOON_MS = 2000,  /* one that dies sooner than this is in trouble */
    RETRY_MS = 50,   /* doubled with each such death */
    BARE_AFTER = 3,  /* deaths */
    RETRIES = 10,
    PROXY_FD = 3, /* where it finds the socket that it serves */
    ARGS = 11,
    WORD = 32,
};

static const uint64_t NS_A_MS = 1000000;

/* -- the process -- */

static int
set_files(posix_spawn_file_actions_t *files, int control_fd, int listen_fd)
{
    int r = posix_spawn_file_actions_adddup2(files, control_fd, STDIN_FILENO);
    if (!r)
        r = posix_spawn_file_actions_addopen(files, STDOUT_FILENO, "/dev/null", O_RDWR,
                                             0);
    if (!r)
        r = posix_spawn_file_actions_addopen(files, STDERR_FILENO, "/dev/null", O_RDWR,
                                             0);
    if (!r)
        r = posix_spawn_file_actions_adddup2(files, listen_fd, PROXY_FD);
    if (!r)
        r = posix_spawn_file_actions_addclosefrom_np(files, PROXY_FD + 1);
    return r;
}

static int
set_attributes(posix_spawnattr_t *attr)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(attr, &none);
    posix_spawnattr_setsigdefault(attr, &all);
    return posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                              POSIX_SPAWN_SETSID);
}

/* listen_fd and control_fd are above PROXY_FD: none is overwritten by the other. */
static int
spawn(const char *path, char *const *argv, char *const *env, int control_fd,
      int listen_fd, pid_t *ret)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attr);
    int r = set_files(&files, control_fd, listen_fd);
    if (!r)
        r = set_attributes(&attr);
    if (!r)
        r = posix_spawn(ret, path, &files, &attr, argv, env);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    return -r;
}

/* posix_spawn() takes the words as char *, and changes none. */
static void
put_word(char **argv, size_t *n, const char *word)
{
    memcpy(&argv[(*n)++], &word, sizeof(word));
}

/* Ours, and the key: words can be read by every user, this by our own alone. */
static int
put_environment(const struct tap *t, struct buf *key, struct buf *ret)
{
    size_t n = 0;
    char *entry;
    while (environ[n])
        n++;
    buf_printf(key, TAP_KEY_VARIABLE "=%s", t->key);
    buf_append(key, "", 1);
    entry = (char *)key->p;
    buf_append(ret, &entry, sizeof(entry));
    buf_append(ret, environ, (n + 1) * sizeof(*environ));
    return key->failed ? key->failed : ret->failed;
}

static int
start_with(struct tap *t, int control_fd)
{
    const struct tap_options *o = t->opt;
    AUTO(buf) path = { 0 };
    AUTO(buf) key = { 0 };
    AUTO(buf) env = { 0 };
    char real[WORD], boot[WORD], flags[8] = "-", *argv[ARGS + 1];
    size_t n = 0, f = 1;
    int r = program_find("ahr-net", &path);
    if (r >= 0)
        r = put_environment(t, &key, &env);
    if (r < 0)
        return r;
    snprintf(real, sizeof(real), "%" PRIu64, o->clock.real_ns);
    snprintf(boot, sizeof(boot), "%" PRIu64, o->clock.boot_ns);
    if (o->has_anchors)
        flags[f++] = 'a';
    if (o->has_turns)
        flags[f++] = 't';
    if (o->is_entire)
        flags[f++] = 'e';
    if (tap_is_bare(t))
        flags[f++] = 'b';
    if (t->started_ns) /* it goes on with what another one has left */
        flags[f++] = 'g';
    flags[f] = 0;
    const char *const words[] = { "ahr-net",
                                  "within",
                                  o->home,
                                  o->id,
                                  real,
                                  boot,
                                  o->tape_path,
                                  o->cwd ? o->cwd : "",
                                  flags,
                                  o->upstream ? o->upstream : "",
                                  o->ca_file ? o->ca_file : "" };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        put_word(argv, &n, words[i]);
    argv[n] = NULL;
    return spawn(buf_str(&path), argv, (char *const *)(void *)env.p, control_fd,
                 t->listen_fd, &t->pid);
}

/* Above those that the new process has otherwise. */
static int
lift(int fd)
{
    int high = fcntl(fd, F_DUPFD_CLOEXEC, PROXY_FD + 1);
    int r = high < 0 ? -errno : high;
    close(fd);
    return r;
}

static int
start(struct tap *t)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
        return -errno;
    int its = lift(ends[1]);
    if (its < 0) {
        close(ends[0]);
        return its;
    }
    int r = start_with(t, its);
    close(its);
    if (r < 0) {
        close(ends[0]);
        return r;
    }
    t->fd = ends[0];
    t->has_told = false;
    t->started_ns = clock_mono_ns();
    return 0;
}

/* -- the first one -- */

static int
wait_ready(struct tap *t, struct err *err)
{
    uint64_t due_ns = clock_mono_ns() + READY_MS * NS_A_MS;
    struct ipc_message m;
    for (;;) {
        struct pollfd p = { .fd = t->fd, .events = POLLIN };
        int r = ipc_inbox_next(&t->in, t->fd, IPC_TO_HOST, &m);
        if (r > 0 && m.selector == IPC_READY)
            return buf_append(&t->variables, m.bytes.p, m.bytes.n);
        if (r > 0 && m.selector == IPC_WARN)
            return err_set(err, -EIO, "%.*s", (int)(m.bytes.n < 400 ? m.bytes.n : 400),
                           (const char *)m.bytes.p);
        if (r > 0)
            continue;
        uint64_t left_ms = clock_left_ms(due_ns, clock_mono_ns());
        if (r < 0 || !left_ms)
            return err_set(err, -EIO, "the proxy %s",
                           r < 0 ? "has ended before it served"
                                 : "does not serve in time");
        (void)poll(&p, 1, (int)left_ms);
    }
}

static int
make_key(char ret_key[TAP_KEY])
{
    uint8_t id[16];
    int r = uuid_make(id);
    for (size_t i = 0; i < sizeof(id) && !r; i++)
        snprintf(ret_key + 2 * i, 3, "%02x", id[i]);
    return r;
}

static int
open_all(struct tap *t, struct err *err)
{
    struct ipc_address here = { .is_tcp = true, .host = "127.0.0.1" };
    uint16_t port;
    int r = make_key(t->key);
    if (r < 0)
        return err_code(err, r, "cannot make a key");
    r = ipc_listen_tcp(&here, &port, err);
    if (r < 0)
        return r;
    t->listen_fd = lift(r);
    r = t->listen_fd < 0 ? t->listen_fd : start(t);
    if (r < 0)
        return err_code(err, r, "cannot start 'ahr-net'");
    return wait_ready(t, err);
}

int
tap_open(struct tap *t, const struct tap_options *opt, struct err *err)
{
    *t = (struct tap){ .opt = opt, .listen_fd = -1, .fd = -1 };
    int r = open_all(t, err);
    if (r < 0) {
        tap_kill(t);
        tap_release(t);
    }
    return r;
}

/* -- while it runs -- */

bool
tap_is_bare(const struct tap *t)
{
    return t->deaths >= BARE_AFTER;
}

static void
lose(struct tap *t)
{
    if (t->fd >= 0)
        close(t->fd);
    t->fd = -1;
    ipc_inbox_release(&t->in);
    if (t->pid) /* whatever has become of it */
        kill(t->pid, SIGKILL);
    tap_reap(t);
}

static uint64_t
wait_ms(const struct tap *t)
{
    return t->deaths ? (uint64_t)RETRY_MS << t->deaths : 0;
}

int
tap_next(struct tap *t, struct ipc_message *ret, uint64_t *ret_wait_ms)
{
    int r = t->fd < 0 ? 0 : ipc_inbox_next(&t->in, t->fd, IPC_TO_HOST, ret);
    t->has_told |= r > 0 && ret->selector == IPC_USED;
    if (r >= 0)
        return r;
    lose(t);
    bool was_soon = clock_mono_ns() - t->started_ns < SOON_MS * NS_A_MS;
    t->deaths = was_soon ? t->deaths + 1 : 1;
    *ret_wait_ms = wait_ms(t);
    return r;
}

int
tap_again(struct tap *t, uint64_t *ret_wait_ms)
{
    tap_reap(t);
    if (t->fd >= 0)
        return 0;
    if (t->deaths > RETRIES || t->listen_fd < 0) {
        if (t->listen_fd >= 0)
            close(t->listen_fd);
        t->listen_fd = -1;
        return ERR_LIMIT;
    }
    int r = t->pid ? -EAGAIN : start(t); /* the one before takes its time */
    if (r < 0 && r != -EAGAIN)
        t->deaths++;
    *ret_wait_ms = r < 0 ? wait_ms(t) : 0;
    return r == ERR_LIMIT ? -EIO : r;
}

void
tap_tell(struct tap *t, const struct ipc_message *m)
{
    AUTO(buf) frame = { 0 };
    if (t->fd >= 0 && ipc_message_put(&frame, m, IPC_TO_CLIENT) == 0)
        (void)!send(t->fd, frame.p, frame.n, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* -- the end -- */

/* The socket stays: should it die on its last way, the next one is given it. */
void
tap_dismiss(struct tap *t)
{
    tap_tell(t, &(struct ipc_message){ .selector = IPC_ENDED });
    if (t->fd >= 0)
        (void)shutdown(t->fd, SHUT_WR);
}

bool
tap_owes(const struct tap *t)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    struct stat st;
    return t->fd < 0 && !t->has_told &&
           session_sibling_path(t->opt->tape_path, SESSION_WIRE, &path) == 0 &&
           stat(buf_str(&path), &st) == 0;
}

void
tap_kill(struct tap *t)
{
    lose(t);
    if (t->pid)
        (void)waitpid(t->pid, NULL, 0);
    t->pid = 0;
}

void
tap_reap(struct tap *t)
{
    if (t->pid && waitpid(t->pid, NULL, WNOHANG) == t->pid)
        t->pid = 0;
}

void
tap_release(struct tap *t)
{
    if (t->listen_fd >= 0)
        close(t->listen_fd);
    if (t->fd >= 0)
        close(t->fd);
    t->listen_fd = t->fd = -1;
    ipc_inbox_release(&t->in);
    buf_release(&t->variables);
}
