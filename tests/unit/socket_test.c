/* SPDX-License-Identifier: MIT */
/* socket_test.c -- sockets made and reached, what is refused of both, and who is at the
 * other end. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "ipc/socket.h"
#include "support/kit.h"

#define SOCK       "a.sock"
#define SESSION_ID "2026-01-02-01234567-89ab-4cde-8f01-23456789abcd"
#define WAIT_WORD  "--wait"

enum { NOBODY = 65534, MANY = 1000 };

static struct ipc_address
at_path(const char *path)
{
    return (struct ipc_address){ .path = path };
}

static int
listen_at(const char *path)
{
    struct err err;
    int fd = ipc_listen(path, &err);
    if (fd < 0)
        fail_msg("%s", err.text);
    return fd;
}

static int
connect_to(const struct ipc_address *at)
{
    struct err err;
    int fd = ipc_connect(at, &err);
    if (fd < 0)
        fail_msg("%s", err.text);
    return fd;
}

static void
assert_refused(const char *path, int code, const char *text)
{
    struct err err;
    struct ipc_address at = at_path(path);
    assert_int_equal(ipc_connect(&at, &err), code);
    assert_non_null(strstr(err.text, text));
    assert_non_null(strstr(err.text, path));
}

static void
assert_flags(int fd, bool is_blocking)
{
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(!(fcntl(fd, F_GETFL) & O_NONBLOCK), is_blocking);
}

static mode_t
mode_of(const char *path)
{
    struct stat st;
    assert_int_equal(lstat(path, &st), 0);
    return st.st_mode;
}

/* cmocka's own skip() is a failure to meson. */
static bool
can_be_others(void)
{
    if (geteuid())
        print_message("# SKIP: only root can be several users\n");
    return !geteuid();
}

/* -- addresses -- */

