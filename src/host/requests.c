/* SPDX-License-Identifier: MIT */
/*
 * requests.c -- what clients ask for, and who may. Whoever asks for what it may not is
 * told so and let go.
 */
#include <signal.h>
#include <unistd.h>

#include "host/host_priv.h"
#include "pty/tty.h"

enum { SUBSCRIBERS_MAX = 256, SIDE_MAX = 10000 };

void
host_reply(struct host *h, struct conn *c, struct ipc_message m)
{
    if (c->waiting_replies && host_queue_reply(h, c, m))
        return;
    conn_send(c, &m);
    conn_flush(c, &h->reel);
}

void
host_deny(struct host *h, struct conn *c, const char *why)
{
    host_reply(h, c,
               (struct ipc_message){ .selector = IPC_REFUSED,
                                     .bytes = { (const uint8_t *)why, strlen(why) } });
}

void
host_refuse(struct host *h, struct conn *c, const char *why)
{
    if (c == h->link) {
        host_lose_link(h);
        return;
    }
    c->is_leaving = true;
    c->leave_ns = clock_mono_ns();
    conn_send_text(c, IPC_REFUSED, why); /* the last word, whatever is still owed */
    conn_flush(c, &h->reel);
}

/* -- clients -- */

static void
tell_state(struct host *h, struct conn *c, const struct ipc_message *m)
{
    (void)m;
    uint64_t clients, watchers;
    host_count_clients(h, &clients, &watchers);
    host_reply(
        h, c,
        (struct ipc_message){
            .selector = IPC_STATE,
            .field = { h->recorder.byte_off,
                       recorder_now_ns(&h->recorder) - h->opt->clock.real_ns, h->cols,
                       h->rows, clients, watchers, h->snapshots, h->instructions },
            .bytes = { (const uint8_t *)h->trouble, strlen(h->trouble) } });
}

static void
set_size(struct conn *c, const struct ipc_message *m)
{
    c->cols = (uint16_t)(m->field[0] < SIDE_MAX ? m->field[0] : SIDE_MAX);
    c->rows = (uint16_t)(m->field[1] < SIDE_MAX ? m->field[1] : SIDE_MAX);
}

static void
subscribe(struct host *h, struct conn *c, const struct ipc_message *m)
{
    uint64_t clients, watchers, flags = m->field[2];
    host_count_clients(h, &clients, &watchers);
    if (c->awaits_picture) {
        host_deny(h, c, "a picture is on its way already");
        return;
    }
    size_t max = host_conns_max() / 2;
    max = max < SUBSCRIBERS_MAX ? max : (size_t)SUBSCRIBERS_MAX;
    if (!c->is_subscribed && clients + watchers >= max) {
        host_refuse(h, c, "too many clients look on already");
        return;
    }
    if (c->is_paused) /* it was not asked to take anything */
        c->stuck_ns = 0;
    c->is_subscribed = c->is_lossy = true;
    c->is_paused = false;
    c->is_watcher = flags & IPC_SUB_WATCH;
    set_size(c, m);
    c->is_paused = false;
    conn_skip(c, &h->reel); /* nothing comes before IPC_JOINED */
    host_set_stage(h, IPC_NONE);
    conn_rejoin(c, &h->reel);
    struct ipc_message stage = host_stage_message(h);
    conn_send(c, &(struct ipc_message){
                     .selector = IPC_JOINED,
                     .field = { c->number, h->recorder.byte_off, h->cols, h->rows,
                                h->opt->clock.real_ns, h->opt->clock.boot_ns } });
    conn_send(c, &stage);
    if (flags & IPC_SUB_PICTURE)
        host_want_picture(h, c);
    conn_flush(c, &h->reel);
}

static void
take_input(struct host *h, struct conn *c, const struct ipc_message *m)
{
    if (c != h->link && (c->input_bytes + m->bytes.n > HOST_INPUT_MAX ||
                         feeder_waiting(&h->typed) + m->bytes.n > HOST_TYPED_MAX))
        host_refuse(h, c, "too much input is on its way already");
    else
        host_input(h, c, m->bytes);
}

static void
end_input(struct host *h, struct conn *c, const struct ipc_message *m)
{
    (void)c;
    (void)m;
    host_input_end(h);
}

static void
take_size(struct host *h, struct conn *c, const struct ipc_message *m)
{
    set_size(c, m);
    host_set_stage(h, IPC_NONE);
}

static void
set_pause(struct host *h, struct conn *c, const struct ipc_message *m)
{
    if (!c->is_subscribed)
        return;
    if (!m->field[0]) {
        host_rejoin(h, c);
        return;
    }
    conn_rejoin(c, &h->reel);
    c->is_paused = true;
    c->awaits_picture = false;
    if (c == h->link)
        host_set_stage(h, m->field[1]);
}

static void
stop(struct host *h, struct conn *c, const struct ipc_message *m)
{
    int signo = (int)m->field[0];
    if (!signo || signo >= NSIG) {
        host_deny(h, c, "there is no such signal");
        return;
    }
    host_stop(h, signo);
    if (c->kind == CONN_CTL)
        host_reply(h, c, (struct ipc_message){ .selector = IPC_DONE });
}

