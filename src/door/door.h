/* SPDX-License-Identifier: MIT */
/*
 * door.h -- ctl.sock of a run, in live/<id>: Status, Input, Stop, Anchor and
 * Instruct; what else a recorder would do is refused with the reason. doc/ipc.md.
 *
 * A peer that is of another user, or of the run itself, is refused. Connections are few
 * (at most 16; the one that was silent the longest makes room), one that does not read
 * its answers is dropped, and none is ever waited for.
 */
#ifndef DOOR_DOOR_H
#define DOOR_DOOR_H

#include <uv.h>

#include "ipc/message.h"

/* What those who ask are told, or ask for. Those who fail say why in *err: the asker is
 * told that. */
struct door_calls {
    /* The text is for the command's input; 0, or a negative code. */
    int (*on_input)(void *ctx, struct view bytes, struct err *err);
    void (*on_stop)(void *ctx, int signo);
    int (*on_instruct)(void *ctx, const struct ipc_message *m, struct ipc_message *ret,
                       struct err *err);
    void (*on_status)(void *ctx, struct ipc_message *ret); /* IPC_STATE */
    void (*on_anchor)(void *ctx, struct ipc_message *ret); /* IPC_DONE */
    void *ctx;
    bool allows_self; /* open to those inside of the session too */
};

struct door;

/* live_dir: of the session. The calls are copied; none of them may close the door. */
int door_open(struct door **ret, uv_loop_t *loop, const char *live_dir, const char *id,
              const struct door_calls *calls, struct err *err);
/* Hangs up on all, removes the socket; NULL: nothing. The loop must run once more before
 * it ends: that frees it. */
void door_close(struct door *d);

#endif