static void
addresses_are_paths_or_loopback(void **state)
{
    (void)state;
    static const struct {
        const char *text, *host;
        uint16_t port;
    } cases[] = {
        { "tcp:127.0.0.1:0", "127.0.0.1", 0 },
        { "tcp:127.9.8.7:65535", "127.9.8.7", 65535 },
        { "tcp:localhost:7000", "localhost", 7000 },
        { "tcp:[::1]:80", "::1", 80 },
        { "tcp:[0:0:0:0:0:0:0:1]:1", "0:0:0:0:0:0:0:1", 1 },
        { "/run/x/ipc.sock", NULL, 0 },
        { "./tcp:1", NULL, 0 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct ipc_address at;
        assert_int_equal(ipc_address_parse(&at, cases[i].text, NULL), 0);
        assert_int_equal(at.is_tcp, cases[i].host != NULL);
        assert_int_equal(at.port, cases[i].port);
        if (cases[i].host)
            assert_string_equal(at.host, cases[i].host);
        else
            assert_ptr_equal(at.path, cases[i].text);
    }
}

static void
other_addresses_are_refused_with_the_reason(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
    } cases[] = {
        { "", "is no socket's address" },
        { "tcp:", "is no address" },
        { "tcp:127.0.0.1", "is no address" },
        { "tcp:127.0.0.1:", "is no address" },
        { "tcp::80", "is no address" },
        { "tcp:[]:80", "is no address" },
        { "tcp:127.0.0.1:65536", "is no address" },
        { "tcp:127.0.0.1:-1", "is no address" },
        { "tcp:127.0.0.1: 80", "is no address" },
        { "tcp:127.0.0.1:80 ", "is no address" },
        { "tcp:127.0.0.1:80:80", "is no address" },
        { "tcp:127.1:80", "is no address" },
        { "tcp:0x7f.0.0.1:80", "is no address" },
        { "tcp:[127.0.0.1]:80", "is no address" },
        { "tcp:::1:80", "is no address" },
        { "tcp:[::1]", "is no address" },
        { "tcp:[::1]80", "is no address" },
        { "tcp:[::1%lo]:80", "is no address" },
        { "tcp:localhost.example:80", "is no address" },
        { "tcp:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa:80",
          "is no address" },
        { "tcp:0.0.0.0:80", "loopback" },
        { "tcp:192.168.1.1:80", "loopback" },
        { "tcp:128.0.0.1:80", "loopback" },
        { "tcp:126.255.255.255:80", "loopback" },
        { "tcp:[::]:80", "loopback" },
        { "tcp:[::ffff:127.0.0.1]:80", "loopback" },
        { "tcp:[2001:db8::1]:80", "loopback" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct ipc_address at;
        struct err err = { 0 };
        assert_int_equal(ipc_address_parse(&at, cases[i].text, &err), ERR_USAGE);
        if (!strstr(err.text, cases[i].why))
            fail_msg("'%s': %s", cases[i].text, err.text);
    }
}

static void
a_path_of_107_bytes_is_the_longest(void **state)
{
    (void)state;
    char path[IPC_PATH_MAX + 2];
    struct ipc_address at;
    memset(path, 'x', sizeof(path));
    path[IPC_PATH_MAX] = '\0';
    assert_int_equal(ipc_address_parse(&at, path, NULL), 0);
    int listener = listen_at(path), fd = connect_to(&at);
    close(fd);
    close(listener);
    path[IPC_PATH_MAX] = 'x';
    path[IPC_PATH_MAX + 1] = '\0';
    assert_int_equal(ipc_address_parse(&at, path, NULL), ERR_USAGE);
    assert_int_equal(ipc_listen(path, NULL), -ENAMETOOLONG);
    assert_refused(path, -ENAMETOOLONG, "1 to 107 bytes");
    assert_int_equal(ipc_listen("", NULL), -ENAMETOOLONG);
}

/* -- Unix sockets -- */

static void
a_socket_is_private_whatever_the_umask(void **state)
{
    (void)state;
    static const mode_t masks[] = { 0, 0022, 0177, 0777 };
    for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
        mode_t before = umask(masks[i]);
        int fd = ipc_listen(SOCK, NULL);
        assert_int_equal(umask(before), masks[i]);
        assert_true(fd >= 0);
        assert_int_equal(mode_of(SOCK), S_IFSOCK | 0600);
        close(fd);
        unlink(SOCK);
    }
}

static void
both_ends_talk_and_are_not_inherited(void **state)
{
    (void)state;
    char got[3] = "";
    struct timeval tv = { 1, 1 };
    socklen_t n = sizeof(tv);
    struct ipc_address at = at_path(SOCK);
    int listener = listen_at(SOCK);
    assert_flags(listener, false);
    assert_int_equal(ipc_accept(listener), -EAGAIN);
    int client = connect_to(&at), host = ipc_accept(listener);
    assert_true(host >= 0);
    assert_int_equal(ipc_accept(listener), -EAGAIN);
    assert_flags(client, true);
    assert_flags(host, false);
    assert_int_equal(getsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &tv, &n), 0);
    assert_true(!tv.tv_sec && !tv.tv_usec);
    assert_int_equal(send(client, "hi", 2, 0), 2);
    assert_int_equal(recv(host, got, 2, 0), 2);
    assert_string_equal(got, "hi");
    close(client);
    close(host);
    close(listener);
}

