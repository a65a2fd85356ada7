/* SPDX-License-Identifier: MIT */
/*
 * loop.c -- what happens when: the PTY has bytes or room, the client speaks or reads,
 * time passes, signals come.
 *
 * The order of a turn is read, stamp, mask, tail, client: nobody sees what is not on
 * disk.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "base/file.h"
#include "host/host_priv.h"
#include "pty/tty.h"

enum {
    TURN_MAX = IPC_MESSAGE_BYTES_MAX,
    SMALL_TURN = 16 << 10, /* such turns are not taken more often than … */
    TICK_NS = 300000,
    LAG_MS = 500,      /* a lossy client that takes nothing for so long is skipped */
    REST_MS = 50,      /* a child that is silent for so long rests */
    INPUT_WAIT_MS = 5, /* a PTY does not always tell that it has room */
    INPUT_WAIT_MAX_MS = 320,
    STOP_SIGNALS = HOST_SIGNALS - 1,
};

static const int stop_signals[STOP_SIGNALS] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

/* -- output -- */

void
host_show(struct host *h, struct view bytes, uint64_t off)
{
    conn_send_output(&h->conn, bytes, off);
}

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
pump_input(struct host *h)
{
    size_t n = feeder_pump(&h->feeder);
    h->input_wait_ms = n                                      ? INPUT_WAIT_MS
                       : h->input_wait_ms < INPUT_WAIT_MAX_MS ? h->input_wait_ms * 2
                                                              : h->input_wait_ms;
    if (n)
        conn_send(&h->conn,
                  &(struct ipc_message){ .selector = IPC_TAKEN, .field = { n } });
}

static void
on_pty(uv_poll_t *poll, int status, int events)
{
    struct host *h = poll->data;
    if (events & UV_WRITABLE)
        pump_input(h);
    if (status < 0 || (events & (UV_READABLE | UV_DISCONNECT))) {
        if (!h->has_exited)
            wait_for_tick(h);
        host_drain(h, 1);
    }
    if (h->has_exited)
        host_try_finish(h);
    host_loop_update(h);
}

/* -- the client -- */

static void
resize(struct host *h, uint64_t cols, uint64_t rows)
{
    if (!cols || !rows || h->has_exited)
        return;
    /* What was written for the old size stands before the new one, where there is room.
     */
    if (!conn_is_full(&h->conn))
        host_drain(h, 16);
    recorder_resize(&h->recorder, (uint16_t)cols, (uint16_t)rows);
    pty_set_size(h->child.master_fd, (uint16_t)cols, (uint16_t)rows);
}

static void
close_conn(struct host *h)
{
    uv_poll_stop(&h->conn_poll);
    h->conn_events = 0;
    conn_close(&h->conn);
    if (h->tty_fd >= 0)
        close(h->tty_fd); /* somebody may wait for its end */
    h->tty_fd = -1;
    if (h->is_over)
        host_loop_close(h);
}

static void
hang_up(struct host *h)
{
    if (!h->opt->is_detachable)
        host_stop(h, SIGHUP);
}

/* Its programs' modes ended, and the first screen shown, whatever was on it. */
static void
calm_terminal(int tty_fd)
{
    static const char bytes[] = PTY_TTY_CALM "\033[?1047l";
    int fd = pty_reopen_nonblock(tty_fd, O_WRONLY);
    if (fd < 0)
        return;
    (void)!write(fd, bytes, sizeof(bytes) - 1);
    close(fd);
}

/* It is gone without a word. */
static void
lose_client(struct host *h)
{
    const struct host_options *o = h->opt;
    if (h->tty_fd >= 0)
        pty_tty_restore_left(h->tty_fd, &o->tty_saved, &o->tty_raw);
    if (h->tty_fd >= 0 && o->is_lossy)
        calm_terminal(h->tty_fd);
    close_conn(h);
    host_log(h, "the client has vanished");
    if (!o->has_terminal)
        hang_up(h);
}

static void
handle(struct host *h, const struct ipc_message *m)
{
    switch (m->selector) {
    case IPC_INPUT:
        feeder_add(&h->feeder, m->bytes);
        pump_input(h);
        break;
    case IPC_INPUT_END:
        feeder_end(&h->feeder);
        pump_input(h);
        break;
    case IPC_RESIZE:
        resize(h, m->field[0], m->field[1]);
        break;
    case IPC_STOP:
        host_stop(h, (int)m->field[0]);
        break;
    case IPC_HANGUP:
        hang_up(h);
        break;
    case IPC_DETACH:
        host_log(h, "the client has detached");
        close_conn(h);
        break;
    default: /* nothing that a client says */
        lose_client(h);
        break;
    }
}

