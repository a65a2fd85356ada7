/* SPDX-License-Identifier: MIT */
#include "ipc/socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/num.h"

enum { BACKLOG = 128, TCP_TEXT_MAX = IPC_HOST_MAX + 16 };

#define CONNECT_NS   5000000000ULL
#define LOOPBACK_NET 127

_Static_assert(IPC_PATH_MAX + 1 == sizeof(((struct sockaddr_un *)NULL)->sun_path),
               "a path and its NUL fill sun_path");

/* -- addresses -- */

struct end {
    union {
        struct sockaddr any;
        struct sockaddr_un path;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } u;
    socklen_t n;
};

static bool
is_path(const char *path)
{
    size_t n = strlen(path);
    return n && n <= IPC_PATH_MAX;
}

/* An empty path would be a name of the kernel's choice, open to all. */
static int
end_of_path(struct end *ret, const char *path, struct err *err)
{
    if (!is_path(path))
        return err_set(err, -ENAMETOOLONG,
                       "no socket can have the path '%s': 1 to %d bytes, please", path,
                       IPC_PATH_MAX);
    *ret = (struct end){ .u.path.sun_family = AF_UNIX,
                         .n = (socklen_t)sizeof(struct sockaddr_un) };
    memcpy(ret->u.path.sun_path, path, strlen(path));
    return 0;
}

/* No resolver: what "localhost" is must not depend on a file or a network. -EINVAL for
 * what is no address, -EPERM for one that is not loopback. */
static int
end_of_host(struct end *ret, const char *host, uint16_t port)
{
    struct in_addr v4;
    struct in6_addr v6;
    if (!strcasecmp(host, "localhost"))
        host = "127.0.0.1";
    if (inet_pton(AF_INET, host, &v4) == 1) {
        if (ntohl(v4.s_addr) >> 24 != LOOPBACK_NET)
            return -EPERM;
        *ret = (struct end){
            .u.v4 = { .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = v4 },
            .n = (socklen_t)sizeof(struct sockaddr_in),
        };
        return 0;
    }
    if (inet_pton(AF_INET6, host, &v6) != 1)
        return -EINVAL;
    if (!IN6_IS_ADDR_LOOPBACK(&v6))
        return -EPERM;
    *ret = (struct end){
        .u.v6 = { .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = v6 },
        .n = (socklen_t)sizeof(struct sockaddr_in6),
    };
    return 0;
}

static int
end_of(struct end *ret, const struct ipc_address *at, struct err *err)
{
    if (!at->is_tcp)
        return end_of_path(ret, at->path, err);
    if (end_of_host(ret, at->host, at->port))
        return err_set(err, ERR_USAGE, "'%s' is not this machine's loopback", at->host);
    return 0;
}

static void
write_tcp(char ret[TCP_TEXT_MAX], const struct ipc_address *at)
{
    bool is_v6 = strchr(at->host, ':');
    snprintf(ret, TCP_TEXT_MAX, "tcp:%s%s%s:%u", is_v6 ? "[" : "", at->host,
             is_v6 ? "]" : "", at->port);
}

/* HOST:PORT into its parts; only an IPv6 address stands in brackets, and always. */
static int
split_host(const char *text, struct ipc_address *at)
{
    const char *colon = strrchr(text, ':');
    uint64_t port;
    if (!colon ||
        num_parse((struct view){ (const uint8_t *)colon + 1, strlen(colon + 1) },
                  UINT16_MAX, &port))
        return -EINVAL;
    size_t n = (size_t)(colon - text);
    bool is_bracketed = n >= 2 && text[0] == '[' && text[n - 1] == ']';
    if (is_bracketed) {
        text++;
        n -= 2;
    }
    if (!n || n >= sizeof(at->host) || is_bracketed != !!memchr(text, ':', n))
        return -EINVAL;
    memcpy(at->host, text, n);
    at->port = (uint16_t)port;
    return 0;
}

