/* SPDX-License-Identifier: MIT */
/*
 * input.c -- input of all clients on its way to the PTY.
 *
 * What the client of `ahr record` reads from a pipe goes through the line discipline;
 * what anybody types, and what the mirror answers, goes as it is. The two do not mix
 * inside of what one of them has begun to write.
 */
#include "host/host_priv.h"

enum {
    INPUT_WAIT_MS = 5, /* a PTY does not always tell that it has room */
    INPUT_WAIT_MAX_MS = 320,
};

static bool
is_piped(const struct host *h, const struct conn *c)
{
    return c && c == h->link && h->opt->is_input_piped;
}

/* Together with whose it is, or not at all. */
static int
add_typed(struct host *h, struct conn *c, struct view bytes)
{
    struct debt debt = { c ? c->number : 0, bytes.n };
    int r = buf_reserve(&h->debts, sizeof(debt));
    if (!r)
        r = feeder_add(&h->typed, bytes);
    return r < 0 ? r : buf_append(&h->debts, &debt, sizeof(debt));
}

void
host_input(struct host *h, struct conn *c, struct view bytes)
{
    if (!bytes.n || h->has_exited)
        return;
    /* A program that asks and does not read is not answered for ever. */
    if (!c && feeder_waiting(&h->typed) > HOST_INPUT_MAX)
        return;
    int r = is_piped(h, c) ? feeder_add(&h->piped, bytes) : add_typed(h, c, bytes);
    if (c && !r)
        c->input_bytes += bytes.n;
    host_pump_input(h);
}

void
host_input_end(struct host *h)
{
    feeder_end(&h->piped);
    host_pump_input(h);
}

bool
host_input_waits(const struct host *h)
{
    return feeder_has_waiting(&h->typed) || feeder_has_waiting(&h->piped);
}

static void
tell_taken(struct host *h, struct conn *c, size_t n)
{
    if (!c || !n)
        return;
    c->input_bytes -= n < c->input_bytes ? n : c->input_bytes;
    conn_send(c, &(struct ipc_message){ .selector = IPC_TAKEN, .field = { n } });
    conn_flush(c, &h->reel);
}

static void
pay_debts(struct host *h, size_t n)
{
    while (n && h->debts_at < h->debts.n) {
        struct debt d;
        memcpy(&d, h->debts.p + h->debts_at, sizeof(d));
        size_t paid = n < d.n ? n : d.n;
        tell_taken(h, host_find_conn(h, d.number), paid);
        n -= paid;
        d.n -= paid;
        memcpy(h->debts.p + h->debts_at, &d, sizeof(d));
        if (!d.n)
            h->debts_at += sizeof(d);
    }
    size_t left = h->debts.n - h->debts_at;
    if (h->debts_at <= left)
        return;
    if (left)
        memmove(h->debts.p, h->debts.p + h->debts_at, left);
    h->debts.n = left;
    h->debts_at = 0;
}

void
host_pump_input(struct host *h)
{
    size_t piped = 0, typed = 0;
    if (feeder_is_begun(&h->piped))
        piped = feeder_pump(&h->piped);
    if (!feeder_is_begun(&h->piped))
        typed = feeder_pump(&h->typed);
    if (!feeder_is_begun(&h->typed))
        piped += feeder_pump(&h->piped);
    h->input_wait_ms = piped + typed                          ? INPUT_WAIT_MS
                       : h->input_wait_ms < INPUT_WAIT_MAX_MS ? h->input_wait_ms * 2
                                                              : h->input_wait_ms;
    tell_taken(h, h->link, piped);
    pay_debts(h, typed);
}

static void
on_input(uv_timer_t *timer)
{
    struct host *h = timer->data;
    host_pump_input(h);
    host_loop_update(h);
}

void
host_input_update(struct host *h)
{
    host_set_timer(&h->input_timer, on_input, host_input_waits(h) && !h->has_exited,
                   h->input_wait_ms ? h->input_wait_ms : INPUT_WAIT_MS);
}
