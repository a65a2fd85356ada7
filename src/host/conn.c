/* SPDX-License-Identifier: MIT */
#include "host/conn_priv.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

enum {
    LINK_BUFFER = 1 << 20, /* the more is on its way the fewer are the turns */
    OWN_MAX = 64 << 20,    /* a picture, and a little more … */
    OWN_IPC_MAX = 1 << 20, /* … for those who get none */
    READ_SIZE = 64 << 10,
};

static size_t
own_max(enum conn_kind kind)
{
    return kind == CONN_IPC ? OWN_IPC_MAX : OWN_MAX;
}

void
conn_init(struct conn *c, int fd, enum conn_kind kind)
{
    uint64_t now_ns = clock_mono_ns();
    *c = (struct conn){
        .fd = fd, .kind = kind, .heard_ns = now_ns, .own = { .ceiling = own_max(kind) }
    };
    int size = LINK_BUFFER;
    if (kind == CONN_LINK)
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
}

void
conn_close(struct conn *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    ipc_inbox_release(&c->in);
    buf_release(&c->own);
}

static struct view
behind(const struct buf *b, size_t at)
{
    return at < b->n ? (struct view){ b->p + at, b->n - at } : (struct view){ 0 };
}

/* -- sending -- */

/* Half a frame, or one that is missing, would be believed. */
static void
give_up(struct conn *c)
{
    c->is_broken = true;
    if (c->fd >= 0)
        shutdown(c->fd, SHUT_RDWR);
}

int
conn_send(struct conn *c, const struct ipc_message *m)
{
    int r = ipc_message_put(&c->own, m, IPC_TO_CLIENT);
    if (r < 0)
        give_up(c);
    return r;
}

int
conn_send_text(struct conn *c, uint8_t selector, const char *text)
{
    return conn_send(
        c, &(struct ipc_message){ .selector = selector,
                                  .bytes = { (const uint8_t *)text, strlen(text) } });
}

static bool
takes_reel(const struct conn *c)
{
    return c->is_subscribed && !c->is_skipping && !c->is_paused && !c->awaits_picture;
}

/* Of the reel's frame that has been begun. */
static struct view
frame_rest(const struct conn *c, const struct reel *reel)
{
    if (c->at == c->frame_at)
        return (struct view){ 0 };
    struct view v = reel_from(reel, c->at);
    v.n = (size_t)(reel_frame_end(reel, c->frame_at) - c->at);
    return v;
}

/* What is to be sent next, and whether it is the reel's. */
static struct view
next_bytes(const struct conn *c, const struct reel *reel, bool *ret_is_reel)
{
    struct view own = behind(&c->own, c->own_at);
    struct view rest = frame_rest(c, reel);
    *ret_is_reel = rest.n || !own.n;
    if (rest.n && (own.n || !takes_reel(c)))
        return rest;
    if (own.n)
        return own;
    return takes_reel(c) ? reel_from(reel, c->at) : (struct view){ 0 };
}

static size_t
send_some(struct conn *c, struct view v)
{
    ssize_t n;
    do
        n = send(c->fd, v.p, v.n, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
        c->is_broken = true;
    if (n <= 0) {
        c->stuck_ns = c->stuck_ns ? c->stuck_ns : clock_mono_ns();
        return 0;
    }
    c->stuck_ns = 0;
    return (size_t)n;
}

static void
advance_own(struct conn *c, size_t n)
{
    c->own_at += n;
    if (c->own_at < c->own.n)
        return;
    if (c->own.n > READ_SIZE)
        buf_release(&c->own); /* a picture: it was the one */
    c->own.ceiling = own_max(c->kind);
    buf_clear(&c->own);
    c->own_at = 0;
}

static void
advance_reel(struct conn *c, const struct reel *reel, size_t n)
{
    c->at += n;
    while (c->frame_at < c->at) {
        uint64_t end = reel_frame_end(reel, c->frame_at);
        if (end > c->at)
            break;
        c->frame_at = end;
    }
}

void
conn_flush(struct conn *c, const struct reel *reel)
{
    while (c->fd >= 0 && !c->is_broken) {
        bool is_reel;
        struct view v = next_bytes(c, reel, &is_reel);
        size_t n = v.n ? send_some(c, v) : 0;
        if (is_reel)
            advance_reel(c, reel, n);
        else
            advance_own(c, n);
        if (!n || n < v.n)
            break;
    }
}

bool
conn_has_own(const struct conn *c)
{
    return !c->is_broken && c->own.n > c->own_at;
}

bool
conn_has_waiting(const struct conn *c, const struct reel *reel)
{
    bool is_reel;
    return !c->is_broken && next_bytes(c, reel, &is_reel).n > 0;
}

size_t
conn_behind(const struct conn *c, const struct reel *reel)
{
    return takes_reel(c) ? (size_t)(reel_end(reel) - c->at) : 0;
}

/* The rest of a frame that has begun goes before its own. */
static void
keep_rest(struct conn *c, const struct reel *reel)
{
    struct view rest = frame_rest(c, reel);
    if (!rest.n)
        return;
    struct buf own = { .ceiling = own_max(c->kind) };
    buf_append(&own, rest.p, rest.n);
    struct view mine = behind(&c->own, c->own_at);
    buf_append(&own, mine.p, mine.n);
    buf_release(&c->own);
    c->own = own;
    c->own_at = 0;
    if (own.failed)
        give_up(c);
}

void
conn_rejoin(struct conn *c, const struct reel *reel)
{
    keep_rest(c, reel);
    c->is_skipping = false;
    c->at = c->frame_at = reel_end(reel);
}

void
conn_skip(struct conn *c, const struct reel *reel)
{
    conn_rejoin(c, reel);
    c->is_skipping = true;
    c->skip_ns = clock_mono_ns();
}

/* -- receiving -- */

int
conn_next(struct conn *c, struct ipc_message *ret)
{
    int r = ipc_inbox_next(&c->in, c->fd, IPC_TO_HOST, ret);
    if (r > 0)
        c->heard_ns = clock_mono_ns();
    return r;
}