static void
what_is_at_the_path_is_left_alone(void **state)
{
    (void)state;
    static const char *const names[] = { "file", "folder", "link", "nowhere", "socket" };
    close(open("file", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    mkdir("folder", 0700);
    int listener = listen_at("socket");
    assert_int_equal(symlink("socket", "link"), 0);
    assert_int_equal(symlink("not-there", "nowhere"), 0);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct stat before, after;
        struct err err;
        assert_int_equal(lstat(names[i], &before), 0);
        assert_int_equal(ipc_listen(names[i], &err), -EEXIST);
        assert_non_null(strstr(err.text, names[i]));
        assert_int_equal(lstat(names[i], &after), 0);
        assert_int_equal(after.st_ino, before.st_ino);
        assert_int_equal(after.st_mode, before.st_mode);
    }
    assert_int_equal(access("not-there", F_OK), -1);
    close(listener);
}

static void
only_a_socket_itself_is_connected_to(void **state)
{
    (void)state;
    int listener = listen_at(SOCK);
    close(open("file", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    assert_int_equal(symlink(SOCK, "link"), 0);
    assert_refused("link", -EPERM, "is a link");
    assert_refused("file", -EPERM, "is no socket");
    assert_refused(".", -EPERM, "is no socket");
    assert_refused("file/x", -ENOTDIR, "cannot reach");
    assert_refused("not-there", ERR_MISSING, "nobody listens");
    assert_int_equal(ipc_accept(listener), -EAGAIN);
    close(listener);
    assert_refused(SOCK, ERR_MISSING, "nobody listens");
}

static void
a_socket_of_another_user_is_refused(void **state)
{
    (void)state;
    if (!can_be_others())
        return;
    int listener = listen_at(SOCK);
    assert_int_equal(chown(SOCK, NOBODY, NOBODY), 0);
    assert_refused(SOCK, -EPERM, "belongs to another user (uid 65534)");
    assert_int_equal(ipc_accept(listener), -EAGAIN);
    close(listener);
}

/* -- processes -- */

struct helper {
    pid_t pid;
    int says; /* what it has to tell, from its stdout */
    int hold; /* lives until this is closed */
};

typedef void (*helper_part)(void);

static void
say(const void *p, size_t n)
{
    if (write(STDOUT_FILENO, p, n) != (ssize_t)n)
        _exit(1);
}

static void
wait_for_the_end(void)
{
    char c;
    while (read(STDIN_FILENO, &c, 1) > 0)
        ;
    _exit(0);
}

/* A child that does its part, then lives until it is let go. */
static struct helper
start(helper_part part)
{
    int in[2], out[2];
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (!pid) {
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        close(in[1]); /* or a copy of it would hold us */
        part();
        wait_for_the_end();
    }
    close(in[0]);
    close(out[1]);
    return (struct helper){ .pid = pid, .says = out[0], .hold = in[1] };
}

static void
hear(const struct helper *h, void *p, size_t n)
{
    assert_int_equal(read(h->says, p, n), n);
}

static void
let_go(struct helper *h)
{
    close(h->hold);
    close(h->says);
    assert_int_equal(waitpid(h->pid, NULL, 0), h->pid);
}

static void
listen_as_nobody(void)
{
    int fd = setuid(NOBODY) ? -1 : ipc_listen(SOCK, NULL);
    say(&fd, sizeof(fd));
}

static void
a_socket_where_another_user_listens_is_refused(void **state)
{
    (void)state;
    int fd;
    if (!can_be_others())
        return;
    assert_int_equal(chmod(".", 0777), 0);
    struct helper h = start(listen_as_nobody);
    hear(&h, &fd, sizeof(fd));
    assert_true(fd >= 0);
    assert_int_equal(chown(SOCK, 0, 0), 0);
    assert_refused(SOCK, -EPERM, "another user (uid 65534) listens");
    let_go(&h);
}

static void
connect_as_nobody(void)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX, .sun_path = SOCK };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int r = setuid(NOBODY) || connect(fd, (struct sockaddr *)&to, sizeof(to));
    say(&r, sizeof(r));
}

static void
a_peer_is_known_by_pid_and_user(void **state)
{
    (void)state;
    struct ipc_peer peer = { 0 };
    int r;
    if (!can_be_others())
        return;
    int listener = listen_at(SOCK);
    assert_int_equal(chmod(".", 0711), 0);
    assert_int_equal(chmod(SOCK, 0666), 0);
    struct helper h = start(connect_as_nobody);
    hear(&h, &r, sizeof(r));
    assert_int_equal(r, 0);
    int fd = ipc_accept(listener);
    assert_true(fd >= 0);
    assert_int_equal(ipc_peer(fd, &peer), 0);
    assert_int_equal(peer.uid, NOBODY);
    assert_int_equal(peer.pid, h.pid);
    close(fd);
    close(listener);
    let_go(&h);
}

static void
ask_as_nobody(void)
{
    struct ipc_address at = at_path(SOCK);
    struct err err = { 0 };
    int r = setuid(NOBODY) ? 0 : ipc_connect(&at, &err);
    say(&r, sizeof(r));
}

static void
another_user_does_not_reach_a_socket(void **state)
{
    (void)state;
    int r;
    if (!can_be_others())
        return;
    int listener = listen_at(SOCK);
    assert_int_equal(chmod(".", 0755), 0);
    struct helper h = start(ask_as_nobody);
    hear(&h, &r, sizeof(r));
    assert_int_equal(r, -EPERM);
    let_go(&h);
    close(listener);
}

static void
be_still(void)
{
    char c = 1;
    say(&c, 1);
}

static void
have_a_child(void)
{
    pid_t pid = fork();
    if (!pid)
        wait_for_the_end();
    say(&pid, sizeof(pid));
}

static void
whom_a_session_has_started_is_inside(void **state)
{
    (void)state;
    pid_t grandchild;
    struct helper h = start(have_a_child);
    hear(&h, &grandchild, sizeof(grandchild));
    assert_true(ipc_is_inside(getpid(), getpid(), SESSION_ID));
    assert_true(ipc_is_inside(h.pid, getpid(), SESSION_ID));
    assert_true(ipc_is_inside(grandchild, getpid(), SESSION_ID));
    assert_true(ipc_is_inside(grandchild, h.pid, SESSION_ID));
    let_go(&h);
}

static void
who_stands_above_or_beside_is_outside(void **state)
{
    (void)state;
    char c;
    struct helper host = start(be_still), other = start(be_still);
    hear(&host, &c, 1);
    hear(&other, &c, 1);
    assert_false(ipc_is_inside(other.pid, host.pid, SESSION_ID));
    assert_false(ipc_is_inside(getpid(), host.pid, SESSION_ID));
    assert_false(ipc_is_inside(getppid(), host.pid, SESSION_ID));
    assert_false(ipc_is_inside(1, host.pid, SESSION_ID));
    assert_false(ipc_is_inside(0, host.pid, SESSION_ID)); /* of a namespace above */
    let_go(&other);
    let_go(&host);
}

static void
who_is_gone_is_not_let_in(void **state)
{
    (void)state;
    char c;
    struct helper host = start(be_still), h = start(be_still);
    hear(&host, &c, 1);
    let_go(&h);
    assert_true(ipc_is_inside(h.pid, host.pid, SESSION_ID));
    let_go(&host);
}

static void
have_a_child_by_a_bad_name(void)
{
    prctl(PR_SET_NAME, "x) S 1 (y) S 1");
    have_a_child();
}

static void
a_name_with_parentheses_hides_nobody(void **state)
{
    (void)state;
    pid_t grandchild;
    struct helper h = start(have_a_child_by_a_bad_name);
    hear(&h, &grandchild, sizeof(grandchild));
    assert_true(ipc_is_inside(h.pid, getpid(), SESSION_ID));
    assert_true(ipc_is_inside(grandchild, getpid(), SESSION_ID));
    let_go(&h);
}

/* /proc shows the environment that a program was given: so the orphan is one that is
 * executed. It tells its pid when it runs. */
static char **orphan_env;

static void
leave_an_orphan(void)
{
    pid_t pid = fork();
    if (pid)
        _exit(pid < 0);
    execve("/proc/self/exe",
           (char *[]){ (char[]){ "orphan" }, (char[]){ WAIT_WORD }, NULL }, orphan_env);
    _exit(127);
}

static int
be_an_orphan(void)
{
    pid_t pid = getpid();
    say(&pid, sizeof(pid));
    wait_for_the_end();
    return 0;
}

static bool
is_orphan_inside(char **env)
{
    pid_t orphan;
    char c;
    orphan_env = env;
    struct helper h = start(leave_an_orphan);
    assert_int_equal(waitpid(h.pid, NULL, 0), h.pid);
    hear(&h, &orphan, sizeof(orphan));
    bool is_inside = ipc_is_inside(orphan, getpid(), SESSION_ID);
    close(h.hold);
    assert_int_equal(read(h.says, &c, 1), 0); /* it has ended */
    close(h.says);
    return is_inside;
}

static void
an_orphan_is_known_by_its_environment(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_inside;
    } cases[] = {
        { "AHR_SESSION=" SESSION_ID, true },
        { "AHR_SESSION=", false },
        { "AHR_SESSION=" SESSION_ID "0", false },
        { "XAHR_SESSION=" SESSION_ID, false },
        { "AHR_SESSION", false },
        { "A=\nAHR_SESSION=" SESSION_ID, false },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[128];
        snprintf(text, sizeof(text), "%s", cases[i].text);
        char *last[] = { (char[]){ "LANG=C" }, text, NULL };
        char *first[] = { text, (char[]){ "LANG=C" }, NULL };
        assert_int_equal(is_orphan_inside(last), cases[i].is_inside);
        assert_int_equal(is_orphan_inside(first), cases[i].is_inside);
    }
    assert_false(is_orphan_inside((char *[]){ NULL }));
}

