/* SPDX-License-Identifier: MIT */
#include "wire/control.h"

#include <poll.h>
#include <sys/socket.h>

#include "base/clock.h"

enum { WAIT_MS = 250, FRESH_MS = 10 };

static const uint64_t NS_A_MS = 1000000;

void
wire_control_init(struct wire_control *c, int fd, bool has_anchors)
{
    *c = (struct wire_control){ .fd = fd, .has_anchors = has_anchors, .byte = IPC_NONE };
}

void
wire_control_release(struct wire_control *c)
{
    ipc_inbox_release(&c->in);
}

/* Only anchors are asked for. */
static void
take(struct wire_control *c, const struct ipc_message *m)
{
    if (m->selector != IPC_DONE && m->selector != IPC_REFUSED) {
        if (c->take)
            c->take(c->ctx, m);
        return;
    }
    c->is_asked = c->is_slow = false;
    if (m->selector == IPC_DONE) {
        c->byte = m->field[1];
        c->at_ns = clock_mono_ns();
    }
}

bool
wire_control_hear(struct wire_control *c)
{
    struct ipc_message m;
    int r = 1;
    while (!c->is_over && (r = ipc_inbox_next(&c->in, c->fd, IPC_TO_CLIENT, &m)) > 0)
        take(c, &m);
    c->is_over |= r < 0;
    return !c->is_over;
}

static bool
send_frame(struct wire_control *c, const struct ipc_message *m)
{
    AUTO(buf) frame = { 0 };
    return ipc_message_put(&frame, m, IPC_TO_HOST) == 0 &&
           send(c->fd, frame.p, frame.n, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)frame.n;
}

void
wire_control_tell(struct wire_control *c, const struct ipc_message *m)
{
    (void)send_frame(c, m);
}

static void
ask(struct wire_control *c)
{
    if (c->has_anchors && !c->is_asked && !c->is_over)
        c->is_asked = send_frame(c, &(struct ipc_message){ .selector = IPC_ANCHOR });
}

static void
wait_for_answer(struct wire_control *c, uint64_t due_ns)
{
    while (c->is_asked && !c->is_over) {
        struct pollfd p = { .fd = c->fd, .events = POLLIN };
        uint64_t left_ms = clock_left_ms(due_ns, clock_mono_ns());
        c->is_slow = left_ms == 0;
        if (c->is_slow || poll(&p, 1, (int)left_ms) < 0)
            return;
        wire_control_hear(c);
    }
}

uint64_t
wire_control_anchor(struct wire_control *c)
{
    uint64_t due_ns = clock_mono_ns() + WAIT_MS * NS_A_MS;
    bool is_late = c->is_asked; /* what is answered first may be from before */
    for (int rounds = is_late ? 2 : 1; rounds > 0 && !c->is_slow; rounds--) {
        ask(c);
        wait_for_answer(c, due_ns);
    }
    return c->byte;
}

uint64_t
wire_control_late_anchor(struct wire_control *c)
{
    if (!c->has_anchors)
        return IPC_NONE;
    wire_control_hear(c);
    if (clock_mono_ns() - c->at_ns >= FRESH_MS * NS_A_MS)
        ask(c);
    return c->byte;
}
