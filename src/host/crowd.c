/* SPDX-License-Identifier: MIT */
/*
 * crowd.c -- all connections: who is sent what, and who is too slow.
 *
 * Only the client of `ahr record` may hold the command up: one that must have every byte
 * for as long as it likes, one that shows a terminal while it takes anything at all.
 * Whoever else lags is skipped forward, and those who do not read for half a minute go.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/host_priv.h"

enum {
    EXACT_FULL = 256 << 10, /* of output that waits for the link */
    LOSSY_FULL = 1 << 20,
    LAG_MS = 500,           /* a link that takes nothing for so long is skipped */
    WATCH_MS = 16,          /* watchers are sent what came in this time together */
    CALM_MS = 20,           /* no output for so long: the flood is over */
    SKIP_MS = 250,          /* one that is skipped goes on after this, flood or not … */
    SKIP_MIRROR_MS = 5000,  /* … the mirror after this */
    MIRROR_LAG = 256 << 10, /* it is skipped sooner than others: a flood is not for it */
    CARE_MS = 500,
    DEAF_MS = 30000,
    SILENT_MS = 10000,   /* for those who come in and ask nothing */
    TAKING_MS = 3600000, /* … or have asked for an anchor, and take a snapshot now */
    LEAVE_MS = 1000,
    MESSAGES_AT_ONCE = 64,
    REQUESTERS_MAX = 64,
    REPLIES_MAX = 1024, /* that wait for a sync: who is owed so many is heard later */
};

static bool
is_since(uint64_t since_ns, uint64_t ms)
{
    return since_ns && clock_mono_ns() - since_ns >= ms * HOST_NS_A_MS;
}

/* -- coming and going -- */

static void on_conn(uv_poll_t *poll, int status, int events);

static int
start_polling(struct host *h, struct conn *c)
{
    int r = uv_poll_init(&h->loop, &c->poll, c->fd);
    if (r)
        return r;
    c->poll.data = c;
    c->events = UV_READABLE;
    (void)uv_poll_start(&c->poll, c->events,
                        on_conn); /* of one that is open: never fails */
    return 0;
}

struct conn *
host_add_conn(struct host *h, int fd, enum conn_kind kind)
{
    struct conn *c = malloc(sizeof(*c));
    if (!c) {
        close(fd);
        return NULL;
    }
    conn_init(c, fd, kind);
    c->number = ++h->last_number;
    if (h->loop.data && start_polling(h, c)) {
        conn_close(c);
        free(c);
        return NULL;
    }
    c->next = h->conns;
    h->conns = c;
    return c;
}

int
host_crowd_init(struct host *h)
{
    return h->link ? start_polling(h, h->link) : 0;
}

static void
free_conn(uv_handle_t *handle)
{
    free(handle->data);
}

void
host_drop_conn(struct host *h, struct conn *c)
{
    uint64_t unshown = conn_behind(c, &h->reel)
                           ? reel_output_from(&h->reel, c->frame_at, h->recorder.byte_off)
                           : IPC_NONE;
    struct conn **at = &h->conns;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    h->link = h->link == c ? NULL : h->link;
    h->mirror = h->mirror == c ? NULL : h->mirror;
    h->taker = h->taker == c ? NULL : h->taker;
    uv_poll_stop(&c->poll);
    uv_close((uv_handle_t *)&c->poll, free_conn);
    conn_close(c);
    if (!h->is_over)
        host_set_stage(h, unshown);
}

struct conn *
host_find_conn(struct host *h, uint32_t number)
{
    struct conn *c = h->conns;
    while (c && c->number != number)
        c = c->next;
    return c;
}

static bool
is_requester(const struct conn *c)
{
    return (c->kind & (CONN_CTL | CONN_IPC)) && !c->is_subscribed;
}

static bool
is_idle(const struct conn *c)
{
    return is_requester(c) && !c->waiting_replies && !c->input_bytes;
}

