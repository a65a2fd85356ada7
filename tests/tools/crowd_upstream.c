/* SPDX-License-Identifier: MIT */
/*
 * crowd_upstream.c -- a model's API for a crowd: crowd_upstream SEED EVENTS SPOKEN TURNS.
 *
 * Prints its port, serves until its standard input ends, and then says what was wrong
 * with the requests that it got: nothing, or lines. Each piece of a reply is sent by
 * itself, one of each stream after the other.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/queue.h"
#include "tools/crowd_http.h"
#include "tools/crowd_script.h"

enum { READ = 64 << 10, EVENTS = 256, ROOM = 6 << 10 };

struct peer {
    struct peer *next, *before;
    int fd;
    struct crowd_http http;
    struct buf asked; /* the request's body */
    struct queue in, out;
    struct crowd_reply reply;
    bool is_replying, is_over;
    uint32_t events; /* of epoll */
};

struct upstream {
    struct crowd crowd;
    int door, poll;
    struct peer *peers;
    uint64_t wrong;
};

_Noreturn static void
die(const char *what)
{
    fprintf(stderr, "crowd_upstream: %s: %s\n", what, strerror(errno));
    exit(2);
}

static void
watch(struct upstream *u, struct peer *p, uint32_t events)
{
    struct epoll_event e = { .events = events, .data.ptr = p };
    if (p->events == events)
        return;
    p->events = events;
    if (epoll_ctl(u->poll, EPOLL_CTL_MOD, p->fd, &e) < 0)
        die("epoll_ctl");
}

