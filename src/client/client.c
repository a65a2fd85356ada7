/* SPDX-License-Identifier: MIT */
/*
 * client.c -- the loop of a client.
 *
 * poll() rather than the host's event loop: three descriptors, of which any may be a
 * regular file. Nothing here waits but pty_signals_poll(), so that a terminal that takes
 * nothing does not keep us from hearing a signal.
 */
#include "client/client.h"

#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "client/client_priv.h"
#include "pty/signals.h"

enum {
    WINDOW = 64 << 10, /* input that is on its way to the PTY, at most */
    FLUSH_MS = 500,    /* for what waits when a signal has ended it */
    LINK_NUMBER = 1,   /* the recorder's own client */
    DEATH_MS = 500,    /* a host may take to die */
    DEATH_STEP_MS = 10,
};

void
client_say(struct client *c, struct ipc_message m)
{
    link_say(&c->link, &m);
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
    show_ended(&c->show, r->bytes);
    set_ended(c);
}

/* On a picture it would be in the way. */
static void
take_trouble(struct client *c, struct view text)
{
    buf_clear(&c->trouble);
    buf_append(&c->trouble, text.p, text.n);
    if (c->show.way == SHOW_DRAWING)
        return;
    c->opt->say(c->opt->ctx, buf_str(&c->trouble));
    buf_clear(&c->trouble);
}

static void
take_refusal(struct client *c, struct view text)
{
    c->result->end = CLIENT_DROPPED;
    buf_append(&c->result->text, text.p, text.n);
    c->is_done = true;
}

static void
handle(struct client *c, const struct ipc_message *m)
{
    const uint64_t *f = m->field;
    switch (m->selector) {
    case IPC_JOINED:
        c->number = (uint32_t)f[0];
        show_joined(&c->show, f[1], f[2], f[3]);
        break;
    case IPC_STAGE:
        show_stage(&c->show, f[0], f[1],
                   c->opt->kind == CLIENT_RECORD && f[2] == c->number);
        break;
    case IPC_PICTURE:
        show_picture(&c->show, f[0], f[1], m->bytes);
        break;
    case IPC_OUTPUT:
        show_output(&c->show, f[0], m->bytes);
        break;
    case IPC_SKIPPED:
        show_skipped(&c->show, f[0], f[1], f[2]);
        break;
    case IPC_TAKEN:
        c->window += (size_t)f[0];
        break;
    case IPC_TROUBLE:
        take_trouble(c, m->bytes);
        break;
    case IPC_ENDED:
        take_end(c, m);
        break;
    case IPC_REFUSED:
        take_refusal(c, m->bytes);
        break;
    default: /* of a newer host: none of our business */
        break;
    }
}

/* A host that dies gives up its lock a moment after its connections. */
static bool
is_still_live(const struct client_options *o)
{
    int ms = 0;
    while (o->is_session_live && o->is_session_live(o->ctx)) {
        if (ms >= DEATH_MS)
            return true;
        poll(NULL, 0, DEATH_STEP_MS);
        ms += DEATH_STEP_MS;
    }
    return false;
}

static void
lose_host(struct client *c)
{
    c->result->end = is_still_live(c->opt) ? CLIENT_DROPPED : CLIENT_HOST_GONE;
    set_ended(c);
}

static void
read_host(struct client *c)
{
    struct ipc_message m;
    int r = link_read(&c->link);
    while (r >= 0 && !c->is_done && !c->has_ended && (r = link_next(&c->link, &m)) > 0)
        handle(c, &m);
    if (r < 0 && !c->has_ended && !c->is_done)
        lose_host(c);
}

/* -- the loop -- */

/* Nobody is there any more; or there is no room for it, which is no reason to stop. */
static void
look_after_output(struct client *c)
{
    int e = c->show.out.error;
    struct err why;
    if (!c->show.out.is_gone || !e)
        return;
    c->show.out.error = 0;
    if (e == EPIPE || e == EIO || e == ECONNRESET || c->opt->kind != CLIENT_RECORD)
        client_hang_up(c);
    if (e == EPIPE || e == EIO || e == ECONNRESET)
        return;
    c->result->has_failed = true;
    err_code(&why, -e, "cannot write to standard output");
    c->opt->say(c->opt->ctx, why.text);
}

/* How long what waits may still take; < 0: as long as it does. */
static int
flush_time_ms(const struct client *c)
{
    if (!c->has_ended || !c->stop_at_ns)
        return -1;
    uint64_t ms = (clock_mono_ns() - c->ended_at_ns) / 1000000;
    return ms < FLUSH_MS ? FLUSH_MS - (int)ms : 0;
}

