/* SPDX-License-Identifier: MIT */
/*
 * door.c -- the sockets that others come to, and who is let in.
 *
 * ctl.sock is for this user's programs outside of the session, ipc.sock (or TCP on
 * loopback, with a token) for those inside of it.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include "host/host_priv.h"
#include "session/sockets.h"

enum {
    ACCEPT_MAX = 32,    /* at once, so that the agent is not kept waiting */
    DOOR_WAIT_MS = 200, /* when there is no room for another descriptor */
    CONNS_MAX = 512,
    OWN_FILES = 64, /* descriptors that are kept for the recording and the mirror */
};

/* -- open -- */

static int
listen_at(struct host *h, struct door *d, const char *name, struct err *err)
{
    AUTO(buf) path = { 0 };
    buf_printf(&path, "%s/%s", buf_str(&h->sockets_dir), name);
    int fd = ipc_listen(buf_str(&path), err);
    if (fd >= 0)
        d->fd = fd;
    return fd < 0 ? fd : 0;
}

static int
make_token(struct host *h)
{
    uint8_t bytes[HOST_TOKEN_LEN / 2];
    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return -EIO;
    for (size_t i = 0; i < sizeof(bytes); i++)
        snprintf(h->token + 2 * i, 3, "%02x", bytes[i]);
    return 0;
}

static int
listen_tcp(struct host *h, struct door *d, struct err *err)
{
    if (make_token(h) < 0)
        return err_set(err, -EIO, "cannot make a token");
    int fd = ipc_listen_tcp(&h->opt->ipc, &d->port, err);
    if (fd < 0)
        return fd;
    d->fd = fd;
    d->is_tcp = true;
    return 0;
}

static int
open_all(struct host *h, struct err *err)
{
    int r = session_sockets_make(h->folder.dir, h->opt->id, &h->sockets_dir, err);
    if (!r)
        r = listen_at(h, &h->doors[0], SESSION_CTL_SOCK, err);
    if (!r && h->opt->ipc_kind != HOST_IPC_OFF && h->opt->ipc_kind != HOST_IPC_TCP)
        r = listen_at(h, &h->doors[1], SESSION_IPC_SOCK, err);
    return r;
}

int
host_doors_open(struct host *h, struct err *err)
{
    h->doors[0] = (struct door){ .fd = -1, .kind = CONN_CTL };
    h->doors[1] = (struct door){ .fd = -1, .kind = CONN_IPC };
    int r = open_all(h, &h->door_trouble);
    if (!r)
        h->door_trouble.code = 0;
    else if (h->opt->ipc_kind == HOST_IPC_UDS)
        return *err = h->door_trouble, r;
    return h->opt->ipc_kind == HOST_IPC_TCP ? listen_tcp(h, &h->doors[1], err) : 0;
}

/* -- who comes -- */

/* Visitors must not take the last descriptors: files are still to be opened. */
size_t
host_conns_max(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur >= CONNS_MAX + OWN_FILES)
        return CONNS_MAX;
    return files.rlim_cur > (rlim_t)2 * OWN_FILES ? (size_t)files.rlim_cur - OWN_FILES
                                                  : (size_t)files.rlim_cur / 2;
}

static bool
is_user(int fd, struct ipc_peer *ret)
{
    return !ipc_peer(fd, ret) && ret->uid == geteuid();
}

static void
let_in(struct host *h, struct door *d, int fd)
{
    struct ipc_peer peer = { 0 };
    if (!d->is_tcp && !is_user(fd, &peer)) {
        host_log(h, "another user was refused");
        close(fd);
        return;
    }
    if (!host_make_room(h)) {
        close(fd);
        return;
    }
    struct conn *c = host_add_conn(h, fd, d->kind);
    if (!c)
        return;
    c->must_auth = d->is_tcp;
    if (d->kind == CONN_CTL && !h->opt->allows_self &&
        ipc_is_inside(peer.pid, getpid(), h->opt->id))
        host_refuse(h, c,
                    "a program inside of a session may not control it ('ahr record "
                    "--allow-self' lets it)");
}

static void
on_door_timer(uv_timer_t *timer)
{
    struct host *h = timer->data;
    host_doors_init(h);
}

static void
on_door(uv_poll_t *poll, int status, int events)
{
    struct door *d = poll->data;
    struct host *h = poll->loop->data;
    (void)status;
    (void)events;
    for (int i = 0; i < ACCEPT_MAX; i++) {
        int fd = ipc_accept(d->fd);
        if (ipc_is_out_of_room(fd)) {
            uv_poll_stop(poll);
            uv_timer_start(&h->door_timer, on_door_timer, DOOR_WAIT_MS, 0);
        }
        if (fd < 0)
            break;
        let_in(h, d, fd);
    }
    host_loop_update(h);
}

int
host_doors_init(struct host *h)
{
    int r = 0;
    for (size_t i = 0; !r && i < sizeof(h->doors) / sizeof(h->doors[0]); i++) {
        struct door *d = &h->doors[i];
        if (d->fd < 0)
            continue;
        if (!d->poll.data)
            r = uv_poll_init(&h->loop, &d->poll, d->fd);
        d->poll.data = d;
        if (!r)
            r = uv_poll_start(&d->poll, UV_READABLE, on_door);
    }
    return r;
}

void
host_doors_close(struct host *h)
{
    uv_timer_stop(&h->door_timer);
    for (size_t i = 0; i < sizeof(h->doors) / sizeof(h->doors[0]); i++) {
        struct door *d = &h->doors[i];
        if (d->fd < 0)
            continue;
        uv_poll_stop(&d->poll);
        close(d->fd);
        d->fd = -1;
    }
    session_sockets_remove(h->folder.dir);
}
