/* SPDX-License-Identifier: MIT */
/*
 * control.h -- the recorder that has started us: how many bytes the session's terminal
 * has shown, what it tells us, what we tell it.
 *
 * It answers in some 50 us unless it is stuck: who needs the place exactly waits for
 * that, and when it does not come for 250 ms nobody waits until it has come. Everybody
 * else takes what was said last, which is asked for anew every 10 ms at most. It is never
 * more than what was shown at that moment.
 */
#ifndef WIRE_CONTROL_H
#define WIRE_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/inbox.h"

struct wire_control {
    int fd;           /* non-blocking, borrowed */
    bool is_over;     /* it says nothing any more, but may listen */
    bool has_anchors; /* there is a terminal */
    uint64_t byte;    /* as it was said last; IPC_NONE: never */
    uint64_t at_ns;   /* … then; monotonic */
    bool is_asked;    /* an answer is on its way */
    bool is_slow;     /* … and nobody waits for it any more */
    struct ipc_inbox in;
    /* Whatever else it tells. */
    void (*take)(void *ctx, const struct ipc_message *m);
    void *ctx;
};

void wire_control_init(struct wire_control *c, int fd, bool has_anchors);
void wire_control_release(struct wire_control *c);
/* As exactly as it is to be had; IPC_NONE: it is not. */
uint64_t wire_control_anchor(struct wire_control *c);
/* As it is known. */
uint64_t wire_control_late_anchor(struct wire_control *c);
/* It has said something. False: it never will again. */
bool wire_control_hear(struct wire_control *c);
/* Tells it; what it does not take at once is lost. */
void wire_control_tell(struct wire_control *c, const struct ipc_message *m);

#endif
