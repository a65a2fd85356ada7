/* SPDX-License-Identifier: MIT */
/*
 * auto.c -- automatic snapshots of the files around the session.
 *
 * Another program takes them (this one, as `ahr fs auto`), behind all that has something
 * to do: reading files is slow, and whatever goes wrong there is no harm to the
 * recording. It ends when its connection does, however the host has ended; one that is
 * gone is not started again.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/host_priv.h"
#include "session/upkeep.h"

static int
start(struct host *h)
{
    const struct host_options *o = h->opt;
    char rest[24], since[24];
    int ends[2];
    if (!o->cwd)
        return -ENOENT;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return -errno;
    snprintf(rest, sizeof(rest), "%llu", (unsigned long long)o->rest_s);
    snprintf(since, sizeof(since), "%llu", (unsigned long long)o->clock.real_ns);
    const char *argv[] = {
        "fs",  "auto", o->is_indexed ? "--upkeep=auto" : "--upkeep=off",
        "--",  o->id,  rest,
        since, o->cwd, o->out_file,
        NULL
    };
    int r = session_upkeep_start(o->home, argv, ends[1], &h->taker_pid);
    close(ends[1]);
    if (r < 0) {
        close(ends[0]);
        return r;
    }
    h->taker = host_add_conn(h, ends[0], CONN_TAKER);
    return h->taker ? 0 : -ENOMEM;
}

void
host_start_taker(struct host *h)
{
    int r = h->opt->rest_s ? start(h) : 0;
    if (r < 0)
        host_log(h, "no automatic snapshots: %s", strerror(-r));
}

void
host_lose_taker(struct host *h)
{
    host_drop_conn(h, h->taker);
    if (!h->is_over)
        host_log(h, "no automatic snapshots any more: 'ahr fs auto' is gone");
}

void
host_reap_taker(struct host *h)
{
    if (h->taker_pid && waitpid(h->taker_pid, NULL, WNOHANG) == h->taker_pid)
        h->taker_pid = 0;
}

void
host_note_said(struct host *h, struct conn *c, const struct ipc_message *m)
{
    (void)c;
    host_log(h, "automatic snapshots: %.*s", (int)m->bytes.n, (const char *)m->bytes.p);
}

void
host_dismiss_taker(struct host *h)
{
    if (!h->taker)
        return;
    conn_send(h->taker, &(struct ipc_message){
                            .selector = IPC_DONE,
                            .field = { 0, h->recorder.byte_off, h->meta.ended_at_ns } });
    conn_flush(h->taker, &h->reel);
    host_drop_conn(h, h->taker);
}