/* Those who take a snapshot are silent for a reason. */
static bool
goes_before(const struct conn *a, const struct conn *b)
{
    return a->has_anchor != b->has_anchor ? b->has_anchor : a->heard_ns < b->heard_ns;
}

bool
host_make_room(struct host *h)
{
    struct conn *oldest = NULL;
    size_t n = 0, all = 0, max = host_conns_max();
    for (struct conn *c = h->conns; c; c = c->next, all++) {
        n += is_requester(c);
        if (is_idle(c) && (!oldest || goes_before(c, oldest)))
            oldest = c;
    }
    if (oldest && (n >= REQUESTERS_MAX || all >= max)) {
        host_drop_conn(h, oldest);
        all--;
    }
    return all < max;
}

void
host_count_clients(struct host *h, uint64_t *ret_clients, uint64_t *ret_watchers)
{
    *ret_clients = *ret_watchers = 0;
    for (const struct conn *c = h->conns; c; c = c->next)
        if (c->is_subscribed && c->kind != CONN_MIRROR)
            ++*(c->is_watcher ? ret_watchers : ret_clients);
}

/* -- what they say -- */

static void
lose(struct host *h, struct conn *c)
{
    if (c == h->link)
        host_lose_link(h);
    else if (c == h->mirror)
        host_lose_mirror(h);
    else if (c == h->taker)
        host_lose_taker(h);
    else
        host_drop_conn(h, c);
}

/* A reply may still come to it. */
static bool
is_owed(const struct conn *c)
{
    return (c->waiting_replies && !c->is_broken) || conn_has_own(c);
}

static bool
is_heard(const struct conn *c)
{
    return c->waiting_replies < REPLIES_MAX;
}

static void
listen_to(struct host *h, struct conn *c)
{
    struct ipc_message m;
    int r = 1;
    for (int i = 0; i < MESSAGES_AT_ONCE && r > 0 && c->fd >= 0 && is_heard(c); i++) {
        r = conn_next(c, &m);
        if (r > 0 && !c->is_leaving) /* to one that leaves nobody listens */
            host_handle(h, c, &m);
    }
    c->has_more = r > 0;
    if (c->fd < 0)
        return;
    c->is_half_closed = r == -ECONNRESET && is_owed(c);
    if (c->is_half_closed)
        return;
    if (r < 0 && (c->kind & (CONN_CTL | CONN_IPC)) && r == -EPROTO && !c->is_leaving)
        host_refuse(h, c, "this is no request that is known here");
    else if (r < 0)
        lose(h, c);
}

/* Those who say much at once take turns. */
static void
on_talk(uv_timer_t *timer)
{
    struct host *h = timer->data;
    for (struct conn *c = h->conns, *next; c; c = next) {
        next = c->next;
        if (c->has_more)
            listen_to(h, c);
    }
    host_loop_update(h);
}

static void
on_conn(uv_poll_t *poll, int status, int events)
{
    struct conn *c = poll->data;
    struct host *h = poll->loop->data;
    if (status < 0)
        c->events = 0; /* libuv has stopped it */
    if (events & UV_WRITABLE)
        conn_flush(c, &h->reel);
    if (status < 0 || (events & UV_READABLE))
        listen_to(h, c);
    if (c->fd >= 0 && c->is_leaving && !conn_has_waiting(c, &h->reel))
        shutdown(c->fd, SHUT_WR);
    if (h->is_over)
        host_try_leave(h);
    host_loop_update(h);
}

/* -- what they are sent -- */

/* It was overtaken by what came since. */
static void
overtake(struct host *h, struct conn *c)
{
    if (c->awaits_picture) { /* too late: it can make one of the recording */
        host_rejoin(h, c);
        return;
    }
    if (c->is_paused || c->is_skipping)
        return;
    if (c == h->link) /* the stage follows: here it would drain the PTY in the midst */
        h->overtaken_off = reel_output_from(&h->reel, c->frame_at, h->recorder.byte_off);
    conn_skip(c, &h->reel);
}

