/* SPDX-License-Identifier: MIT */
/*
 * client.c -- the loop of a pass-through client.
 *
 * poll() rather than the host's event loop: three descriptors, of which any may be a
 * regular file. Nothing here waits but signals_poll(), so that a terminal that takes
 * nothing does not keep us from hearing a signal.
 */
#include "client/client.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "client/glance_priv.h"
#include "client/model_priv.h"
#include "client/repaint_priv.h"
#include "client/signals_priv.h"
#include "ipc/message.h"

enum {
    WINDOW = 64 << 10,     /* input that is on its way to the PTY, at most */
    PENDING_MAX = 1 << 20, /* output that the terminal has not taken */
    READ_SIZE = 256 << 10,
    INPUT_SIZE = 16 << 10,
    FLUSH_MS = 500, /* for what waits when a signal has ended it */
    OUT_STEP = 512, /* written at once where a write may wait, after poll() */
    PATIENCE_MS =
        8000, /* a signal after this finds a host that does not come to an end */
};

struct queue {
    struct buf b;
    size_t at;
};

struct client {
    const struct client_options *opt;
    struct client_result *result;
    int in_fd, out_fd; /* our own descriptors, non-blocking where that can be had */
    bool is_input_open, has_hung_up, is_out_gone;
    enum { OUT_FREE, OUT_SOCKET, OUT_WAITS } out_kind; /* how not to wait for it */
    bool has_ended;                                    /* the host has said all */
    bool is_done;                                      /* … and so have we */
    size_t window;                                     /* input that may still be sent */
    uint16_t cols, rows;                               /* the host knows */
    uint64_t next_off;                                 /* of the output that comes next */
    struct glance glance;
    uint64_t ended_at_ns; /* has_ended since */
    uint64_t stop_at_ns;  /* the first signal that asked for the end */
    struct queue from_host, to_host, out;
};

void
client_hold_signals(void)
{
    signals_hold();
}

/* -- queues -- */

static size_t
queue_size(const struct queue *q)
{
    return q->b.n - q->at;
}

static void
queue_drop(struct queue *q, size_t n)
{
    q->at += n;
    if (q->at == q->b.n) {
        buf_clear(&q->b);
        q->at = 0;
    }
}

/* Bytes that were taken leave room, without moving the others each time. */
static void
queue_compact(struct queue *q)
{
    if (q->at <= q->b.n / 2)
        return;
    memmove(q->b.p, q->b.p + q->at, queue_size(q));
    q->b.n -= q->at;
    q->at = 0;
}

/* -- to the host -- */

static void
send_queued(struct client *c)
{
    while (queue_size(&c->to_host)) {
        ssize_t n = send(c->opt->link_fd, c->to_host.b.p + c->to_host.at,
                         queue_size(&c->to_host), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno != EAGAIN) /* reading will tell that it is gone */
            n = (ssize_t)queue_size(&c->to_host);
        if (n < 0)
            return;
        queue_drop(&c->to_host, (size_t)n);
    }
}

static void
say(struct client *c, struct ipc_message m)
{
    queue_compact(&c->to_host);
    ipc_message_put(&c->to_host.b, &m, IPC_TO_HOST);
    send_queued(c);
}

static void
hang_up(struct client *c)
{
    if (c->has_hung_up)
        return;
    c->has_hung_up = true;
    c->is_input_open = false;
    say(c, (struct ipc_message){ .selector = c->opt->is_detachable ? IPC_DETACH
                                                                   : IPC_HANGUP });
    if (c->opt->is_detachable) {
        c->result->end = CLIENT_DETACHED;
        c->is_done = true;
    }
}

/* -- output -- */

/* Nobody is there any more; or there is no room for it, which is no reason to stop. */
static void
lose_output(struct client *c, int errnum)
{
    struct err why;
    c->is_out_gone = true;
    queue_drop(&c->out, queue_size(&c->out));
    if (errnum == EPIPE || errnum == EIO || errnum == ECONNRESET) {
        hang_up(c);
        return;
    }
    err_code(&why, -errnum, "cannot write to standard output");
    c->opt->say(c->opt->ctx, why.text);
}

/* How much of it the terminal takes now. */
static size_t
write_now(struct client *c, struct view v)
{
    size_t done = 0;
    while (done < v.n && !c->is_out_gone) {
        ssize_t n = c->out_kind == OUT_SOCKET ? send(c->out_fd, v.p + done, v.n - done,
                                                     MSG_DONTWAIT | MSG_NOSIGNAL)
                                              : write(c->out_fd, v.p + done, v.n - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0) {
            lose_output(c, errno);
            return v.n;
        }
        done += (size_t)n;
    }
    return done;
}

