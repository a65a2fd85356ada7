/* SPDX-License-Identifier: MIT */
#include "door/door.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "ipc/inbox.h"
#include "ipc/socket.h"
#include "session/id.h"
#include "session/sockets.h"

enum {
    CONNS_MAX = 16,
    ACCEPT_MAX = 32, /* at once, so that the command is not kept waiting */
    HEAR_MAX = 64,
    OUT_MAX = 1 << 20,  /* of answers that nobody reads */
    DOOR_WAIT_MS = 200, /* when there is no room for another descriptor */
    NO_FD = -1,
};

struct conn {
    uv_poll_t poll;
    struct door *door;
    struct conn *next;
    int fd;
    bool is_leaving; /* told why, and then closed */
    bool has_more;   /* … to say, that has been read already */
    uint64_t heard_ns;
    struct ipc_inbox in;
    struct buf out;
    size_t out_at; /* sent up to here */
};

struct door {
    uv_poll_t poll;
    uv_timer_t timer;
    struct door_calls calls;
    struct conn *conns;
    int fd;
    unsigned handles; /* of the loop, until all are closed */
    struct buf live_dir;
    char id[SESSION_ID_LEN + 1];
};

static void
free_door(struct door *d)
{
    buf_release(&d->live_dir);
    free(d);
}

static void
count_down(struct door *d)
{
    if (!--d->handles)
        free_door(d);
}

/* -- connections -- */

static void
on_conn_closed(uv_handle_t *handle)
{
    struct conn *c = handle->data;
    struct door *d = c->door;
    ipc_inbox_release(&c->in);
    buf_release(&c->out);
    free(c);
    count_down(d);
}

static void
drop_conn(struct conn *c)
{
    struct conn **at = &c->door->conns;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    uv_poll_stop(&c->poll);
    close(c->fd);
    c->fd = NO_FD;
    uv_close((uv_handle_t *)&c->poll, on_conn_closed);
}

