/* SPDX-License-Identifier: MIT */
/*
 * crowd_clients.c -- a crowd of agents at a proxy, each with a connection of its own:
 * crowd_clients SEED EVENTS SPOKEN TURNS PORT PATH STREAMS CALLS PID.
 *
 * Each asks until CALLS of its calls have been answered whole, and holds every byte
 * against what the script says. Prints a line a call:
 *
 *     call STREAM TALK TURN ATTEMPT WAY STATUS BYTES PIECES
 *
 * STATUS is 0 if no head came; BYTES of the body have come, and so PIECES of the script
 * whole. A hundred times, as the calls go, and once more at the end:
 *
 *     rss CALLS KILOBYTES DESCRIPTORS
 *
 * of the process PID. What is wrong is a line `wrong …`, and the exit status is 1.
 */
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tools/crowd_http.h"
#include "tools/crowd_script.h"

enum {
    READ = 64 << 10,
    SIP = 3000, /* what a slow one reads at a time */
    SIP_MS = 4,
    EVENTS = 256,
    ROOM = 8 << 10,
    SAMPLES = 100,
    EARLY = 4000, /* bytes of a request that an early abort sends */
};

struct client {
    struct crowd_call call;
    uint32_t whole; /* calls that were */
    int fd;         /* -1: none */
    struct buf request;
    size_t sent;
    struct crowd_http http;
    struct crowd_reply want;
    struct view piece; /* what is left of the script's */
    uint64_t bytes, pieces;
    uint64_t due_ms; /* 0: it reads when there is something */
    uint32_t events;
    bool is_over;  /* its body, or the connection */
    bool has_none; /* the script has no more */
    bool is_done;
};

struct clients {
    struct crowd crowd;
    struct sockaddr_in at;
    const char *path;
    uint32_t streams, calls;
    int poll;
    int pid;
    struct client *all;
    uint32_t left;    /* streams that are not done */
    uint32_t pausing; /* … that wait */
    uint64_t ended, wanted, wrong;
};

_Noreturn static void
die(const char *what)
{
    fprintf(stderr, "crowd_clients: %s: %s\n", what, strerror(errno));
    exit(2);
}

static uint64_t
now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void
say_wrong(struct clients *all, const struct client *c, const char *what)
{
    all->wrong++;
    printf("wrong %u.%u.%u.%u: %s, behind %llu bytes\n", c->call.stream, c->call.talk,
           c->call.turn, c->call.attempt, what, (unsigned long long)c->bytes);
}

/* -- the proxy's memory -- */

static unsigned
count_files(int pid)
{
    char path[64];
    unsigned n = 0;
    snprintf(path, sizeof(path), "/proc/%d/fd", pid);
    DIR *dir = opendir(path);
    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n > 2 ? n - 2 : 0;
}

static void
sample(const struct clients *all)
{
    char path[64], line[256];
    long kb = 0;
    snprintf(path, sizeof(path), "/proc/%d/status", all->pid);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof(line), file))
        if (!strncmp(line, "VmRSS:", 6))
            kb = strtol(line + 6, NULL, 10);
    if (file)
        fclose(file);
    printf("rss %llu %ld %u\n", (unsigned long long)all->ended, kb,
           count_files(all->pid));
}

/* -- a connection -- */

static void
watch(struct clients *all, struct client *c, uint32_t events)
{
    struct epoll_event e = { .events = events, .data.ptr = c };
    int what = c->events == UINT32_MAX ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    if (c->events != events && epoll_ctl(all->poll, what, c->fd, &e) < 0)
        die("epoll_ctl");
    c->events = events;
}

static void
hang_up(struct client *c, bool by_reset)
{
    static const struct linger at_once = { .l_onoff = 1 };
    if (c->fd < 0)
        return;
    if (by_reset)
        (void)setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    close(c->fd);
    c->fd = -1;
}

static void
join(struct clients *all, struct client *c)
{
    static const int one = 1, room = ROOM;
    if (c->fd >= 0)
        return;
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->fd < 0)
        die("socket");
    if (c->want.plan.is_slow)
        (void)setsockopt(c->fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
    (void)setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    if (connect(c->fd, (const struct sockaddr *)&all->at, sizeof(all->at)) < 0)
        die("connect");
    c->events = UINT32_MAX;
}

/* -- the request -- */

static void
put_body(struct buf *out, const struct buf *body, bool in_chunks)
{
    if (!in_chunks) {
        buf_append(out, body->p, body->n);
        return;
    }
    for (size_t at = 0, n; at < body->n; at += n) {
        n = body->n - at < 5000 ? body->n - at : 5000;
        buf_printf(out, "%zx\r\n", n);
        buf_append(out, body->p + at, n);
        buf_puts(out, "\r\n");
    }
    buf_puts(out, "0\r\n\r\n");
}