static void
flush_output(struct client *c)
{
    struct queue *q = &c->out;
    size_t size = queue_size(q);
    if (c->out_kind == OUT_WAITS && size > OUT_STEP)
        size = OUT_STEP;
    size_t n = write_now(c, (struct view){ q->b.p + q->at, size });
    if (!c->is_out_gone) /* else there is nothing left in it */
        queue_drop(q, n);
}

static void
show(struct client *c, struct view v)
{
    size_t waiting = queue_size(&c->out);
    /* Once it is to end, what nobody takes is not kept. */
    if (c->is_out_gone || (c->stop_at_ns && waiting >= PENDING_MAX))
        return;
    size_t done = waiting || c->out_kind == OUT_WAITS ? 0 : write_now(c, v);
    if (done == v.n)
        return;
    queue_compact(&c->out);
    buf_append(&c->out.b, v.p + done, v.n - done);
}

/* The terminal shows what the recording has up to c->next_off, whatever it shows now. */
static void
repaint_all(struct client *c)
{
    AUTO(buf) picture = { 0 };
    struct model m = { .tape = { c->opt->tape_path, c->opt->done_tape_path } };
    struct term_options how = model_options(c->cols, c->rows);
    if (!c->opt->is_out_terminal)
        return;
    queue_drop(&c->out, queue_size(&c->out));
    if (!model_make(&m, &how) && !model_skip(&m, c->next_off, c->cols, c->rows))
        repaint(&picture, m.term);
    model_release(&m);
    show(c, (struct view){ picture.p, picture.n });
}

/* -- from the host -- */

static void
set_ended(struct client *c)
{
    c->has_ended = true;
    c->ended_at_ns = clock_mono_ns();
}

static void
take_end(struct client *c, const struct ipc_message *m)
{
    struct client_result *r = c->result;
    r->end = CLIENT_ENDED;
    r->status = (unsigned)m->field[0];
    r->exit_code = (int)m->field[1];
    r->signo = (int)m->field[2];
    r->bytes = m->field[3];
    r->missing_bytes = m->field[4];
    r->ns = m->field[5];
    r->flags = m->field[6];
    buf_append(&r->text, m->bytes.p, m->bytes.n);
    set_ended(c);
}

static void
handle(struct client *c, const struct ipc_message *m)
{
    AUTO(buf) text = { 0 };
    switch (m->selector) {
    case IPC_OUTPUT:
        c->next_off = m->field[0] + m->bytes.n;
        glance(&c->glance, m->bytes);
        show(c, m->bytes);
        break;
    case IPC_SKIPPED:
        c->next_off = m->field[0];
        repaint_all(c);
        break;
    case IPC_TAKEN:
        c->window += (size_t)m->field[0];
        break;
    case IPC_TROUBLE:
        buf_append(&text, m->bytes.p, m->bytes.n);
        c->opt->say(c->opt->ctx, buf_str(&text));
        break;
    case IPC_ENDED:
        take_end(c, m);
        break;
    default: /* of a newer host: none of our business */
        break;
    }
}

static void
lose_host(struct client *c)
{
    c->result->end = CLIENT_HOST_GONE;
    set_ended(c);
}

static void
read_host(struct client *c)
{
    struct queue *q = &c->from_host;
    queue_compact(q);
    if (buf_reserve(&q->b, READ_SIZE) < 0)
        return;
    ssize_t n = recv(c->opt->link_fd, q->b.p + q->b.n, READ_SIZE, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        if (!c->has_ended)
            lose_host(c);
        return;
    }
    q->b.n += (size_t)n;
    struct ipc_frame frame;
    struct ipc_message m;
    ssize_t size;
    while ((size = ipc_frame_get((struct view){ q->b.p + q->at, queue_size(q) },
                                 &frame)) > 0) {
        if (!ipc_message_get(&m, &frame, IPC_TO_CLIENT))
            handle(c, &m);
        q->at += (size_t)size;
    }
    queue_drop(q, 0);
    if (size < 0)
        lose_host(c);
}

/* -- the terminal -- */