static void
a_large_environment_is_read_to_its_end(void **state)
{
    (void)state;
    enum { LARGE = 100000, COUNT = 10 };
    char *large = malloc(LARGE + 1);
    assert_non_null(large);
    memset(large, 'x', LARGE);
    large[1] = '=';
    large[LARGE] = '\0';
    char *env[COUNT + 2];
    for (int i = 0; i < COUNT; i++)
        env[i] = large;
    env[COUNT] = (char[]){ "AHR_SESSION=" SESSION_ID };
    env[COUNT + 1] = NULL;
    assert_true(is_orphan_inside(env));
    free(large);
}

/* -- a full backlog -- */

/* A listener with room for hardly anyone, and those who took it. */
static int
fill_backlog(int waiting[MANY], int *ret_count)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX, .sun_path = SOCK };
    int listener = listen_at(SOCK), n = 0;
    assert_int_equal(listen(listener, 0), 0);
    for (; n < MANY; n++) {
        waiting[n] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        assert_true(waiting[n] >= 0);
        if (connect(waiting[n], (struct sockaddr *)&to, sizeof(to)))
            break;
    }
    assert_true(n < MANY);
    assert_int_equal(errno, EAGAIN);
    *ret_count = n + 1;
    return listener;
}

static void
close_all(const int *fds, int n)
{
    for (int i = 0; i < n; i++)
        close(fds[i]);
}