static void
skip_all(struct host *h)
{
    for (struct conn *c = h->conns; c; c = c->next)
        if (c->is_subscribed)
            overtake(h, c);
    reel_forget(&h->reel, reel_end(&h->reel));
    reel_release(&h->reel);
}

void
host_broadcast(struct host *h, const struct ipc_message *m)
{
    if (reel_put(&h->reel, m) < 0) { /* no memory: they go on without it */
        skip_all(h);
        return;
    }
    uint64_t start = reel_wanted_start(&h->reel);
    if (start == h->reel.start)
        return;
    for (struct conn *c = h->conns; c; c = c->next)
        if (c->is_subscribed && c->frame_at < start)
            overtake(h, c);
    reel_forget(&h->reel, start);
}

/* What all have been sent is not kept. */
static void
forget_sent(struct host *h)
{
    for (const struct conn *c = h->conns; c; c = c->next)
        if (conn_behind(c, &h->reel) || c->awaits_picture)
            return;
    reel_forget(&h->reel, reel_end(&h->reel));
}

static void
flush_all(struct host *h, bool with_watchers)
{
    for (struct conn *c = h->conns; c; c = c->next)
        if (c->is_subscribed && (with_watchers || !c->is_watcher) && !c->stuck_ns)
            conn_flush(c, &h->reel);
    forget_sent(h);
}

void
host_show(struct host *h, struct view bytes, uint64_t off)
{
    while (bytes.n) {
        size_t n = bytes.n < IPC_MESSAGE_BYTES_MAX ? bytes.n
                                                   : (size_t)IPC_MESSAGE_BYTES_MAX;
        h->shown_off = off + n;
        host_broadcast(h, &(struct ipc_message){ .selector = IPC_OUTPUT,
                                                 .field = { off },
                                                 .bytes = { bytes.p, n } });
        bytes.p += n;
        bytes.n -= n;
        off += n;
    }
    flush_all(h, false);
    if (h->mirror && conn_behind(h->mirror, &h->reel) > MIRROR_LAG)
        conn_skip(h->mirror, &h->reel);
}

static void
on_watch(uv_timer_t *timer)
{
    struct host *h = timer->data;
    flush_all(h, true);
    host_loop_update(h);
}

/* -- who is too slow -- */

bool
host_is_full(const struct host *h)
{
    return h->link && conn_behind(h->link, &h->reel) >=
                          (size_t)(h->link->is_lossy ? LOSSY_FULL : EXACT_FULL);
}

static void
skip_lagging_link(struct host *h)
{
    struct conn *c = h->link;
    uint64_t unshown = reel_output_from(&h->reel, c->frame_at, h->recorder.byte_off);
    host_log(h, "the client lags: it is skipped forward");
    conn_skip(c, &h->reel);
    host_set_stage(h, unshown);
}

void
host_rejoin(struct host *h, struct conn *c)
{
    conn_rejoin(c, &h->reel);
    if (c->is_paused) /* it was not asked to take anything */
        c->stuck_ns = 0;
    c->is_paused = c->awaits_picture = c->has_picture_part = false;
    if (c == h->link) {
        host_set_stage(h, IPC_NONE);
        conn_rejoin(c, &h->reel); /* what this has brought is behind it, too */
    }
    /* The stages that it was not sent are not in the reel any more. */
    struct ipc_message stage = host_stage_message(h);
    conn_send(c, &stage);
    conn_send(c, &(struct ipc_message){ .selector = IPC_SKIPPED,
                                        .field = { h->shown_off, h->cols, h->rows } });
    conn_flush(c, &h->reel);
}

static bool
may_rejoin(const struct host *h, const struct conn *c)
{
    uint64_t ms = c->kind == CONN_MIRROR ? SKIP_MIRROR_MS : SKIP_MS;
    return c->is_skipping && !conn_has_waiting(c, &h->reel) &&
           (is_since(h->turn_at_ns, CALM_MS) || is_since(c->skip_ns, ms));
}