/* The terminal is left as programs find it at first. */
static void
calm(struct client *c)
{
    static const char bytes[] = PTY_TTY_CALM "\033[?1049l";
    size_t n = sizeof(bytes) - 1 - (c->glance.is_alternate ? 0 : strlen("\033[?1049l"));
    struct pollfd out = { .fd = c->out_fd, .events = POLLOUT };
    if (c->opt->is_out_terminal && !c->is_out_gone && poll(&out, 1, 0) > 0)
        write_now(c, (struct view){ (const uint8_t *)bytes, n });
}

static void
suspend(struct client *c)
{
    pty_tty_restore(c->opt->tty);
    calm(c);
    signals_stop_self();
}

/* -- input -- */

static void
read_input(struct client *c)
{
    uint8_t bytes[INPUT_SIZE];
    size_t room = c->window < sizeof(bytes) ? c->window : sizeof(bytes);
    ssize_t n = file_read(c->in_fd, bytes, room);
    if (n == -EAGAIN)
        return;
    if (n > 0) {
        c->window -= (size_t)n;
        say(c,
            (struct ipc_message){ .selector = IPC_INPUT, .bytes = { bytes, (size_t)n } });
        return;
    }
    bool is_typed = c->opt->tty->fd == c->opt->in_fd;
    if (is_typed && n == -EIO && !pty_tty_is_foreground(c->opt->tty)) {
        suspend(c); /* it is somebody else's for now */
        return;
    }
    c->is_input_open = false;
    if (is_typed)
        hang_up(c); /* a terminal has no end but its own */
    else
        say(c, (struct ipc_message){ .selector = IPC_INPUT_END });
}

/* -- signals -- */

static void
tell_size(struct client *c)
{
    uint16_t cols, rows;
    int fd = c->opt->is_out_terminal ? c->opt->out_fd : c->opt->tty->fd;
    if (fd < 0 || !pty_size(fd, &cols, &rows))
        return;
    if (c->opt->has_fixed_cols)
        cols = c->opt->cols;
    if (c->opt->has_fixed_rows)
        rows = c->opt->rows;
    if (cols == c->cols && rows == c->rows)
        return;
    c->cols = cols;
    c->rows = rows;
    say(c, (struct ipc_message){ .selector = IPC_RESIZE, .field = { cols, rows } });
}

static void
resume(struct client *c)
{
    struct pty_tty *tty = c->opt->tty;
    if (c->has_hung_up) /* the kernel continues those whose terminal goes away */
        return;
    if (tty->fd >= 0 && !pty_tty_is_foreground(tty)) {
        suspend(c);
        return;
    }
    if (tty->fd >= 0 && c->is_input_open)
        pty_tty_set_raw(tty);
    tell_size(c);
    repaint_all(c);
}

static void
stop(struct client *c, int signo)
{
    uint64_t now_ns = clock_mono_ns();
    if (c->has_ended) { /* nothing keeps us but a terminal that takes no more */
        c->is_done = true;
        return;
    }
    if (c->stop_at_ns && now_ns - c->stop_at_ns > (uint64_t)PATIENCE_MS * 1000000) {
        c->result->end = CLIENT_LEFT;
        c->result->signo = signo;
        c->is_done = true;
        return;
    }
    if (!c->stop_at_ns)
        c->stop_at_ns = now_ns;
    if (signo == SIGHUP)
        hang_up(c);
    else
        say(c,
            (struct ipc_message){ .selector = IPC_STOP, .field = { (uint64_t)signo } });
}

static void
handle_signals(struct client *c)
{
    for (int signo; (signo = signals_next());)
        switch (signo) {
        case SIGWINCH:
            tell_size(c);
            break;
        case SIGTSTP:
        case SIGTTOU:
        case SIGTTIN:
            suspend(c);
            break;
        case SIGCONT:
            resume(c);
            break;
        default:
            stop(c, signo);
            break;
        }
}

/* -- the loop -- */

/* How long what waits may still take; < 0: as long as it does. */
static int
flush_time_ms(const struct client *c)
{
    if (!c->has_ended || !c->stop_at_ns)
        return -1;
    uint64_t ms = (clock_mono_ns() - c->ended_at_ns) / 1000000;
    return ms < FLUSH_MS ? FLUSH_MS - (int)ms : 0;
}

static bool
is_over(const struct client *c)
{
    return c->is_done || (c->has_ended && (!queue_size(&c->out) || !flush_time_ms(c)));
}