static void
connect_and_tell(void)
{
    struct ipc_address at = at_path(SOCK);
    char c = 'x';
    say(&c, 1);
    int r = ipc_connect(&at, NULL) < 0;
    say(&r, sizeof(r));
}

static void
connecting_waits_for_room(void **state)
{
    (void)state;
    int waiting[MANY], n, r;
    char c;
    int listener = fill_backlog(waiting, &n);
    struct helper h = start(connect_and_tell);
    hear(&h, &c, 1);
    close(ipc_accept(listener));
    hear(&h, &r, sizeof(r));
    assert_int_equal(r, 0);
    let_go(&h);
    close_all(waiting, n);
    close(listener);
}

static void
on_alarm(int signo)
{
    (void)signo;
}

/* Signals come all the time: they neither fail it nor make it longer. */
static void
nobody_waits_for_room_for_ever(void **state)
{
    (void)state;
    int waiting[MANY], n;
    struct sigaction act = { .sa_handler = on_alarm }, before;
    const struct itimerval often = { { 0, 70000 }, { 0, 70000 } }, never = { 0 };
    int listener = fill_backlog(waiting, &n);
    uint64_t start_ns = clock_mono_ns();
    sigaction(SIGALRM, &act, &before);
    setitimer(ITIMER_REAL, &often, NULL);
    assert_refused(SOCK, -ETIMEDOUT, "is the recorder stopped?");
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &before, NULL);
    assert_true(clock_mono_ns() - start_ns >= UINT64_C(4900000000));
    close_all(waiting, n);
    close(listener);
}