int
ipc_address_parse(struct ipc_address *ret, const char *text, struct err *err)
{
    static const char tcp[] = "tcp:";
    struct ipc_address at = { 0 };
    struct end end = { 0 };
    if (strncmp(text, tcp, strlen(tcp)) != 0) {
        if (!is_path(text))
            return err_set(err, ERR_USAGE,
                           "'%s' is no socket's address: a path of 1 to %d bytes, or "
                           "tcp:HOST:PORT",
                           text, IPC_PATH_MAX);
        *ret = (struct ipc_address){ .path = text };
        return 0;
    }
    at.is_tcp = true;
    int r = split_host(text + strlen(tcp), &at);
    if (!r)
        r = end_of_host(&end, at.host, at.port);
    if (r == -EPERM)
        return err_set(err, ERR_USAGE,
                       "'%s' is not this machine's loopback: 127.0.0.1, [::1] and "
                       "localhost are",
                       at.host);
    if (r)
        return err_set(err, ERR_USAGE,
                       "'%s' is no address: tcp:HOST:PORT, as tcp:127.0.0.1:0 or "
                       "tcp:[::1]:7000",
                       text);
    *ret = at;
    return 0;
}

/* -- listening -- */

/* Linux gives the new socket the mode of the descriptor less the umask, so that it is
 * never open to others, not even for a moment; what the umask took comes back after. */
static int
bind_private(int fd, const struct end *end, struct err *err)
{
    const char *path = end->u.path.sun_path;
    if (fchmod(fd, 0600))
        return err_sys(err, "cannot make the socket '%s' private", path);
    if (bind(fd, &end->u.any, end->n)) {
        if (errno == EADDRINUSE)
            return err_set(err, -EEXIST, "'%s' is there already", path);
        return err_sys(err, "cannot make the socket '%s'", path);
    }
    if (chmod(path, 0600) || listen(fd, BACKLOG)) {
        int r = err_sys(err, "cannot listen at '%s'", path);
        unlink(path);
        return r;
    }
    return 0;
}

static int
new_socket(int family, int flags, struct err *err)
{
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
    return fd < 0 ? err_sys(err, "cannot make a socket") : fd;
}

int
ipc_listen(const char *path, struct err *err)
{
    struct end end = { 0 };
    int r = end_of_path(&end, path, err);
    if (r)
        return r;
    int fd = new_socket(AF_UNIX, SOCK_NONBLOCK, err);
    if (fd < 0)
        return fd;
    r = bind_private(fd, &end, err);
    if (r) {
        close(fd);
        return r;
    }
    return fd;
}

static int
port_of(int fd, uint16_t *ret)
{
    struct end end = { .n = (socklen_t)sizeof(end.u) };
    if (getsockname(fd, &end.u.any, &end.n))
        return -errno;
    *ret = ntohs(end.u.any.sa_family == AF_INET6 ? end.u.v6.sin6_port
                                                 : end.u.v4.sin_port);
    return 0;
}

int
ipc_listen_tcp(const struct ipc_address *at, uint16_t *ret_port, struct err *err)
{
    struct end end = { 0 };
    int r = end_of(&end, at, err), on = 1;
    if (r)
        return r;
    int fd = new_socket(end.u.any.sa_family, SOCK_NONBLOCK, err);
    if (fd < 0)
        return fd;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
        bind(fd, &end.u.any, end.n) || listen(fd, BACKLOG) || port_of(fd, ret_port)) {
        int code = -errno;
        char where[TCP_TEXT_MAX];
        write_tcp(where, at);
        r = err_code(err, code, "cannot listen at '%s'", where);
        close(fd);
        return r;
    }
    return fd;
}