static void
begin(struct clients *all, struct client *c)
{
    AUTO(buf) body = { .ceiling = SIZE_MAX };
    if (crowd_reply_init(&c->want, &all->crowd, &c->call) < 0)
        die("a reply");
    const struct crowd_plan *plan = &c->want.plan;
    join(all, c);
    crowd_ask(&all->crowd, &c->call, &body);
    buf_clear(&c->request);
    buf_printf(&c->request,
               "POST %s/v1/messages HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nX-Crowd: ",
               all->path, ntohs(all->at.sin_port));
    crowd_name(&c->call, &c->request);
    buf_puts(&c->request, "\r\nAuthorization: Bearer planted-credential-");
    crowd_name(&c->call, &c->request);
    if (plan->closes)
        buf_puts(&c->request, "\r\nConnection: close");
    if (plan->is_sent_in_chunks)
        buf_puts(&c->request, "\r\nTransfer-Encoding: chunked\r\n\r\n");
    else
        buf_printf(&c->request, "\r\nContent-Length: %zu\r\n\r\n", body.n);
    put_body(&c->request, &body, plan->is_sent_in_chunks);
    if (plan->way == CROWD_ABORTED && plan->is_early && c->request.n > EARLY)
        c->request.n = EARLY;
    c->sent = 0;
    c->bytes = c->pieces = 0;
    c->due_ms = 0;
    c->is_over = c->has_none = false;
    c->piece = (struct view){ 0 };
    crowd_http_clear(&c->http);
    watch(all, c, EPOLLIN | EPOLLOUT);
}

/* -- the reply -- */

static bool
next_piece(struct client *c)
{
    while (!c->piece.n && !c->has_none)
        c->has_none = !crowd_reply_next(&c->want, &c->piece);
    return c->piece.n;
}

static void
compare(struct clients *all, struct client *c, struct view body)
{
    while (body.n) {
        if (!next_piece(c)) {
            say_wrong(all, c, "more than was sent");
            c->is_over = true;
            return;
        }
        size_t n = body.n < c->piece.n ? body.n : c->piece.n;
        if (memcmp(body.p, c->piece.p, n) != 0) {
            say_wrong(all, c, "other bytes than were sent");
            c->is_over = true;
            return;
        }
        body = (struct view){ body.p + n, body.n - n };
        c->piece = (struct view){ c->piece.p + n, c->piece.n - n };
        c->bytes += n;
        c->pieces += !c->piece.n;
    }
}

static unsigned
status_of(struct client *c)
{
    return c->http.part == CROWD_HEAD
               ? 0
               : (unsigned)strtoul(buf_str(&c->http.head) + 9, NULL, 10);
}

static bool
is_our_error(struct client *c)
{
    return status_of(c) == 502; /* the upstream never says that */
}

static void
take(struct clients *all, struct client *c, struct view bytes)
{
    struct view body;
    int r;
    while ((r = crowd_http_next(&c->http, &bytes, &body)) > 0)
        if (!is_our_error(c))
            compare(all, c, body);
    if (r < 0)
        say_wrong(all, c, "no proper chunks");
    if (bytes.n)
        say_wrong(all, c, "something behind the reply");
    c->is_over |= r < 0 || c->http.part == CROWD_END;
}

/* Was it as the script says? */
static void
judge(struct clients *all, struct client *c)
{
    const struct crowd_plan *p = &c->want.plan;
    bool is_whole = c->http.part == CROWD_END, has_all = !next_piece(c);
    unsigned status = status_of(c);
    switch (p->way) {
    case CROWD_STREAM:
    case CROWD_PLAIN:
    case CROWD_REFUSED:
    case CROWD_ERROR:
        if (!is_whole || !has_all || status != p->status)
            say_wrong(all, c, "not all that was sent");
        break;
    case CROWD_DROPPED:
        if (is_whole && status != 502)
            say_wrong(all, c, "an end that nobody sent");
        if (!p->is_reset && !has_all)
            say_wrong(all, c, "not all that was sent before it broke off");
        break;
    case CROWD_ABORTED:
        break;
    }
}

