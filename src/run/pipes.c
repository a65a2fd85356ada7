/* SPDX-License-Identifier: MIT */
/*
 * Between the moment when one pipe is known to be readable and the moment when it is read
 * more may have come, to the other one first. So all that is there is counted before any
 * of it is read, and counted again until nothing has come in between; no more than that
 * is read.
 */
#include "run/pipes_priv.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

enum {
    TAKE_MAX = 1 << 20,     /* of each, at once */
    READ_SIZE = 128 << 10,  /* passed on as it was read */
    TOGETHER_MAX = 1 << 18, /* of each, to be sorted by lines */
    LOOKS_MAX = 8,          /* a command that never pauses is not waited for */
    LATE_MS = 20,           /* so long at once: signals and clients wait meanwhile */
    NONE = -1,
};

/* What one call takes. */
struct batch {
    size_t size[2];
    int order[2]; /* as they became readable; NONE */
    uint64_t late_ns;
};

/* -- the pipes -- */

static int
watch(struct run_pipes *p, enum run_stream s, int fd)
{
    struct epoll_event e = { .events = EPOLLIN | EPOLLET, .data.u32 = s };
    int n;
    if (epoll_ctl(p->epoll_fd, EPOLL_CTL_ADD, fd, &e) || ioctl(fd, FIONREAD, &n))
        return -errno;
    p->fd[s] = fd;
    return 0;
}

int
run_pipes_init(struct run_pipes *p, int out_fd, int err_fd, struct err *err)
{
    *p = (struct run_pipes){ .epoll_fd = epoll_create1(EPOLL_CLOEXEC),
                             .fd = { NONE, NONE } };
    int r = p->epoll_fd < 0 ? -errno : watch(p, RUN_OUT, out_fd);
    if (!r)
        r = watch(p, RUN_ERR, err_fd);
    if (!r)
        return 0;
    run_pipes_release(p);
    return err_code(err, r, "cannot wait for what the command prints");
}

void
run_pipes_release(struct run_pipes *p)
{
    if (p->epoll_fd >= 0)
        close(p->epoll_fd);
    buf_release(&p->in[RUN_OUT]);
    buf_release(&p->in[RUN_ERR]);
    *p = (struct run_pipes){ .epoll_fd = -1, .fd = { NONE, NONE } };
}

bool
run_pipes_are_over(const struct run_pipes *p)
{
    return p->fd[RUN_OUT] < 0 && p->fd[RUN_ERR] < 0;
}

static void
end_stream(struct run_pipes *p, enum run_stream s)
{
    if (p->fd[s] >= 0)
        (void)epoll_ctl(p->epoll_fd, EPOLL_CTL_DEL, p->fd[s], NULL);
    p->fd[s] = NONE;
    p->is_hung_up[s] = false;
}

/* -- what is there -- */

static size_t
size_of(int fd)
{
    int n = 0;
    if (fd < 0)
        return 0;
    if (ioctl(fd, FIONREAD, &n))
        return 0;
    return n < 0 ? 0 : n < TAKE_MAX ? (size_t)n : (size_t)TAKE_MAX;
}

static void
put_behind(struct batch *b, enum run_stream s)
{
    if (b->order[0] == (int)s || b->order[1] == (int)s)
        return;
    b->order[b->order[0] == NONE ? 0 : 1] = (int)s;
}

/* How many have told something. */
static int
hear(struct run_pipes *p, struct batch *b)
{
    struct epoll_event e[2];
    int n = epoll_wait(p->epoll_fd, e, 2, 0);
    for (int i = 0; i < n; i++) {
        enum run_stream s = e[i].data.u32 == RUN_ERR ? RUN_ERR : RUN_OUT;
        put_behind(b, s);
        if (e[i].events & (EPOLLHUP | EPOLLERR))
            p->is_hung_up[s] = true;
    }
    return n > 0 ? n : 0;
}

static struct batch
take_stock(struct run_pipes *p)
{
    struct batch b = { .order = { NONE, NONE },
                       .late_ns = clock_mono_ns() + (uint64_t)LATE_MS * 1000000 };
    for (int i = 0; i < LOOKS_MAX; i++) {
        size_t out = b.size[RUN_OUT], err = b.size[RUN_ERR];
        int n = hear(p, &b);
        b.size[RUN_OUT] = size_of(p->fd[RUN_OUT]);
        b.size[RUN_ERR] = size_of(p->fd[RUN_ERR]);
        if (i && !n && out == b.size[RUN_OUT] && err == b.size[RUN_ERR])
            break;
    }
    put_behind(&b, RUN_OUT);
    put_behind(&b, RUN_ERR);
    return b;
}

/* -- reading -- */