static void
drop(struct upstream *u, struct peer *p, bool by_reset)
{
    static const struct linger at_once = { .l_onoff = 1 };
    if (by_reset)
        (void)setsockopt(p->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    close(p->fd);
    if (p->before)
        p->before->next = p->next;
    else
        u->peers = p->next;
    if (p->next)
        p->next->before = p->before;
    crowd_http_release(&p->http);
    if (p->is_replying)
        crowd_reply_release(&p->reply);
    buf_release(&p->asked);
    queue_release(&p->in);
    queue_release(&p->out);
    free(p);
}

/* -- the request -- */

static void
check(struct upstream *u, const struct crowd_call *call, const struct peer *p)
{
    AUTO(buf) want = { 0 };
    crowd_ask(&u->crowd, call, &want);
    if (want.n == p->asked.n && !memcmp(want.p, p->asked.p, want.n))
        return;
    u->wrong++;
    printf("%u.%u.%u.%u: a request of %zu bytes, not the %zu that were sent\n",
           call->stream, call->talk, call->turn, call->attempt, p->asked.n, want.n);
}

static void
put_head(struct upstream *u, struct peer *p)
{
    const struct crowd_plan *plan = &p->reply.plan;
    AUTO(buf) head = { 0 };
    bool is_json = plan->way == CROWD_PLAIN || plan->way == CROWD_REFUSED;
    buf_printf(&head, "HTTP/1.1 %u Scripted\r\ncontent-type: %s\r\n", plan->status,
               is_json ? "application/json" : "text/event-stream");
    if (plan->is_packed)
        buf_puts(&head, "content-encoding: gzip\r\n");
    if (plan->has_length) {
        struct crowd_reply all;
        struct view piece;
        uint64_t size = 0;
        crowd_reply_init(&all, &u->crowd, &p->reply.call);
        while (crowd_reply_next(&all, &piece))
            size += piece.n;
        crowd_reply_release(&all);
        buf_printf(&head, "content-length: %llu\r\n\r\n", (unsigned long long)size);
    } else {
        buf_puts(&head, "transfer-encoding: chunked\r\n\r\n");
    }
    queue_put(&p->out, (struct view){ head.p, head.n });
}

static const uint8_t nothing[] = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";

static void
answer(struct upstream *u, struct peer *p)
{
    struct crowd_call call;
    const char *name = crowd_http_header(&p->http, "x-crowd");
    if (!name || !crowd_named(name, &call)) {
        queue_put(&p->out, (struct view){ nothing, sizeof(nothing) - 1 });
        buf_clear(&p->asked);
        crowd_http_clear(&p->http);
        return;
    }
    check(u, &call, p);
    if (crowd_reply_init(&p->reply, &u->crowd, &call) < 0)
        die("a reply");
    p->is_replying = true;
    if (p->reply.count)
        put_head(u, p);
}

/* As far as the next request. */
static void
take(struct upstream *u, struct peer *p)
{
    struct view rest = queue_view(&p->in), body;
    size_t all = rest.n;
    int r;
    while ((r = crowd_http_next(&p->http, &rest, &body)) > 0)
        buf_append(&p->asked, body.p, body.n);
    queue_drop(&p->in, all - rest.n);
    if (r < 0) {
        u->wrong++;
        printf("a request that is none\n");
        p->is_over = true;
    } else if (p->http.part == CROWD_END) {
        answer(u, p);
    }
}

/* False: it is gone. */
static bool
hear(struct upstream *u, struct peer *p)
{
    static uint8_t bytes[READ];
    ssize_t n = recv(p->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (n <= 0)
        return false;
    queue_put(&p->in, (struct view){ bytes, (size_t)n });
    if (!p->is_replying)
        take(u, p);
    return true;
}

/* -- the reply -- */

static void
put_piece(struct peer *p, struct view piece)
{
    char size[24];
    if (p->reply.plan.has_length) {
        queue_put(&p->out, piece);
        return;
    }
    int n = snprintf(size, sizeof(size), "%zx\r\n", piece.n);
    queue_put(&p->out, (struct view){ (const uint8_t *)size, (size_t)n });
    queue_put(&p->out, piece);
    queue_put(&p->out, (struct view){ (const uint8_t *)"\r\n", 2 });
}

static void
end_reply(struct upstream *u, struct peer *p)
{
    static const char last[] = "0\r\n\r\n";
    bool is_dropped = p->reply.plan.way == CROWD_DROPPED;
    if (!is_dropped && !p->reply.plan.has_length)
        queue_put(&p->out, (struct view){ (const uint8_t *)last, sizeof(last) - 1 });
    crowd_reply_release(&p->reply);
    p->is_replying = false;
    p->is_over |= is_dropped;
    buf_clear(&p->asked);
    crowd_http_clear(&p->http);
    if (!is_dropped && queue_size(&p->in))
        take(u, p);
}

/* The next piece, by itself. False: it is gone. */
static bool
speak(struct upstream *u, struct peer *p)
{
    struct view piece;
    if (!queue_size(&p->out) && p->is_replying) {
        if (crowd_reply_next(&p->reply, &piece))
            put_piece(p, piece);
        else
            end_reply(u, p);
    }
    struct view v = queue_view(&p->out);
    ssize_t n = v.n ? send(p->fd, v.p, v.n, MSG_DONTWAIT | MSG_NOSIGNAL) : 0;
    if (n < 0 && errno != EAGAIN && errno != EINTR)
        return false;
    queue_drop(&p->out, n < 0 ? 0 : (size_t)n);
    queue_compact(&p->out);
    return true;
}

static bool
serve(struct upstream *u, struct peer *p, uint32_t events)
{
    bool is_there = !(events & (EPOLLIN | EPOLLHUP | EPOLLERR)) || hear(u, p);
    if (is_there && (p->is_replying || queue_size(&p->out)))
        is_there = speak(u, p);
    bool has_more = p->is_replying || queue_size(&p->out);
    if (is_there && (has_more || !p->is_over)) {
        watch(u, p, has_more ? EPOLLIN | EPOLLOUT : EPOLLIN);
        return true;
    }
    return false;
}

/* -- who comes -- */

static void
welcome(struct upstream *u)
{
    static const int one = 1, room = ROOM;
    int fd = accept4(u->door, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0)
        return;
    struct peer *p = calloc(1, sizeof(*p));
    if (!p)
        die("accept");
    *p = (struct peer){ .fd = fd, .events = EPOLLIN };
    p->asked.ceiling = SIZE_MAX;
    p->next = u->peers;
    if (p->next)
        p->next->before = p;
    u->peers = p;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    if (fd % 2) /* little lies between, and it comes in small pieces */
        (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
    struct epoll_event e = { .events = EPOLLIN, .data.ptr = p };
    if (epoll_ctl(u->poll, EPOLL_CTL_ADD, fd, &e) < 0)
        die("epoll_ctl");
}

static void
open_door(struct upstream *u)
{
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t n = sizeof(at);
    u->door = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (u->door < 0 || bind(u->door, (struct sockaddr *)&at, n) < 0 ||
        listen(u->door, 1024) < 0 || getsockname(u->door, (struct sockaddr *)&at, &n) < 0)
        die("listen");
    printf("%u\n", ntohs(at.sin_port));
    fflush(stdout);
}

int
main(int argc, char **argv)
{
    struct upstream u = { 0 };
    struct epoll_event events[EVENTS];
    bool is_over = false;
    if (argc != 5)
        return 2;
    crowd_init(&u.crowd, argv + 1);
    signal(SIGPIPE, SIG_IGN);
    u.poll = epoll_create1(EPOLL_CLOEXEC);
    open_door(&u);
    struct epoll_event door = { .events = EPOLLIN, .data.ptr = &u.door };
    struct epoll_event end = { .events = EPOLLIN, .data.ptr = NULL };
    if (epoll_ctl(u.poll, EPOLL_CTL_ADD, u.door, &door) < 0 ||
        epoll_ctl(u.poll, EPOLL_CTL_ADD, STDIN_FILENO, &end) < 0)
        die("epoll_ctl");
    while (!is_over) {
        int n = epoll_wait(u.poll, events, EVENTS, -1);
        for (int i = 0; i < n; i++) {
            struct peer *p = events[i].data.ptr;
            if (!p)
                is_over = true;
            else if (events[i].data.ptr == &u.door)
                welcome(&u);
            else if (!serve(&u, p, events[i].events))
                drop(&u, p, p->is_over && p->reply.plan.is_reset);
        }
    }
    while (u.peers)
        drop(&u, u.peers, false);
    return u.wrong != 0;
}
