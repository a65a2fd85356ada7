/* SPDX-License-Identifier: MIT */
#include "client/lag_priv.h"

enum {
    FULL = 256 << 10, /* so much waits: is it taken? */
    LOOK_MS = 100,    /* … so much within this time, and nothing is dropped */
    WARY = 64 << 10,  /* the same for one that was too slow lately: at once */
    WARY_MS = 2000,
    REST_MS = 100, /* between a drop and the repaint */
};

#define NS_A_MS 1000000ULL

static bool
is_wary(const struct show *s, uint64_t now_ns)
{
    return s->lag_ns && now_ns - s->lag_ns < WARY_MS * NS_A_MS;
}

static bool
is_too_slow(struct show *s, uint64_t now_ns)
{
    size_t waiting = pty_output_waiting(&s->out);
    if (is_wary(s, now_ns))
        return waiting > WARY + s->picture_bytes;
    if (waiting <= FULL) {
        s->full_ns = 0;
        return false;
    }
    if (s->full_ns && now_ns - s->full_ns < LOOK_MS * NS_A_MS)
        return false;
    bool is_slow = s->full_ns && s->out.taken - s->full_taken < FULL;
    s->full_ns = now_ns;
    s->full_taken = s->out.taken;
    return is_slow;
}

void
lag_check(struct show *s, uint64_t now_ns)
{
    if (s->way != SHOW_PASSING || !s->has_stage || s->is_stopping || s->is_paused ||
        s->awaits_skip)
        return;
    if (is_too_slow(s, now_ns)) {
        lag_pause(s);
        s->lag_ns = now_ns;
    } else if (s->model.term && !is_wary(s, now_ns)) {
        model_release(&s->model); /* it keeps pace again */
    }
}

static int
ms_left(uint64_t from_ns, uint64_t ms, uint64_t now_ns)
{
    uint64_t gone = (now_ns - from_ns) / NS_A_MS;
    return gone < ms ? (int)(ms - gone) : 0;
}

int
lag_wait_ms(const struct show *s, uint64_t now_ns)
{
    if (s->way != SHOW_PASSING || !s->has_stage)
        return -1;
    if (s->is_paused) {
        int ms = ms_left(s->lag_ns, REST_MS, now_ns);
        return ms ? ms : -1;
    }
    if (s->full_ns && pty_output_waiting(&s->out) > FULL)
        return ms_left(s->full_ns, LOOK_MS, now_ns);
    return -1;
}

bool
lag_wants_room(const struct show *s, uint64_t now_ns)
{
    return s->is_paused && s->way == SHOW_PASSING && !ms_left(s->lag_ns, REST_MS, now_ns);
}

static void
say_pause(struct show *s, bool is_paused, uint64_t off)
{
    link_say(s->link,
             &(struct ipc_message){ .selector = IPC_PAUSE, .field = { is_paused, off } });
}

void
lag_pause(struct show *s)
{
    size_t waiting = pty_output_waiting(&s->out);
    uint64_t off = s->next_off;
    if (s->is_paused)
        return;
    if (s->way == SHOW_PASSING && waiting)
        off = off - s->picture_off > waiting ? off - waiting : s->picture_off;
    queue_clear(&s->out.waiting);
    s->is_paused = true;
    s->awaits_skip = false;
    s->full_ns = 0;
    s->picture_bytes = 0;
    say_pause(s, true, off);
}

void
lag_unpause(struct show *s)
{
    if (!s->is_paused)
        return;
    s->is_paused = false;
    s->awaits_skip = true;
    say_pause(s, false, 0);
}
