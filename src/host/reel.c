/* SPDX-License-Identifier: MIT */
#include "host/reel_priv.h"

#include <assert.h>

#include "base/le.h"

int
reel_put(struct reel *r, const struct ipc_message *m)
{
    return ipc_message_put(&r->b, m, IPC_TO_CLIENT);
}

uint64_t
reel_end(const struct reel *r)
{
    return r->start + r->b.n;
}

struct view
reel_from(const struct reel *r, uint64_t pos)
{
    assert(pos >= r->start && pos <= reel_end(r));
    if (pos == reel_end(r))
        return (struct view){ 0 };
    return (struct view){ r->b.p + (pos - r->start), (size_t)(reel_end(r) - pos) };
}

uint64_t
reel_frame_end(const struct reel *r, uint64_t pos)
{
    return pos + IPC_FRAME_HEAD + get_le32(reel_from(r, pos).p);
}

uint64_t
reel_output_from(const struct reel *r, uint64_t pos, uint64_t off)
{
    struct ipc_frame frame;
    struct ipc_message m;
    for (; pos < reel_end(r); pos = reel_frame_end(r, pos))
        if (ipc_frame_get(reel_from(r, pos), &frame) > 0 &&
            frame.selector == IPC_OUTPUT && !ipc_message_get(&m, &frame, IPC_TO_CLIENT))
            return m.field[0];
    return off;
}

/* Not before it is twice as long: what stays is moved. */
uint64_t
reel_wanted_start(const struct reel *r)
{
    uint64_t pos = r->start;
    if (r->b.n < 2 * (size_t)REEL_KEEP)
        return pos;
    while (reel_end(r) - pos > REEL_KEEP)
        pos = reel_frame_end(r, pos);
    return pos;
}

void
reel_forget(struct reel *r, uint64_t pos)
{
    size_t n = (size_t)(pos - r->start);
    if (n && n < r->b.n)
        memmove(r->b.p, r->b.p + n, r->b.n - n);
    r->b.n -= n;
    r->start = pos;
}

void
reel_release(struct reel *r)
{
    buf_release(&r->b);
}
