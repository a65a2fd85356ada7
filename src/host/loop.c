/* SPDX-License-Identifier: MIT */
/*
 * loop.c -- what happens when: the PTY has bytes or room, time passes, signals come. What
 * connections do is in crowd.c.
 *
 * The order of a turn is read, stamp, mask, tail, clients: nobody sees what is not on
 * disk.
 */
#include <errno.h>
#include <signal.h>
#include <time.h>

#include "base/file.h"
#include "host/host_priv.h"

enum {
    TURN_MAX = IPC_MESSAGE_BYTES_MAX,
    SMALL_TURN = 16 << 10, /* such turns are not taken more often than … */
    TICK_NS = 300000,
    REST_MS = 50, /* a child that is silent for so long rests */
    STOP_SIGNALS = HOST_SIGNALS - 1,
};

static const int stop_signals[STOP_SIGNALS] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

/* -- output -- */

/* What the PTY has, until it is empty or the buffer full. */
static size_t
read_turn(struct host *h, uint8_t *p)
{
    size_t n = 0;
    while (n < TURN_MAX) {
        ssize_t r = file_read(h->child.master_fd, p + n, TURN_MAX - n);
        if (r == -EIO || r == 0)
            h->is_pty_closed = true;
        if (r <= 0)
            break;
        n += (size_t)r;
    }
    return n;
}

size_t
host_drain(struct host *h, unsigned turns)
{
    static uint8_t bytes[TURN_MAX];
    size_t n, all = 0;
    do {
        n = h->is_pty_closed ? 0 : read_turn(h, bytes);
        h->turn_bytes = n;
        all += n;
        if (n)
            uv_timer_stop(&h->rest_timer);
        uint64_t off = h->recorder.byte_off;
        if (n)
            host_show(h, recorder_output(&h->recorder, (struct view){ bytes, n }), off);
    } while (n == TURN_MAX && --turns);
    host_tell_trouble(h);
    return all;
}

/* Many small writes in a row cost less when they are read together. */
static void
wait_for_tick(struct host *h)
{
    uint64_t now_ns = clock_mono_ns(), since_ns = now_ns - h->turn_at_ns;
    if (h->turn_bytes < SMALL_TURN && since_ns < TICK_NS) {
        struct timespec rest = { .tv_nsec = (long)(TICK_NS - since_ns) };
        nanosleep(&rest, NULL);
        now_ns += TICK_NS - since_ns;
    }
    h->turn_at_ns = now_ns;
}

static void
on_pty(uv_poll_t *poll, int status, int events)
{
    struct host *h = poll->data;
    if (events & UV_WRITABLE)
        host_pump_input(h);
    if (status < 0 || (events & (UV_READABLE | UV_DISCONNECT))) {
        if (!h->has_exited)
            wait_for_tick(h);
        host_drain(h, 1);
    }
    if (h->has_exited)
        host_try_finish(h);
    host_loop_update(h);
}

/* -- time -- */

static void
on_tape(uv_timer_t *timer)
{
    struct host *h = timer->data;
    if (h->is_over)
        return;
    tape_writer_tick(h->recorder.tape, recorder_now_ns(&h->recorder));
    host_tell_trouble(h);
    host_loop_update(h);
}

static void
on_rest(uv_timer_t *timer)
{
    struct host *h = timer->data;
    if (h->is_over)
        return;
    uint64_t off = h->recorder.byte_off;
    host_show(h, recorder_rest(&h->recorder), off);
    host_loop_update(h);
}

void
host_on_news(void *ctx)
{
    struct host *h = ctx;
    uv_async_send(&h->news);
}

static void
on_news(uv_async_t *news)
{
    struct host *h = news->data;
    if (!h->is_over)
        host_pay(h, false);
    host_tell_trouble(h);
    host_loop_update(h);
}

void
host_set_timer(uv_timer_t *timer, uv_timer_cb fn, bool is_wanted, uint64_t ms)
{
    if (!is_wanted)
        uv_timer_stop(timer);
    else if (!uv_is_active((uv_handle_t *)timer) || uv_timer_get_due_in(timer) > ms)
        uv_timer_start(timer, fn, ms, 0);
}

/* -- what is waited for -- */

static void
set_poll(uv_poll_t *poll, int *have, int want, uv_poll_cb fn)
{
    if (*have == want)
        return;
    *have = want;
    if (want)
        uv_poll_start(poll, want, fn);
    else
        uv_poll_stop(poll);
}