/* -- TCP -- */

static void
check_tcp(const char *text)
{
    struct ipc_address at;
    struct err err = { 0 };
    uint16_t port = 0, other;
    char c = 0;
    assert_int_equal(ipc_address_parse(&at, text, NULL), 0);
    int listener = ipc_listen_tcp(&at, &port, &err);
    if (listener < 0)
        fail_msg("%s", err.text);
    assert_flags(listener, false);
    assert_int_equal(ipc_accept(listener), -EAGAIN);
    assert_int_not_equal(port, 0);
    at.port = port;
    assert_int_equal(ipc_listen_tcp(&at, &other, &err), -EADDRINUSE);
    int client = connect_to(&at), host = ipc_accept(listener);
    assert_true(host >= 0); /* loopback: the handshake is done */
    assert_flags(client, true);
    assert_flags(host, false);
    assert_int_equal(send(host, "x", 1, 0), 1);
    assert_int_equal(recv(client, &c, 1, 0), 1);
    assert_int_equal(c, 'x');
    close(listener);
    assert_int_equal(ipc_connect(&at, &err), ERR_MISSING);
    assert_non_null(strstr(err.text, "nobody listens at 'tcp:"));
    close(client);
    close(host);
}

static void
tcp_is_for_loopback(void **state)
{
    (void)state;
    struct ipc_address anywhere = { .is_tcp = true, .host = "0.0.0.0" };
    uint16_t port;
    check_tcp("tcp:127.0.0.1:0");
    check_tcp("tcp:localhost:0");
    assert_int_equal(ipc_listen_tcp(&anywhere, &port, NULL), ERR_USAGE);
    assert_int_equal(ipc_connect(&anywhere, NULL), ERR_USAGE);
}

static void
tcp_is_for_loopback_of_ipv6(void **state)
{
    (void)state;
    struct ipc_address at = { .is_tcp = true, .host = "::1" };
    uint16_t port;
    int fd = ipc_listen_tcp(&at, &port, NULL);
    if (fd == -EADDRNOTAVAIL || fd == -EAFNOSUPPORT) {
        print_message("# SKIP: no IPv6 here\n");
        return;
    }
    close(fd);
    check_tcp("tcp:[::1]:0");
}

int
main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], WAIT_WORD))
        return be_an_orphan();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_paths_or_loopback),
        cmocka_unit_test(other_addresses_are_refused_with_the_reason),
        KIT_IN_DIR(a_path_of_107_bytes_is_the_longest),
        KIT_IN_DIR(a_socket_is_private_whatever_the_umask),
        KIT_IN_DIR(both_ends_talk_and_are_not_inherited),
        KIT_IN_DIR(what_is_at_the_path_is_left_alone),
        KIT_IN_DIR(only_a_socket_itself_is_connected_to),
        KIT_IN_DIR(a_socket_of_another_user_is_refused),
        KIT_IN_DIR(a_socket_where_another_user_listens_is_refused),
        KIT_IN_DIR(a_peer_is_known_by_pid_and_user),
        KIT_IN_DIR(another_user_does_not_reach_a_socket),
        cmocka_unit_test(whom_a_session_has_started_is_inside),
        cmocka_unit_test(who_stands_above_or_beside_is_outside),
        cmocka_unit_test(who_is_gone_is_not_let_in),
        cmocka_unit_test(a_name_with_parentheses_hides_nobody),
        cmocka_unit_test(an_orphan_is_known_by_its_environment),
        cmocka_unit_test(a_large_environment_is_read_to_its_end),
        KIT_IN_DIR(connecting_waits_for_room),
        KIT_IN_DIR(nobody_waits_for_room_for_ever),
        cmocka_unit_test(tcp_is_for_loopback),
        cmocka_unit_test(tcp_is_for_loopback_of_ipv6),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
