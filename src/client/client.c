/* SPDX-License-Identifier: MIT */
/*
 * client.c -- the loop of a client.
 *
 * poll() rather than the host's event loop: three descriptors, of which any may be a
 * regular file. Nothing here waits but pty_signals_poll(), so that a terminal that takes
 * nothing does not keep us from hearing a signal; and client_edit(), while $EDITOR has
 * the terminal.
 */
#include "client/client.h"

#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/signame.h"
#include "client/client_priv.h"
#include "pty/signals.h"

enum {
    WINDOW = 64 << 10, /* input that is on its way to the PTY, at most */
    FLUSH_MS = 500,    /* for what waits when a signal has ended it */
    LINK_NUMBER = 1,   /* the recorder's own client */
    DEATH_MS = 500,    /* a host may take to die */
    DEATH_STEP_MS = 10,
    TURN_MS = 10, /* what the host says is taken in for so long between pictures */
};

void
client_say(struct client *c, struct ipc_message m)
{
    link_say(&c->link, &m);
}

/* -- from the host -- */

/* It goes on without a host while somebody looks back, who can still say that they are
 * done. */
static void
set_ended(struct client *c, const char *how)
{
    bool is_looked_at = show_ended(&c->show, c->result->bytes, how);
    c->lingers = is_looked_at && c->is_input_open && !c->stop_at_ns;
    if (is_looked_at && !c->lingers)
        show_finish(&c->show);
    c->has_ended = true;
    c->ended_at_ns = clock_mono_ns();
    client_note_unanswered(c, c->result->end == CLIENT_ENDED);
    telling_finish(c);
}

void
client_stop_lingering(struct client *c)
{
    c->lingers = false;
    c->ended_at_ns = clock_mono_ns();
    show_finish(&c->show);
}

static void
take_end(struct client *c, const struct ipc_message *m)
{
    AUTO(buf) how = { 0 };
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
    if (r->signo)
        buf_printf(&how, "SIG%s", signame(r->signo));
    else
        buf_printf(&how, "exit %d", r->exit_code);
    set_ended(c, buf_str(&how));
}

/* With files' names alone: a line has no room for where they lie. */
static void
show_trouble(struct client *c)
{
    AUTO(buf) line = { 0 };
    const char *text = buf_str(&c->trouble), *quote, *end;
    while ((quote = strstr(text, "'/")) && (end = strchr(quote + 1, '\''))) {
        const char *name = memrchr(quote, '/', (size_t)(end - quote));
        buf_append(&line, text, (size_t)(quote + 1 - text));
        buf_append(&line, name + 1, (size_t)(end - name));
        text = end + 1;
    }
    buf_puts(&line, text);
    tui_viewer_trouble(c->show.look.viewer, buf_str(&line));
}

/* There may be no viewer yet when it is heard of. */
static void
look_after_trouble(struct client *c)
{
    bool has_viewer = c->show.look.viewer;
    if (has_viewer && c->trouble.n && !c->shows_trouble)
        show_trouble(c);
    c->shows_trouble = has_viewer && c->trouble.n;
}

/* On a picture it would be in the way. One that comes later is not told of what was said
 * before: it has asked; the two may cross. */
static void
take_trouble(struct client *c, struct view text)
{
    if (!text.n || c->has_trouble)
        return;
    c->has_trouble = true;
    buf_append(&c->trouble, text.p, text.n);
    look_after_trouble(c);
    if (c->show.way == SHOW_DRAWING)
        return;
    c->opt->say(c->opt->ctx, buf_str(&c->trouble));
    buf_clear(&c->trouble);
}

static void
take_refusal(struct client *c, const struct ipc_message *m)
{
    if (client_take_answer(c, m))
        return;
    c->result->end = CLIENT_DROPPED;
    buf_append(&c->result->text, m->bytes.p, m->bytes.n);
    c->is_done = true;
}