static void
on_conn(uv_poll_t *poll, int status, int events)
{
    struct host *h = poll->data;
    struct ipc_message m;
    int r = 1;
    (void)status;
    if (events & UV_WRITABLE)
        conn_flush(&h->conn, h->recorder.byte_off);
    while (r > 0 && h->conn.fd >= 0) {
        r = conn_next(&h->conn, &m);
        if (r > 0)
            handle(h, &m);
    }
    if (r < 0 && h->conn.fd >= 0)
        lose_client(h);
    if (h->is_over && !conn_has_waiting(&h->conn))
        close_conn(h);
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

static void
on_lag(uv_timer_t *timer)
{
    struct host *h = timer->data;
    if (conn_is_full(&h->conn) &&
        clock_mono_ns() - h->conn.progress_ns >= (uint64_t)LAG_MS * 1000000) {
        host_log(h, "the client lags: it is skipped forward");
        conn_skip(&h->conn);
    }
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
    host_tell_trouble(h);
    host_loop_update(h);
}

static void
on_input(uv_timer_t *timer)
{
    struct host *h = timer->data;
    pump_input(h);
    host_loop_update(h);
}

static void
set_timer(uv_timer_t *timer, uv_timer_cb fn, bool is_wanted, uint64_t ms)
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
    bool is_full = conn_is_full(&h->conn);
    if (h->conn.fd >= 0)
        set_poll(&h->conn_poll, &h->conn_events,
                 UV_READABLE | (conn_wants_room(&h->conn) ? UV_WRITABLE : 0), on_conn);
    set_timer(&h->lag_timer, on_lag, is_full && h->conn.is_lossy, LAG_MS);
    if (h->is_over)
        return;
    bool has_input = feeder_has_waiting(&h->feeder) && !h->has_exited;
    /* Better to leave it in the PTY, which holds the child up, than to wait here. */
    bool is_ready = !is_full && tape_writer_has_room(h->recorder.tape);
    int events = is_ready ? UV_READABLE : 0;
    if (has_input)
        events |= UV_WRITABLE;
    set_poll(&h->pty_poll, &h->pty_events, h->is_pty_closed ? 0 : events, on_pty);
    set_timer(&h->input_timer, on_input, has_input,
              h->input_wait_ms ? h->input_wait_ms : INPUT_WAIT_MS);
    set_timer(&h->rest_timer, on_rest, recorder_holds(&h->recorder), REST_MS);
    bool is_due = tape_writer_due_ns(h->recorder.tape) != UINT64_MAX;
    set_timer(&h->tape_timer, on_tape, is_due, is_due ? tape_due_ms(h) : 0);
}

/* -- signals -- */

static void
on_signal(uv_signal_t *signal, int signo)
{
    struct host *h = signal->data;
    if (signo == SIGCHLD)
        host_reap(h);
    else
        host_stop(h, signo);
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
    uv_timer_t *timers[] = { &h->tape_timer,  &h->rest_timer,  &h->lag_timer,
                             &h->input_timer, &h->grace_timer, &h->drain_timer };
    for (size_t i = 0; i < sizeof(timers) / sizeof(timers[0]); i++) {
        uv_timer_init(&h->loop, timers[i]);
        timers[i]->data = h;
    }
}

int
host_loop_init(struct host *h, struct err *err)
{
    int r = uv_loop_init(&h->loop);
    if (!r)
        r = uv_poll_init(&h->loop, &h->pty_poll, h->child.master_fd);
    if (!r)
        r = uv_poll_init(&h->loop, &h->conn_poll, h->conn.fd);
    if (!r)
        r = uv_async_init(&h->loop, &h->news, on_news);
    if (!r)
        r = listen_to_all(h);
    if (r) /* libuv's codes are those of errno here */
        return err_code(err, r, "cannot set up the recorder's loop");
    h->pty_poll.data = h->conn_poll.data = h->news.data = h;
    init_timers(h);
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
    host_reap(h); /* it may have ended before we listened */
    host_loop_update(h);
    uv_run(&h->loop, UV_RUN_DEFAULT);
}

void
host_loop_close(struct host *h)
{
    uv_stop(&h->loop);
}