/* Small frames go at once; no matter where it is not TCP. */
static void
set_prompt(int fd)
{
    int on = 1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

int
ipc_accept(int listen_fd)
{
    int fd;
    do
        fd = accept4(listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    while (fd < 0 && (errno == EINTR || errno == ECONNABORTED));
    if (fd < 0)
        return errno == EWOULDBLOCK ? -EAGAIN : -errno;
    set_prompt(fd);
    return fd;
}

bool
ipc_is_out_of_room(int code)
{
    return code == -EMFILE || code == -ENFILE || code == -ENOMEM || code == -ENOBUFS;
}

/* -- connecting -- */

static int
nobody_listens(const char *where, struct err *err)
{
    return err_set(err, ERR_MISSING, "nobody listens at '%s': the session has ended?",
                   where);
}

static int
check_path(const char *path, struct err *err)
{
    struct stat st;
    if (lstat(path, &st))
        return errno == ENOENT ? nobody_listens(path, err)
                               : err_sys(err, "cannot reach '%s'", path);
    if (!S_ISSOCK(st.st_mode))
        return err_set(err, -EPERM, "'%s' is %s: give the socket itself", path,
                       S_ISLNK(st.st_mode) ? "a link" : "no socket");
    if (st.st_uid != geteuid())
        return err_set(err, -EPERM,
                       "'%s' belongs to another user (uid %lu): ask as that user", path,
                       (unsigned long)st.st_uid);
    return 0;
}

static int
check_listener(int fd, const char *path, struct err *err)
{
    struct ipc_peer peer;
    int r = ipc_peer(fd, &peer);
    if (r)
        return err_code(err, r, "cannot tell who listens at '%s'", path);
    if (peer.uid != geteuid())
        return err_set(err, -EPERM,
                       "another user (uid %lu) listens at '%s': it is not to be trusted",
                       (unsigned long)peer.uid, path);
    return 0;
}

static int
set_send_timeout(int fd, uint64_t ns)
{
    struct timeval tv = { .tv_sec = (time_t)(ns / 1000000000),
                          .tv_usec = (suseconds_t)(ns % 1000000000 / 1000) };
    return setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv)) ? -errno : 0;
}

/* Blocks at most CONNECT_NS: -ETIMEDOUT. A non-blocking connect() and poll() would not
 * do: they cannot wait for room in a Unix socket's backlog. */
static int
connect_in_time(int fd, const struct end *end)
{
    uint64_t until_ns = clock_mono_ns() + CONNECT_NS;
    for (;;) {
        uint64_t now_ns = clock_mono_ns();
        /* 0 would be for ever, and so would be less than a microsecond */
        if (now_ns + 1000 > until_ns)
            return -ETIMEDOUT;
        int r = set_send_timeout(fd, until_ns - now_ns);
        if (r)
            return r;
        if (!connect(fd, &end->u.any, end->n) || errno == EISCONN)
            return set_send_timeout(fd, 0);
        if (errno == EAGAIN || errno == EINPROGRESS)
            return -ETIMEDOUT;
        if (errno != EINTR && errno != EALREADY)
            return -errno;
    }
}

static int
connect_checked(int fd, const struct ipc_address *at, const struct end *end,
                struct err *err)
{
    char tcp[TCP_TEXT_MAX];
    const char *where = at->is_tcp ? tcp : at->path;
    if (at->is_tcp)
        write_tcp(tcp, at);
    int r = connect_in_time(fd, end);
    if (r == -ECONNREFUSED || r == -ENOENT)
        return nobody_listens(where, err);
    if (r == -ETIMEDOUT)
        return err_set(err, r, "no answer at '%s' in 5 s: is the recorder stopped?",
                       where);
    if (r)
        return err_code(err, r, "cannot connect to '%s'", where);
    set_prompt(fd);
    return at->is_tcp ? 0 : check_listener(fd, where, err);
}

int
ipc_connect(const struct ipc_address *at, struct err *err)
{
    struct end end = { 0 };
    int r = end_of(&end, at, err);
    if (!r && !at->is_tcp)
        r = check_path(at->path, err);
    if (r)
        return r;
    int fd = new_socket(end.u.any.sa_family, 0, err);
    if (fd < 0)
        return fd;
    r = connect_checked(fd, at, &end, err);
    if (r) {
        close(fd);
        return r;
    }
    return fd;
}