static void
handle(struct client *c, const struct ipc_message *m)
{
    const uint64_t *f = m->field;
    switch (m->selector) {
    case IPC_JOINED:
        c->number = (uint32_t)f[0];
        show_joined(&c->show, f[1], f[2], f[3], (struct clock){ f[4], f[5] });
        client_say(c, (struct ipc_message){ .selector = IPC_STATUS });
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
        c->taken += f[0];
        client_send_typed(c);
        break;
    case IPC_STATE:
    case IPC_TROUBLE:
        take_trouble(c, m->bytes);
        break;
    case IPC_ENDED:
        take_end(c, m);
        break;
    case IPC_DONE:
        client_take_answer(c, m);
        break;
    case IPC_REFUSED:
        take_refusal(c, m);
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
    static const char gone[] = "the recorder has vanished";
    bool is_live = is_still_live(c->opt);
    c->result->end = is_live ? CLIENT_DROPPED : CLIENT_HOST_GONE;
    c->result->bytes = c->show.next_off;
    set_ended(c, is_live ? "disconnected: it was not read" : gone);
    if (c->lingers && !is_live)
        tui_viewer_trouble(c->show.look.viewer, gone);
}

/* What it says, but for so long that no picture is late for it. */
static void
read_host(struct client *c)
{
    struct ipc_message m;
    uint64_t until_ns = clock_mono_ns() + TURN_MS * 1000000ULL;
    int r = c->has_more ? 1 : link_read(&c->link);
    c->has_more = false;
    while (r >= 0 && !c->is_done && !c->has_ended && !c->has_more &&
           (r = link_next(&c->link, &m)) > 0) {
        handle(c, &m);
        c->has_more = clock_mono_ns() >= until_ns;
    }
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
sooner(int a, int b)
{
    return a < 0 || (b >= 0 && b < a) ? b : a;
}

static int
wait_ms(struct client *c, uint64_t now_ns)
{
    if (c->has_more && !c->has_ended)
        return 0;
    int ms = sooner(show_wait_ms(&c->show, now_ns), telling_wait_ms(c, now_ns));
    return sooner(ms, c->lingers ? -1 : flush_time_ms(c));
}

/* Does what is due; is there nothing more to wait for? */
static bool
is_over(struct client *c)
{
    telling_step(c, clock_mono_ns());
    look_after_trouble(c);
    show_step(&c->show, clock_mono_ns());
    client_take_wishes(c); /* a key's end may be told by the time alone */
    look_after_output(c);
    return c->is_done ||
           (c->has_ended && !c->lingers && (show_is_done(&c->show) || !flush_time_ms(c)));
}

enum { LINK, IN, OUT, FDS };

/* What is to be waited for; returns whether there is room for output to be asked for. */
static bool
choose(struct client *c, uint64_t now_ns, struct pollfd fds[FDS])
{
    bool reads_host = !c->has_ended && !c->has_more && show_takes_more(&c->show);
    bool wants_room = show_wants_room(&c->show, now_ns);
    int link_events = (reads_host ? POLLIN : 0) |
                      (queue_size(&c->link.out) && !c->has_ended ? POLLOUT : 0);
    /* Not at all when there is nothing to do: its end would be told for ever. */
    fds[LINK] = (struct pollfd){ .fd = link_events ? c->link.fd : -1,
                                 .events = (short)link_events };
    fds[IN] = (struct pollfd){ .fd = client_reads_input(c) ? c->in_fd : -1,
                               .events = POLLIN };
    bool minds_output = wants_room || show_minds_reader(&c->show);
    fds[OUT] = (struct pollfd){ .fd = minds_output ? c->show.out.fd : -1,
                                .events = wants_room ? POLLOUT : 0 };
    return wants_room;
}

static void
step(struct client *c)
{
    struct pollfd fds[FDS];
    uint64_t now_ns = clock_mono_ns();
    bool wants_room = choose(c, now_ns, fds);
    bool reads_host = fds[LINK].events & POLLIN;
    int n = pty_signals_poll(fds, FDS, wait_ms(c, now_ns));
    client_handle_signals(c);
    if (!c->is_done)
        show_read_on(&c->show, n || c->has_more, clock_mono_ns());
    if (c->has_more && !c->is_done)
        read_host(c);
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

/* The recorder's own has the host. */
static void
post_guard(struct client *c)
{
    if (c->opt->kind != CLIENT_RECORD && c->opt->is_out_terminal)
        pty_guard_post(&c->guard, c->opt->tty, PTY_TTY_GIVE_LEFT);
}

static void
leave(struct client *c)
{
    struct client_result *r = c->result;
    pty_tty_restore(c->opt->tty);
    show_leave(&c->show, r->end == CLIENT_ENDED && !r->signo);
    pty_guard_relieve(&c->guard);
    r->is_mid_line = c->show.glance.is_mid_line;
    r->lost_bytes = c->show.lost;
    if (c->trouble.n)
        c->opt->say(c->opt->ctx, buf_str(&c->trouble));
    if (c->unnoted.n)
        c->opt->say(c->opt->ctx, buf_str(&c->unnoted));
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
    post_guard(&c);
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
    telling_release(&c);
    client_release_asked(&c);
    buf_release(&c.trouble);
    buf_release(&c.unnoted);
}
