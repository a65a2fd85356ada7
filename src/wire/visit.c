/* SPDX-License-Identifier: MIT */
/* visit.c -- what those who come to the ctl.sock of a proxy's session ask for. */
#include <errno.h>

#include "wire/wire_priv.h"

static int
refuse(struct err *err)
{
    return err_set(err, -EPIPE, "the session is of 'ahr proxy', which runs no command");
}

static int
on_input(void *ctx, struct view bytes, struct err *err)
{
    (void)ctx, (void)bytes;
    return refuse(err);
}

static int
on_instruct(void *ctx, const struct ipc_message *m, struct ipc_message *ret,
            struct err *err)
{
    (void)ctx, (void)m, (void)ret;
    return refuse(err);
}

static void
on_stop(void *ctx, int signo)
{
    wire_stop(ctx, WIRE_SIGNAL, signo);
}

static uint64_t
since_start_ns(const struct wire *w, uint64_t *ret_now)
{
    *ret_now = clock_now_ns(&w->opt->place->clock);
    return *ret_now - w->opt->place->clock.real_ns;
}

static void
on_status(void *ctx, struct ipc_message *ret)
{
    uint64_t now_ns;
    *ret = (struct ipc_message){ .selector = IPC_STATE,
                                 .field = { 0, since_start_ns(ctx, &now_ns) } };
}

static void
on_anchor(void *ctx, struct ipc_message *ret)
{
    uint64_t now_ns;
    since_start_ns(ctx, &now_ns);
    *ret = (struct ipc_message){ .selector = IPC_DONE, .field = { 0, 0, now_ns } };
}

int
wire_visit_open(struct wire *w, struct err *err)
{
    const struct wire_place *at = w->opt->place;
    const struct door_calls calls = { .on_input = on_input,
                                      .on_stop = on_stop,
                                      .on_instruct = on_instruct,
                                      .on_status = on_status,
                                      .on_anchor = on_anchor,
                                      .ctx = w,
                                      .allows_self = true };
    return at ? door_open(&w->visitors, &w->loop, at->dir, at->id, &calls, err) : 0;
}

void
wire_visit_close(struct wire *w)
{
    door_close(w->visitors);
    w->visitors = NULL;
}
