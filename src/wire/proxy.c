/* SPDX-License-Identifier: MIT */
/* proxy.c -- the loop: clients come, time passes, signals end it. */
#include "wire/proxy.h"

#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "ipc/socket.h"
#include "wire/wire_priv.h"

enum {
    ACCEPT_MAX = 64, /* at once */
    TICK_MS = 1000,
    RETRY_MS = 200, /* when there is no room for another descriptor */
    FILES = 4 * WIRE_CONNS_MAX,
};

static const int stop_signals[WIRE_SIGNALS] = { SIGINT, SIGTERM, SIGHUP };

/* -- who comes -- */

static void on_door(uv_poll_t *poll, int status, int events);

static void
watch_door(struct wire *w)
{
    if (w->conn_count < WIRE_CONNS_MAX)
        uv_poll_start(&w->door_poll, UV_READABLE, on_door);
    else
        uv_poll_stop(&w->door_poll);
}

static void
on_retry(uv_timer_t *timer)
{
    watch_door(timer->data);
}

/* Whoever never comes needs no record. */
static void
open_record(struct wire *w)
{
    if (!w->has_asked && w->opt->open_record)
        w->record = w->opt->open_record(w->opt->ctx);
    w->has_asked = true;
}

static void
on_door(uv_poll_t *poll, int status, int events)
{
    struct wire *w = poll->data;
    int fd = 0;
    (void)status, (void)events;
    for (int i = 0; i < ACCEPT_MAX && w->conn_count < WIRE_CONNS_MAX; i++) {
        fd = ipc_accept(w->opt->listen_fd);
        if (fd < 0)
            break;
        open_record(w);
        conn_new(w, fd);
    }
    if (fd < 0 && ipc_is_out_of_room(fd)) {
        uv_poll_stop(&w->door_poll);
        uv_timer_start(&w->retry_timer, on_retry, RETRY_MS, 0);
    } else if (w->conn_count >= WIRE_CONNS_MAX) {
        uv_poll_stop(&w->door_poll);
    }
}

/* -- time -- */

static void
on_tick(uv_timer_t *timer)
{
    struct wire *w = timer->data;
    uint64_t now_ns = clock_mono_ns();
    for (struct conn *c = w->conns, *next; c; c = next) {
        next = c->next;
        conn_tick(c, now_ns);
    }
    if (!w->is_ending)
        watch_door(w);
    if (w->record)
        wire_record_tick(w->record);
    if (w->opt->tick)
        w->opt->tick(w->opt->ctx);
}

/* Nobody waits in the poll while something is due. */
static void
on_idle(uv_idle_t *idle)
{
    (void)idle;
}

static void
on_check(uv_check_t *check)
{
    struct wire *w = check->data;
    call_record_due(w);
    uv_idle_stop(&w->due_idle);
}

static void
on_prepare(uv_prepare_t *prepare)
{
    struct wire *w = prepare->data;
    if (w->due)
        uv_idle_start(&w->due_idle, on_idle);
}

/* -- the end -- */

static void
close_handle(uv_handle_t *handle, void *ctx)
{
    (void)ctx;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

void
wire_stop(struct wire *w, enum wire_end end, int signo)
{
    if (w->is_ending)
        return;
    w->is_ending = true;
    w->result = (struct wire_result){ .end = end, .signo = signo };
    uv_stop(&w->loop);
}

static void
on_signal(uv_signal_t *signal, int signo)
{
    wire_stop(signal->data, WIRE_SIGNAL, signo);
}

static void
on_control(uv_poll_t *poll, int status, int events)
{
    struct wire *w = poll->data;
    (void)status, (void)events;
    if (!wire_control_hear(w->opt->control))
        wire_stop(w, WIRE_LEFT, 0);
}

/* Calls that go on are broken off; then what libcurl and the loop have goes. */
static void
end(struct wire *w)
{
    while (w->conns) {
        struct conn *c = w->conns;
        struct call *call = c->call;
        c->call = NULL;
        if (call)
            call_abort(call);
        conn_drop(c);
    }
    fetches_free(w->fetches);
    wire_visit_close(w);
    uv_walk(&w->loop, close_handle, NULL);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    uv_loop_close(&w->loop);
}

/* -- the start -- */

/* Two for each call, and then some. */
static void
raise_limit(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur >= FILES)
        return;
    files.rlim_cur = files.rlim_max < FILES ? files.rlim_max : FILES;
    (void)setrlimit(RLIMIT_NOFILE, &files);
}

static uint16_t
port_of(int fd)
{
    struct sockaddr_in6 at = { 0 }; /* its port is where that of IPv4 is */
    socklen_t n = sizeof(at);
    return getsockname(fd, (struct sockaddr *)&at, &n) ? 0 : ntohs(at.sin6_port);
}

static int
listen_to_signals(struct wire *w)
{
    int r = 0;
    for (size_t i = 0; i < WIRE_SIGNALS && !r; i++) {
        struct sigaction now;
        sigaction(stop_signals[i], NULL, &now);
        if (now.sa_handler == SIG_IGN) /* as under nohup */
            continue;
        w->signals[i].data = w;
        r = uv_signal_init(&w->loop, &w->signals[i]);
        if (!r)
            r = uv_signal_start(&w->signals[i], on_signal, stop_signals[i]);
    }
    return r;
}

static int
listen_to_all(struct wire *w)
{
    int r = uv_poll_init(&w->loop, &w->door_poll, w->opt->listen_fd);
    w->door_poll.data = w->control_poll.data = w;
    if (!r)
        r = uv_poll_start(&w->door_poll, UV_READABLE, on_door);
    if (!r && w->opt->control) {
        r = uv_poll_init(&w->loop, &w->control_poll, w->opt->control->fd);
        if (!r)
            r = uv_poll_start(&w->control_poll, UV_READABLE, on_control);
    }
    return r ? r : listen_to_signals(w);
}

static int
open_all(struct wire *w, struct err *err)
{
    uv_timer_init(&w->loop, &w->tick_timer);
    uv_timer_init(&w->loop, &w->retry_timer);
    uv_idle_init(&w->loop, &w->due_idle);
    uv_check_init(&w->loop, &w->due_check);
    uv_prepare_init(&w->loop, &w->due_prepare);
    w->tick_timer.data = w->retry_timer.data = w->due_check.data = w->due_prepare
                                                                       .data = w;
    uv_timer_start(&w->tick_timer, on_tick, TICK_MS, TICK_MS);
    uv_check_start(&w->due_check, on_check);
    uv_prepare_start(&w->due_prepare, on_prepare);
    int r = listen_to_all(w);
    if (!r && wire_visit_open(w, err) < 0)
        return err->code;
    return r ? err_code(err, r, "cannot set up the proxy's loop")
             : fetches_new(&w->fetches, &w->loop, w->opt->ca_file, err);
}

int
wire_run(const struct wire_options *opt, struct wire_result *ret, struct err *err)
{
    struct wire *w = calloc(1, sizeof(*w));
    if (!w)
        return err_code(err, -ENOMEM, "cannot serve");
    raise_limit();
    w->opt = opt;
    w->port = port_of(opt->listen_fd);
    int r = uv_loop_init(&w->loop);
    if (r) {
        free(w);
        return err_code(err, r, "cannot set up the proxy's loop");
    }
    r = open_all(w, err);
    if (!r && opt->ready)
        r = opt->ready(opt->ctx, err);
    if (!r)
        uv_run(&w->loop, UV_RUN_DEFAULT);
    w->is_ending = true;
    end(w);
    *ret = w->result;
    free(w);
    return r;
}