/* Into its buffer, behind what is there: a count, 0 when nothing (more) can be read. */
static ssize_t
read_some(struct run_pipes *p, enum run_stream s, size_t n)
{
    struct buf *in = &p->in[s];
    int r = buf_reserve(in, n);
    if (r < 0)
        return r;
    ssize_t got = file_read(p->fd[s], in->p + in->n, n);
    if (got > 0)
        in->n += (size_t)got;
    else if (got == -EAGAIN)
        p->is_hung_up[s] = false; /* somebody has opened it again */
    else
        end_stream(p, s);
    return got > 0 ? got : 0;
}

/* As it comes, however much; what is late stays in the pipe for the next time. */
static int
pass_on(struct run_pipes *p, const struct batch *b, enum run_stream s, run_piece_fn fn,
        void *ctx)
{
    /* With nothing left in it, the end is all there is to be read. */
    size_t n = b->size[s] ? b->size[s] : p->is_hung_up[s] ? 1 : 0;
    while (n && p->fd[s] >= 0) {
        ssize_t got = read_some(p, s, n < READ_SIZE ? n : READ_SIZE);
        if (got <= 0)
            return (int)got;
        int r = fn(ctx, s, (struct view){ p->in[s].p, p->in[s].n });
        buf_clear(&p->in[s]);
        if (r < 0)
            return r;
        n -= (size_t)got < n ? (size_t)got : n;
        if (clock_mono_ns() >= b->late_ns)
            break;
    }
    return 0;
}

static int
read_whole(struct run_pipes *p, enum run_stream s, size_t n)
{
    while (n) {
        ssize_t got = read_some(p, s, n);
        if (got <= 0)
            return (int)got;
        n -= (size_t)got;
    }
    return 0;
}

/* -- both at once -- */

/* The first line of v, which may lack its end, is taken off. */
static struct view
next_line(struct view *v)
{
    const uint8_t *end = v->n ? memchr(v->p, '\n', v->n) : NULL;
    struct view line = { v->p, end ? (size_t)(end - v->p) + 1 : v->n };
    *v = (struct view){ v->p + line.n, v->n - line.n };
    return line;
}

static size_t
count_lines(struct view v)
{
    size_t n = 0;
    for (; v.n; n++)
        next_line(&v);
    return n;
}

/* Each in turn, if that comes out even; else one after the other. */
static int
tell_both(const int order[2], const struct view had[2], run_piece_fn fn, void *ctx)
{
    struct view first = had[order[0]], second = had[order[1]];
    size_t firsts = count_lines(first), seconds = count_lines(second);
    bool is_in_turn = firsts == seconds || firsts == seconds + 1;
    int r = 0;
    while (r >= 0 && (first.n || second.n)) {
        struct view piece = is_in_turn ? next_line(&first) : first;
        if (piece.n)
            r = fn(ctx, (enum run_stream)order[0], piece);
        if (!is_in_turn)
            first.n = 0;
        piece = is_in_turn ? next_line(&second) : second;
        if (piece.n && r >= 0)
            r = fn(ctx, (enum run_stream)order[1], piece);
        if (!is_in_turn)
            second.n = 0;
    }
    return r < 0 ? r : 0;
}

static int
sort_lines(struct run_pipes *p, const struct batch *b, run_piece_fn fn, void *ctx)
{
    int r = read_whole(p, RUN_OUT, b->size[RUN_OUT]);
    if (!r)
        r = read_whole(p, RUN_ERR, b->size[RUN_ERR]);
    if (r < 0)
        return r;
    struct view had[2] = { { p->in[RUN_OUT].p, p->in[RUN_OUT].n },
                           { p->in[RUN_ERR].p, p->in[RUN_ERR].n } };
    r = tell_both(b->order, had, fn, ctx);
    buf_clear(&p->in[RUN_OUT]);
    buf_clear(&p->in[RUN_ERR]);
    return r;
}

/* -- all of it -- */

static bool
has_more(const struct run_pipes *p)
{
    return size_of(p->fd[RUN_OUT]) || size_of(p->fd[RUN_ERR]) || p->is_hung_up[RUN_OUT] ||
           p->is_hung_up[RUN_ERR];
}

int
run_pipes_read(struct run_pipes *p, run_piece_fn fn, void *ctx, bool *ret_more)
{
    struct batch b = take_stock(p);
    int r = 0;
    if (b.size[RUN_OUT] && b.size[RUN_ERR] && b.size[RUN_OUT] <= TOGETHER_MAX &&
        b.size[RUN_ERR] <= TOGETHER_MAX) {
        r = sort_lines(p, &b, fn, ctx);
    } else {
        for (int i = 0; r >= 0 && i < 2; i++)
            r = pass_on(p, &b, (enum run_stream)b.order[i], fn, ctx);
    }
    if (r < 0)
        return r;
    *ret_more = has_more(p);
    return 0;
}