static void
close_tty(struct host *h)
{
    if (h->tty_fd >= 0)
        close(h->tty_fd); /* somebody may wait for its end */
    h->tty_fd = -1;
}

static void
detach(struct host *h, struct conn *c, const struct ipc_message *m)
{
    (void)m;
    host_log(h, "client %u has detached", c->number);
    if (c == h->link)
        close_tty(h);
    host_drop_conn(h, c);
}

static void
hang_up(struct host *h, struct conn *c, const struct ipc_message *m)
{
    (void)c;
    (void)m;
    if (!h->opt->is_detachable)
        host_stop(h, SIGHUP);
}

void
host_lose_link(struct host *h)
{
    const struct host_options *o = h->opt;
    bool was_left = h->tty_fd >= 0 &&
                    pty_tty_restore_left(h->tty_fd, &o->tty_saved, &o->tty_raw);
    /* Its programs' modes are ended, and the first screen is shown, whatever was on it.
     * A viewer that is stopped, or has not begun, has nothing of the terminal. */
    if (h->tty_fd >= 0 && o->is_lossy && (was_left || !o->is_viewed))
        pty_tty_write(h->tty_fd,
                      o->is_viewed ? PTY_TTY_GIVE_LEFT : PTY_TTY_CALM "\033[?1047l");
    close_tty(h);
    host_drop_conn(h, h->link);
    host_log(h, "the client has vanished");
    if (!o->has_terminal && !h->is_over)
        hang_up(h, NULL, NULL);
}

static void
authenticate(struct host *h, struct conn *c, const struct ipc_message *m)
{
    unsigned differs = m->bytes.n != HOST_TOKEN_LEN;
    for (size_t i = 0; i < m->bytes.n && i < HOST_TOKEN_LEN; i++)
        differs |= (unsigned)(m->bytes.p[i] ^ (uint8_t)h->token[i]);
    if (differs || !c->must_auth)
        host_refuse(h, c, "this is not the token");
    c->must_auth = false;
}

static void
take_screen(struct host *h, struct conn *c, const struct ipc_message *m)
{
    (void)c;
    host_take_screen(h, m);
}

static void
take_reply(struct host *h, struct conn *c, const struct ipc_message *m)
{
    (void)c;
    host_take_reply(h, m);
}

/* -- who may ask for what -- */

static const struct request {
    uint8_t selector;
    unsigned kinds; /* enum conn_kind */
    bool for_watchers;
    void (*run)(struct host *h, struct conn *c, const struct ipc_message *m);
} requests[] = {
    { IPC_SNAPSHOT, CONN_CTL | CONN_IPC | CONN_TAKER, false, host_take_snapshot },
    { IPC_SNAPSHOT_MANUAL, CONN_LINK | CONN_CTL | CONN_IPC, false, host_take_snapshot },
    { IPC_STATUS, CONN_LINK | CONN_CTL | CONN_IPC, true, tell_state },
    { IPC_ANCHOR, CONN_LINK | CONN_CTL | CONN_IPC | CONN_TAKER, false, host_tell_anchor },
    { IPC_AUTH, CONN_IPC, false, authenticate },
    { IPC_INSTRUCT, CONN_LINK | CONN_CTL, false, host_take_instruction },
    { IPC_INPUT, CONN_LINK | CONN_CTL, false, take_input },
    { IPC_INPUT_END, CONN_LINK, false, end_input },
    { IPC_RESIZE, CONN_LINK | CONN_CTL, false, take_size },
    { IPC_SUBSCRIBE, CONN_CTL, true, subscribe },
    { IPC_PAUSE, CONN_LINK | CONN_CTL, true, set_pause },
    { IPC_STOP, CONN_LINK | CONN_CTL, false, stop },
    { IPC_DETACH, CONN_LINK | CONN_CTL, true, detach },
    { IPC_HANGUP, CONN_LINK | CONN_CTL, false, hang_up },
    { IPC_SCREEN, CONN_MIRROR, false, take_screen },
    { IPC_REPLY, CONN_MIRROR, false, take_reply },
    { IPC_SAID, CONN_TAKER, false, host_note_said },
};

void
host_handle(struct host *h, struct conn *c, const struct ipc_message *m)
{
    const struct request *r = requests, *end = r + sizeof(requests) / sizeof(*requests);
    while (r < end && r->selector != m->selector)
        r++;
    if (c->must_auth && m->selector != IPC_AUTH)
        host_refuse(h, c, "the token comes first ($AHR_IPC_TOKEN)");
    else if (r == end || !(r->kinds & c->kind))
        host_refuse(h, c, "this is not to be asked for here");
    else if (c->is_watcher && !r->for_watchers)
        host_refuse(h, c, "a watcher only looks");
    else if (h->is_over && c->is_subscribed && m->selector != IPC_DETACH)
        return; /* how it ended is on its way to it, behind the last output */
    else if (h->is_over)
        host_refuse(h, c, "the session has ended");
    else
        r->run(h, c, m);
}