/* What it takes now; false: it is gone. */
static bool
flush(struct conn *c)
{
    while (c->out_at < c->out.n) {
        ssize_t n = send(c->fd, c->out.p + c->out_at, c->out.n - c->out_at,
                         MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN || errno == EWOULDBLOCK;
        c->out_at += (size_t)n;
    }
    buf_clear(&c->out);
    c->out_at = 0;
    return true;
}

static void
answer(struct conn *c, const struct ipc_message *m)
{
    ipc_message_put(&c->out, m, IPC_TO_CLIENT);
}

static void
deny(struct conn *c, const char *why)
{
    answer(c, &(struct ipc_message){ .selector = IPC_REFUSED,
                                     .bytes = { (const uint8_t *)why, strlen(why) } });
}

static void
refuse(struct conn *c, const char *why)
{
    deny(c, why);
    c->is_leaving = true;
}

/* -- what is asked for -- */

static void
tell_state(struct conn *c, const struct ipc_message *m)
{
    (void)m;
    struct ipc_message state = { .selector = IPC_STATE };
    c->door->calls.on_status(c->door->calls.ctx, &state);
    answer(c, &state);
}

static void
tell_anchor(struct conn *c, const struct ipc_message *m)
{
    (void)m;
    struct ipc_message done = { .selector = IPC_DONE };
    c->door->calls.on_anchor(c->door->calls.ctx, &done);
    answer(c, &done);
}

static void
take_input(struct conn *c, const struct ipc_message *m)
{
    struct err why = { 0 };
    if (c->door->calls.on_input(c->door->calls.ctx, m->bytes, &why) < 0)
        deny(c, why.text);
    else
        answer(c,
               &(struct ipc_message){ .selector = IPC_TAKEN, .field = { m->bytes.n } });
}

static void
take_instruction(struct conn *c, const struct ipc_message *m)
{
    struct err why = { 0 };
    struct ipc_message done = { .selector = IPC_DONE };
    if (c->door->calls.on_instruct(c->door->calls.ctx, m, &done, &why) < 0)
        deny(c, why.text);
    else
        answer(c, &done);
}

/* It hears of the end by our hanging up. */
static void
stop(struct conn *c, const struct ipc_message *m)
{
    int signo = (int)m->field[0];
    if (!signo || signo >= NSIG) {
        deny(c, "there is no such signal");
        return;
    }
    c->door->calls.on_stop(c->door->calls.ctx, signo);
    answer(c, &(struct ipc_message){ .selector = IPC_DONE });
}

static void
leave(struct conn *c, const struct ipc_message *m)
{
    (void)m;
    c->is_leaving = true;
}

static const struct request {
    uint8_t selector;
    void (*run)(struct conn *c, const struct ipc_message *m);
    const char *why_not;
} requests[] = {
    { IPC_STATUS, tell_state, NULL },
    { IPC_INPUT, take_input, NULL },
    { IPC_STOP, stop, NULL },
    { IPC_ANCHOR, tell_anchor, NULL },
    { IPC_INSTRUCT, take_instruction, NULL },
    { IPC_DETACH, leave, NULL },
    { IPC_SUBSCRIBE, NULL,
      "this is a run: it has no screen; 'ahr watch' and 'ahr log -f' follow it" },
    { IPC_SNAPSHOT, NULL,
      "this is a run: it takes no snapshots of a screen; 'ahr fs snapshot' keeps files" },
    { IPC_SNAPSHOT_MANUAL, NULL,
      "this is a run: it takes no snapshots of a screen; 'ahr fs snapshot' keeps files" },
};

static void
handle(struct conn *c, const struct ipc_message *m)
{
    const struct request *r = requests, *end = r + sizeof(requests) / sizeof(*requests);
    while (r < end && r->selector != m->selector)
        r++;
    if (r == end)
        refuse(c, "this is not to be asked for here");
    else if (r->why_not)
        refuse(c, r->why_not);
    else
        r->run(c, m);
}

/* -- hearing -- */

static void
hear(struct conn *c)
{
    struct ipc_message m;
    int r = 0;
    for (int i = 0; i < HEAR_MAX && !c->is_leaving; i++) {
        r = ipc_inbox_next(&c->in, c->fd, IPC_TO_HOST, &m);
        if (r <= 0)
            break;
        c->heard_ns = clock_mono_ns();
        handle(c, &m);
    }
    if (r == -EPROTO)
        refuse(c, "this makes no sense; is it another version of ahr?");
    else if (r < 0)
        c->is_leaving = true; /* it has said all */
    c->has_more = r > 0;
}

static void on_conn(uv_poll_t *poll, int status, int events);

/* Sends, waits for what is next, or lets it go. */
static void
settle(struct conn *c)
{
    bool is_there = !c->out.failed && flush(c);
    bool has_unsent = c->out_at < c->out.n;
    int events = c->is_leaving ? 0 : UV_READABLE;
    /* What was read already is not told again; that there is room for answers is. */
    if (has_unsent || (events && c->has_more))
        events |= UV_WRITABLE;
    if (!is_there || !events || uv_poll_start(&c->poll, events, on_conn))
        drop_conn(c);
}

static void
on_conn(uv_poll_t *poll, int status, int events)
{
    struct conn *c = poll->data;
    (void)events;
    if (status < 0)
        c->is_leaving = true;
    hear(c);
    settle(c);
}

/* -- who comes -- */

static void
make_room(struct door *d)
{
    struct conn *oldest = NULL;
    unsigned n = 0;
    for (struct conn *c = d->conns; c; c = c->next, n++)
        if (!oldest || c->heard_ns < oldest->heard_ns)
            oldest = c;
    if (n >= CONNS_MAX)
        drop_conn(oldest);
}

static struct conn *
add_conn(struct door *d, int fd)
{
    struct conn *c = calloc(1, sizeof(*c));
    if (!c || uv_poll_init(d->poll.loop, &c->poll, fd)) {
        free(c);
        close(fd);
        return NULL;
    }
    c->poll.data = c;
    c->door = d;
    c->fd = fd;
    c->heard_ns = clock_mono_ns();
    c->out.ceiling = OUT_MAX;
    c->next = d->conns;
    d->conns = c;
    d->handles++;
    return c;
}

static void
let_in(struct door *d, int fd)
{
    struct ipc_peer peer;
    if (ipc_peer(fd, &peer) || peer.uid != geteuid()) {
        close(fd);
        return;
    }
    make_room(d);
    struct conn *c = add_conn(d, fd);
    if (!c)
        return;
    if (!d->calls.allows_self && ipc_is_inside(peer.pid, getpid(), d->id))
        refuse(c, "a program inside of a session may not control it");
    settle(c);
}

static void on_door(uv_poll_t *poll, int status, int events);

static void
on_timer(uv_timer_t *timer)
{
    struct door *d = timer->data;
    uv_poll_start(&d->poll, UV_READABLE, on_door);
}

static void
on_door(uv_poll_t *poll, int status, int events)
{
    struct door *d = poll->data;
    (void)status;
    (void)events;
    for (int i = 0; i < ACCEPT_MAX; i++) {
        int fd = ipc_accept(d->fd);
        if (ipc_is_out_of_room(fd)) {
            uv_poll_stop(poll);
            uv_timer_start(&d->timer, on_timer, DOOR_WAIT_MS, 0);
        }
        if (fd < 0)
            break;
        let_in(d, fd);
    }
}

/* -- open and close -- */

static int
listen_at(struct door *d, struct err *err)
{
    AUTO(buf) path = { 0 };
    int r = session_sockets_make(buf_str(&d->live_dir), d->id, &path, err);
    if (r < 0)
        return r;
    buf_puts(&path, "/" SESSION_CTL_SOCK);
    d->fd = ipc_listen(buf_str(&path), err);
    return d->fd < 0 ? d->fd : 0;
}

static void
on_door_closed(uv_handle_t *handle)
{
    count_down(handle->data);
}

int
door_open(struct door **ret, uv_loop_t *loop, const char *live_dir, const char *id,
          const struct door_calls *calls, struct err *err)
{
    struct door *d = calloc(1, sizeof(*d));
    if (!d)
        return err_code(err, -ENOMEM, "cannot open a socket for 'ahr send'");
    d->calls = *calls;
    d->fd = NO_FD;
    memcpy(d->id, id, strnlen(id, SESSION_ID_LEN));
    buf_puts(&d->live_dir, live_dir);
    int r = listen_at(d, err);
    if (!r && uv_poll_init(loop, &d->poll, d->fd))
        r = err_set(err, -EIO, "cannot wait for those who come to '%s/ctl.sock'",
                    live_dir);
    if (r < 0) {
        if (d->fd >= 0)
            close(d->fd);
        session_sockets_remove(live_dir);
        free_door(d);
        return r;
    }
    uv_timer_init(loop, &d->timer);
    d->handles = 2;
    d->poll.data = d->timer.data = d;
    uv_poll_start(&d->poll, UV_READABLE, on_door);
    *ret = d;
    return 0;
}

void
door_close(struct door *d)
{
    if (!d)
        return;
    while (d->conns)
        drop_conn(d->conns);
    uv_poll_stop(&d->poll);
    close(d->fd);
    d->fd = NO_FD;
    session_sockets_remove(buf_str(&d->live_dir));
    uv_close((uv_handle_t *)&d->timer, on_door_closed);
    uv_close((uv_handle_t *)&d->poll, on_door_closed);
}