static void
on_skip(uv_timer_t *timer)
{
    struct host *h = timer->data;
    for (struct conn *c = h->conns; c; c = c->next) {
        if (c->is_skipping)
            conn_flush(c, &h->reel);
        if (may_rejoin(h, c))
            host_rejoin(h, c);
    }
    if (host_is_full(h) && h->link->is_lossy && is_since(h->link->stuck_ns, LAG_MS))
        skip_lagging_link(h);
    host_loop_update(h);
}

/* Is it to go? */
static bool
is_hopeless(const struct host *h, const struct conn *c)
{
    if (c->is_leaving)
        return is_since(c->leave_ns, LEAVE_MS);
    if (is_idle(c))
        return is_since(c->heard_ns, c->has_anchor ? TAKING_MS : SILENT_MS);
    bool may_wait = c->is_paused || (c == h->link && !c->is_lossy && !c->is_broken);
    return !may_wait && is_since(c->stuck_ns, is_requester(c) ? SILENT_MS : DEAF_MS);
}

static void
on_care(uv_timer_t *timer)
{
    struct host *h = timer->data;
    for (struct conn *c = h->conns, *next; c; c = next) {
        next = c->next;
        if (!is_hopeless(h, c))
            continue;
        if (c->is_subscribed)
            host_log(h, "client %u does not read: it is disconnected", c->number);
        lose(h, c);
    }
    if (!h->is_over)
        host_watch_mirror(h);
    else
        host_try_leave(h);
    host_loop_update(h);
}

static void
set_events(struct host *h, struct conn *c)
{
    /* Its end is there to be read all the time. */
    int events = (c->is_half_closed && is_owed(c)) || !is_heard(c) ? 0 : UV_READABLE;
    /* Watchers get what comes by the timer, unless they could not take it. */
    if (conn_has_waiting(c, &h->reel) &&
        (!c->is_watcher || c->stuck_ns || conn_has_own(c)))
        events |= UV_WRITABLE;
    if (events == c->events)
        return;
    c->events = events;
    if (events)
        uv_poll_start(&c->poll, events, on_conn);
    else
        uv_poll_stop(&c->poll);
}

/* Requests for anchors read on where a full link would have had the command wait. */
static void
follow_overtaken_link(struct host *h)
{
    if (h->link && h->link->is_skipping && h->passing == h->link->number && !h->is_over)
        host_set_stage(h, h->overtaken_off);
}

void
host_crowd_update(struct host *h)
{
    follow_overtaken_link(h);
    bool has_skipped = host_is_full(h) && h->link->is_lossy, needs_care = false;
    bool has_watchers = false, has_talkers = false;
    for (struct conn *c = h->conns; c; c = c->next) {
        set_events(h, c);
        has_skipped |= c->is_skipping;
        has_talkers |= c->has_more && is_heard(c);
        needs_care |= c->is_leaving || is_idle(c) || c->stuck_ns || c->awaits_picture;
        has_watchers |= c->is_watcher && !c->stuck_ns && conn_has_waiting(c, &h->reel);
    }
    host_set_timer(&h->skip_timer, on_skip, has_skipped, CALM_MS);
    host_set_timer(&h->talk_timer, on_talk, has_talkers, 0);
    host_set_timer(&h->care_timer, on_care, needs_care || h->mirror_late_ns, CARE_MS);
    host_set_timer(&h->watch_timer, on_watch, has_watchers, WATCH_MS);
}

/* -- the end -- */

void
host_dismiss(struct host *h, const struct ipc_message *ended)
{
    if (h->mirror) /* one that hangs would not notice */
        host_lose_mirror(h);
    for (struct conn *c = h->conns; c; c = c->next)
        if (c->is_skipping || c->is_paused || c->awaits_picture)
            host_rejoin(h, c);
    host_broadcast(h, ended);
    for (struct conn *c = h->conns; c; c = c->next)
        conn_flush(c, &h->reel);
}