static int
wait_ms(struct client *c, uint64_t now_ns)
{
    int flush_ms = flush_time_ms(c), show_ms = show_wait_ms(&c->show, now_ns);
    return flush_ms < 0 || (show_ms >= 0 && show_ms < flush_ms) ? show_ms : flush_ms;
}

/* Does what is due; is there nothing more to wait for? */
static bool
is_over(struct client *c)
{
    show_step(&c->show, clock_mono_ns());
    look_after_output(c);
    return c->is_done || (c->has_ended && (show_is_done(&c->show) || !flush_time_ms(c)));
}

static void
step(struct client *c)
{
    enum { LINK, IN, OUT };
    uint64_t now_ns = clock_mono_ns();
    bool reads_input = c->is_input_open && c->window && !c->has_ended;
    bool reads_host = !c->has_ended && show_takes_more(&c->show);
    bool wants_room = show_wants_room(&c->show, now_ns);
    int link_events = (reads_host ? POLLIN : 0) |
                      (queue_size(&c->link.out) && !c->has_ended ? POLLOUT : 0);
    struct pollfd fds[] = {
        /* Not at all when there is nothing to do: its end would be told for ever. */
        [LINK] = { .fd = link_events ? c->link.fd : -1, .events = (short)link_events },
        [IN] = { .fd = reads_input ? c->in_fd : -1, .events = POLLIN },
        [OUT] = { .fd = wants_room || show_minds_reader(&c->show) ? c->show.out.fd : -1,
                  .events = wants_room ? POLLOUT : 0 },
    };
    int n = pty_signals_poll(fds, sizeof(fds) / sizeof(fds[0]), wait_ms(c, now_ns));
    client_handle_signals(c);
    if (n <= 0 || c->is_done)
        return;
    if (fds[OUT].revents && !wants_room)
        show_lost_reader(&c->show);
    else if (fds[OUT].revents)
        show_has_room(&c->show, clock_mono_ns());
    if (fds[LINK].revents & POLLOUT)
        link_flush(&c->link);
    if (fds[IN].revents)
        client_read_input(c);
    if (reads_host && (fds[LINK].revents & (POLLIN | POLLHUP | POLLERR)))
        read_host(c);
    client_take_early(c);
}

/* -- from its start to its end -- */

/* One that comes to a session that is there already. */
static void
subscribe(struct client *c)
{
    bool is_watcher = c->opt->kind == CLIENT_WATCH;
    unsigned flags = (is_watcher ? IPC_SUB_WATCH : 0) |
                     (c->opt->is_out_terminal ? IPC_SUB_PICTURE : 0);
    if (c->opt->kind == CLIENT_RECORD)
        return;
    client_say(c, (struct ipc_message){ .selector = IPC_SUBSCRIBE,
                                        .field = { is_watcher ? 0 : c->cols,
                                                   is_watcher ? 0 : c->rows, flags } });
}

static void
leave(struct client *c)
{
    struct client_result *r = c->result;
    pty_tty_restore(c->opt->tty);
    show_leave(&c->show, r->end == CLIENT_ENDED && !r->signo);
    r->is_mid_line = c->show.glance.is_mid_line;
    r->lost_bytes = c->show.lost;
    if (c->trouble.n)
        c->opt->say(c->opt->ctx, buf_str(&c->trouble));
}

void
client_run(const struct client_options *opt, struct client_result *ret)
{
    struct client c = {
        .opt = opt,
        .result = ret,
        .link.fd = opt->link_fd,
        .number = opt->kind == CLIENT_RECORD ? LINK_NUMBER : 0,
        .window = WINDOW,
        .cols = opt->cols,
        .rows = opt->rows,
    };
    client_open_input(&c);
    show_init(&c.show, opt, &c.link, opt->cols, opt->rows);
    pty_signals_listen();
    if (opt->tty->fd >= 0 && pty_tty_set_raw(opt->tty) < 0)
        client_hang_up(&c); /* it went away meanwhile */
    subscribe(&c);
    client_tell_size(&c); /* it may have changed before we listened */
    while (!is_over(&c))
        step(&c);
    leave(&c);
    client_close_input(&c);
    show_release(&c.show);
    link_release(&c.link);
    buf_release(&c.trouble);
    buf_release(&c.early);
}