static void
ended(struct clients *all, struct client *c)
{
    const struct crowd_plan *p = &c->want.plan;
    bool is_whole = c->http.part == CROWD_END;
    judge(all, c);
    printf("call %u %u %u %u %u %u %llu %llu\n", c->call.stream, c->call.talk,
           c->call.turn, c->call.attempt, (unsigned)p->way, status_of(c),
           (unsigned long long)c->bytes, (unsigned long long)c->pieces);
    if (!is_whole || p->closes || is_our_error(c))
        hang_up(c, p->way == CROWD_ABORTED && p->is_reset);
    bool is_answered = p->way == CROWD_STREAM || p->way == CROWD_PLAIN;
    crowd_reply_release(&c->want);
    all->ended++;
    if (all->ended % (all->wanted / SAMPLES + 1) == 0)
        sample(all);
    c->call.attempt = is_answered ? 0 : c->call.attempt + 1;
    c->call.turn += is_answered;
    c->whole += is_answered;
    if (c->call.turn == crowd_turns(&all->crowd, c->call.stream, c->call.talk))
        c->call = (struct crowd_call){ c->call.stream, c->call.talk + 1, 0, 0 };
    c->is_done = c->whole == all->calls;
    if (c->is_done) {
        hang_up(c, false);
        all->left--;
    } else {
        begin(all, c);
    }
}

/* -- its turn -- */

static void
send_more(struct clients *all, struct client *c)
{
    ssize_t n = send(c->fd, c->request.p + c->sent, c->request.n - c->sent,
                     MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN && errno != EINTR) {
        c->sent = c->request.n; /* reading finds out */
        n = 0;
    }
    c->sent += n < 0 ? 0 : (size_t)n;
    if (c->sent == c->request.n)
        watch(all, c, EPOLLIN);
}

static void
hear(struct clients *all, struct client *c)
{
    static uint8_t bytes[READ];
    size_t most = c->want.plan.is_slow ? SIP : sizeof(bytes);
    ssize_t n = recv(c->fd, bytes, most, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        c->is_over = true;
        hang_up(c, false);
        return;
    }
    take(all, c, (struct view){ bytes, (size_t)n });
    if (!c->want.plan.is_slow || c->is_over)
        return;
    c->due_ms = now_ms() + SIP_MS;
    all->pausing++;
    watch(all, c, 0);
}

static bool
goes_away(const struct client *c)
{
    const struct crowd_plan *p = &c->want.plan;
    if (p->way != CROWD_ABORTED || c->sent < c->request.n)
        return false;
    return p->is_early || (c->http.part != CROWD_HEAD && c->pieces >= p->stop);
}

static void
serve(struct clients *all, struct client *c, uint32_t events)
{
    if (c->is_done || c->due_ms)
        return;
    if (events & EPOLLOUT)
        send_more(all, c);
    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
        hear(all, c);
    if (!c->is_over && goes_away(c)) {
        if (c->due_ms)
            all->pausing--;
        ended(all, c);
    } else if (c->is_over) {
        ended(all, c);
    }
}

static void
wake(struct clients *all)
{
    uint64_t now = all->pausing ? now_ms() : 0;
    for (uint32_t i = 0; i < all->streams && all->pausing; i++) {
        struct client *c = &all->all[i];
        if (!c->due_ms || c->due_ms > now)
            continue;
        c->due_ms = 0;
        all->pausing--;
        watch(all, c, EPOLLIN);
    }
}

int
main(int argc, char **argv)
{
    struct clients all = { 0 };
    struct epoll_event events[EVENTS];
    if (argc != 10)
        return 2;
    crowd_init(&all.crowd, argv + 1);
    all.at = (struct sockaddr_in){ .sin_family = AF_INET,
                                   .sin_port = htons(
                                       (uint16_t)strtoul(argv[5], NULL, 10)),
                                   .sin_addr = { htonl(INADDR_LOOPBACK) } };
    all.path = argv[6];
    all.streams = all.left = (uint32_t)strtoul(argv[7], NULL, 10);
    all.calls = (uint32_t)strtoul(argv[8], NULL, 10);
    all.pid = (int)strtol(argv[9], NULL, 10);
    all.wanted = (uint64_t)all.streams * all.calls;
    signal(SIGPIPE, SIG_IGN);
    all.poll = epoll_create1(EPOLL_CLOEXEC);
    all.all = calloc(all.streams, sizeof(*all.all));
    if (!all.all || all.poll < 0)
        die("the crowd");
    sample(&all);
    for (uint32_t i = 0; i < all.streams; i++) {
        struct client *c = &all.all[i];
        c->call.stream = i;
        c->fd = -1;
        c->request.ceiling = SIZE_MAX;
        begin(&all, c);
    }
    while (all.left) {
        int n = epoll_wait(all.poll, events, EVENTS, all.pausing ? 1 : -1);
        for (int i = 0; i < n; i++)
            serve(&all, events[i].data.ptr, events[i].events);
        wake(&all);
    }
    sample(&all);
    for (uint32_t i = 0; i < all.streams; i++) {
        buf_release(&all.all[i].request);
        crowd_http_release(&all.all[i].http);
    }
    free(all.all);
    return all.wrong != 0;
}
