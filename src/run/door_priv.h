/* SPDX-License-Identifier: MIT */
/*
 * door_priv.h -- ctl.sock of a run, in live/<id>: Status, Input, Stop, Anchor and
 * Instruct; what else a recorder would do is refused with the reason. doc/ipc.md.
 *
 * A peer that is of another user, or of the run itself, is refused. Connections are few
 * (at most 16), slow ones are dropped, and none is ever waited for.
 */
#ifndef RUN_DOOR_PRIV_H
#define RUN_DOOR_PRIV_H

#include <uv.h>

#include "ipc/message.h"

/* What those who ask are told, or ask for. */
struct run_door_calls {
    /* The text is for the command's input; 0, or -errno with the reason in *err. */
    int (*on_input)(void *ctx, struct view bytes, struct err *err);
    void (*on_stop)(void *ctx, int signo);
    int (*on_instruct)(void *ctx, const struct ipc_message *m, struct ipc_message *ret,
                       struct err *err);
    void (*on_status)(void *ctx, struct ipc_message *ret); /* IPC_STATE */
    void (*on_anchor)(void *ctx, struct ipc_message *ret); /* IPC_DONE */
    void *ctx;
};

struct run_door;

/* live_dir: of the session. is_open to those inside of the session too: allows_self. */
int run_door_open(struct run_door **ret, uv_loop_t *loop, const char *live_dir,
                  const char *id, const struct run_door_calls *calls, struct err *err);
/* Hangs up on all, removes the socket. The loop must run once more before it ends. */
void run_door_close(struct run_door *d);

#endif