static uint64_t
tape_due_ms(struct host *h)
{
    uint64_t due_ns = tape_writer_due_ns(h->recorder.tape);
    uint64_t now_ns = recorder_now_ns(&h->recorder);
    return due_ns > now_ns ? (due_ns - now_ns) / 1000000 + 1 : 0;
}

void
host_loop_update(struct host *h)
{
    host_crowd_update(h);
    if (h->is_over)
        return;
    host_input_update(h);
    /* Better to leave it in the PTY, which holds the child up, than to wait here. */
    bool is_ready = !host_is_full(h) && tape_writer_has_room(h->recorder.tape);
    int events = is_ready ? UV_READABLE : 0;
    if (host_input_waits(h) && !h->has_exited)
        events |= UV_WRITABLE;
    set_poll(&h->pty_poll, &h->pty_events, h->is_pty_closed ? 0 : events, on_pty);
    host_set_timer(&h->rest_timer, on_rest, recorder_holds(&h->recorder), REST_MS);
    bool is_due = tape_writer_due_ns(h->recorder.tape) != UINT64_MAX;
    host_set_timer(&h->tape_timer, on_tape, is_due, is_due ? tape_due_ms(h) : 0);
}

/* -- signals -- */

static void
on_signal(uv_signal_t *signal, int signo)
{
    struct host *h = signal->data;
    if (signo != SIGCHLD)
        host_stop(h, signo);
    host_reap_mirror(h);
    host_reap(h);
    host_reap_points(h);
    host_reap_index(h);
    host_reap_taker(h);
    host_wire_reap(h);
    host_loop_update(h);
}

static int
listen_to(struct host *h, size_t i, int signo)
{
    int r = uv_signal_init(&h->loop, &h->signals[i]);
    h->signals[i].data = h;
    return r ? r : uv_signal_start(&h->signals[i], on_signal, signo);
}

/* Those that our caller has us ignore stay so, as under nohup. */
static int
listen_to_all(struct host *h)
{
    int r = listen_to(h, 0, SIGCHLD);
    for (size_t i = 0; !r && i < STOP_SIGNALS; i++) {
        struct sigaction now;
        sigaction(stop_signals[i], NULL, &now);
        if (now.sa_handler != SIG_IGN)
            r = listen_to(h, i + 1, stop_signals[i]);
    }
    return r;
}

static void
init_timers(struct host *h)
{
    uv_timer_t *timers[] = { &h->tape_timer,   &h->rest_timer,  &h->input_timer,
                             &h->door_timer,   &h->talk_timer,  &h->watch_timer,
                             &h->skip_timer,   &h->care_timer,  &h->mirror_timer,
                             &h->grace_timer,  &h->drain_timer, &h->leave_timer,
                             &h->points_timer, &h->tap_timer };
    for (size_t i = 0; i < sizeof(timers) / sizeof(timers[0]); i++) {
        uv_timer_init(&h->loop, timers[i]);
        timers[i]->data = h;
    }
}

int
host_loop_init(struct host *h, struct err *err)
{
    int r = uv_loop_init(&h->loop);
    if (r)
        return err_code(err, r, "cannot set up the recorder's loop");
    h->loop.data = h;
    init_timers(h);
    r = host_crowd_init(h);
    if (!r)
        r = host_doors_init(h);
    if (!r)
        r = uv_poll_init(&h->loop, &h->pty_poll, h->child.master_fd);
    if (!r)
        r = uv_async_init(&h->loop, &h->news, on_news);
    if (!r)
        r = listen_to_all(h);
    if (r) /* libuv's codes are those of errno here */
        return err_code(err, r, "cannot set up the recorder's loop");
    h->pty_poll.data = h->news.data = h;
    return 0;
}

void
host_loop_run(struct host *h)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    for (size_t i = 0; i < STOP_SIGNALS; i++)
        sigaddset(&set, stop_signals[i]);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    host_start_taker(h);
    host_wire_begin(h);
    host_reap(h); /* it may have ended before we listened */
    host_keep_mirror(h);
    host_loop_update(h);
    uv_run(&h->loop, UV_RUN_DEFAULT);
}

const char *
host_uv_version(void)
{
    return uv_version_string();
}
