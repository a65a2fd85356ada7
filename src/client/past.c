/* SPDX-License-Identifier: MIT */
#include "client/past_priv.h"

#include <errno.h>

#include "base/clock.h"

enum {
    SLICE_MS = 8,
    BUSY_SLICE_MS = 4, /* … while there is other work, */
    BUSY_REST_MS = 20, /* … and so often */
    PIECE = 64 << 10,  /* of data, between two looks at the clock */
    STALL_MS = 100,
    STALLS_MAX = 50, /* then bytes are missing in the recording */
};

#define NS_A_MS 1000000ULL

bool
past_begin(struct past *p, const struct model_tape *tape)
{
    struct play_roll_options opt = { 0 };
    struct err ignored;
    past_release(p);
    p->path = model_tape_path(tape);
    return play_roll_open(&p->roll, tape_io_files(), p->path, &opt, &ignored) >= 0;
}

void
past_release(struct past *p)
{
    if (p->roll)
        play_roll_close(p->roll);
    *p = (struct past){ 0 };
}

int
past_wait_ms(const struct past *p, uint64_t now_ns)
{
    if (!p->roll)
        return -1;
    uint64_t ms = p->stalled_ns ? (now_ns - p->stalled_ns) / NS_A_MS : STALL_MS;
    return ms < STALL_MS ? (int)(STALL_MS - ms) : 0;
}

static int
stall(struct past *p, uint64_t now_ns)
{
    p->stalled_ns = now_ns;
    return ++p->stalls < STALLS_MAX ? 0 : -ENODATA;
}

bool
past_is_due(const struct past *p, uint64_t now_ns)
{
    return now_ns - p->read_ns >= BUSY_REST_MS * NS_A_MS;
}

int
past_read(struct past *p, uint64_t until_byte, bool is_busy, uint64_t now_ns)
{
    uint64_t from = play_roll_byte(p->roll);
    uint64_t slice_ns = (is_busy ? BUSY_SLICE_MS : SLICE_MS) * NS_A_MS;
    int r = 1;
    p->stalled_ns = 0;
    p->read_ns = now_ns;
    while (r > 0 && clock_mono_ns() - now_ns < slice_ns)
        r = play_roll_read(p->roll, until_byte, PIECE);
    if (r < 0)
        return r;
    uint64_t at = play_roll_byte(p->roll);
    if (at == until_byte)
        return 1;
    if (at > from)
        p->stalls = 0;
    return r ? 0 : stall(p, now_ns);
}

struct term *
past_take(struct past *p, struct play_stamps *ret)
{
    struct term *t = play_roll_take(p->roll);
    play_stamps_release(ret);
    *ret = play_roll_take_stamps(p->roll);
    past_release(p);
    return t;
}

unsigned
past_permille(const struct past *p, uint64_t bytes)
{
    uint64_t at = p->roll ? play_roll_byte(p->roll) : bytes;
    return at < bytes ? (unsigned)((double)at * 1000 / (double)bytes) : 1000;
}