static void
step(struct client *c)
{
    enum { LINK, IN, OUT };
    bool reads_input = c->is_input_open && c->window && !c->has_ended;
    bool reads_host = !c->has_ended &&
                      (c->stop_at_ns || queue_size(&c->out) < PENDING_MAX);
    int link_events = (reads_host ? POLLIN : 0) |
                      (queue_size(&c->to_host) && !c->has_ended ? POLLOUT : 0);
    struct pollfd fds[] = {
        /* Not at all when there is nothing to do: its end would be told for ever. */
        [LINK] = { .fd = link_events ? c->opt->link_fd : -1,
                   .events = (short)link_events },
        [IN] = { .fd = reads_input ? c->in_fd : -1, .events = POLLIN },
        [OUT] = { .fd = queue_size(&c->out) ? c->out_fd : -1, .events = POLLOUT },
    };
    int n = signals_poll(fds, sizeof(fds) / sizeof(fds[0]), flush_time_ms(c));
    handle_signals(c);
    if (n <= 0 || c->is_done)
        return;
    if (fds[OUT].revents)
        flush_output(c);
    if (fds[LINK].revents & POLLOUT)
        send_queued(c);
    if (fds[IN].revents)
        read_input(c);
    if (reads_host && (fds[LINK].revents & (POLLIN | POLLHUP | POLLERR)))
        read_host(c);
}

/* A descriptor of our own that does not wait; else the one that we were given. */
static int
own_fd(int fd, int how)
{
    int own = pty_reopen_nonblock(fd, how);
    return own >= 0 ? own : fd;
}

static void
open_output(struct client *c)
{
    struct stat st;
    c->out_fd = own_fd(c->opt->out_fd, O_WRONLY);
    if (c->out_fd != c->opt->out_fd || fstat(c->out_fd, &st) < 0)
        return;
    if (S_ISSOCK(st.st_mode))
        c->out_kind = OUT_SOCKET;
    else if (S_ISFIFO(st.st_mode) || isatty(c->out_fd)) /* somebody else's */
        c->out_kind = OUT_WAITS;
}

static void
leave(struct client *c)
{
    const struct client_result *r = c->result;
    pty_tty_restore(c->opt->tty);
    if (r->end != CLIENT_ENDED || r->signo)
        calm(c);
    c->result->is_mid_line = c->glance.is_mid_line;
}

void
client_run(const struct client_options *opt, struct client_result *ret)
{
    struct client c = {
        .opt = opt, .result = ret, .window = WINDOW, .cols = opt->cols, .rows = opt->rows
    };
    c.is_input_open = opt->in_fd >= 0;
    c.in_fd = c.is_input_open ? own_fd(opt->in_fd, O_RDONLY) : -1;
    open_output(&c);
    signals_listen();
    if (opt->tty->fd >= 0 && pty_tty_set_raw(opt->tty) < 0)
        hang_up(&c); /* it went away meanwhile */
    tell_size(&c);   /* it may have changed before we listened */
    while (!is_over(&c))
        step(&c);
    leave(&c);
    if (c.in_fd != opt->in_fd)
        close(c.in_fd);
    if (c.out_fd != opt->out_fd)
        close(c.out_fd);
    buf_release(&c.from_host.b);
    buf_release(&c.to_host.b);
    buf_release(&c.out.b);
}

/* -- the start -- */

static int
read_exactly(int fd, uint8_t *p, size_t n)
{
    while (n) {
        ssize_t r = file_read(fd, p, n);
        if (r <= 0)
            return -ECONNRESET;
        p += r;
        n -= (size_t)r;
    }
    return 0;
}

int
client_wait_start(int link_fd, struct err *err)
{
    uint8_t bytes[IPC_FRAME_HEAD + sizeof(err->text) + 64];
    struct ipc_frame frame;
    struct ipc_message m;
    size_t have = IPC_FRAME_HEAD + 1;
    int r = read_exactly(link_fd, bytes, have);
    while (!r && !(r = (int)ipc_frame_get((struct view){ bytes, have }, &frame)) &&
           have < sizeof(bytes))
        r = read_exactly(link_fd, bytes + have++, 1);
    if (r > 0)
        r = ipc_message_get(&m, &frame, IPC_TO_CLIENT);
    if (r < 0 || (m.selector != IPC_STARTED && m.selector != IPC_FAILED)) {
        err_set(err, -ECONNRESET, "the recorder has ended before the command ran");
        return 1;
    }
    if (m.selector == IPC_STARTED)
        return 0;
    err_set(err, -ECANCELED, "%.*s", (int)m.bytes.n, (const char *)m.bytes.p);
    return (int)m.field[0];
}
