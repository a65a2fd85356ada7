/* SPDX-License-Identifier: MIT */
/*
 * loop.c -- what happens when: the command says something or takes something, time
 * passes, signals come.
 *
 * Nothing here waits for anybody but the disk. While more than OUT_MAX bytes wait to be
 * shown, or the tape has no room, the command's pipes are left alone.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "run/run_priv.h"

enum {
    OUT_MAX = 1 << 20, /* bytes that may wait to be shown */
    FACTS_MS = 1000,   /* facts that change are not written more often */
    TURNS = 4,         /* reads of the pipes at once */
};

/* SIGTSTP and SIGCHLD are the last two. */
static const int signal_list[RUN_SIGNALS] = { SIGINT,  SIGTERM, SIGHUP,
                                              SIGQUIT, SIGTSTP, SIGCHLD };

/* -- what is shown -- */

static bool
is_full(struct run *r)
{
    if (r->stop_signo) /* whoever does not read does not keep it from ending */
        return false;
    return (r->has_out && pty_output_waiting(&r->out) > OUT_MAX) ||
           !run_keep_has_room(&r->keep);
}

static void
note_lost(struct run *r)
{
    AUTO(buf) text = { 0 };
    if (!r->has_out || r->is_out_lost || !r->out.is_gone)
        return;
    r->is_out_lost = true;
    r->flow.out = NULL;
    buf_printf(&text, "%s%s; the command goes on, and is recorded",
               r->out.error == EPIPE ? "nobody reads the output any more"
                                     : "cannot write the output: ",
               r->out.error == EPIPE ? "" : strerror(r->out.error));
    r->opt->say(r->opt->ctx, buf_str(&text));
}

static void
on_out(struct run *r, uint32_t events)
{
    if (events & EPOLLOUT)
        pty_output_flush(&r->out);
    else if (events & (EPOLLERR | EPOLLHUP))
        pty_output_lose(&r->out);
}

/* -- what comes -- */

static void
on_watch(uv_poll_t *poll, int status, int events)
{
    struct run *r = poll->data;
    uint32_t there[RUN_WATCHED];
    (void)status;
    (void)events;
    run_watch_get(&r->watch, there);
    if (there[RUN_WATCH_OUT])
        on_out(r, there[RUN_WATCH_OUT]);
    if (there[RUN_WATCH_IN]) {
        run_input_on_read(&r->input);
        r->input_at_ns = clock_mono_ns();
    }
    if (there[RUN_WATCH_TO])
        run_input_on_write(&r->input);
    if (there[RUN_WATCH_PIPES])
        run_iteration_read(r, TURNS);
    run_flow_settle(&r->flow);
    run_iteration_check(r);
    run_loop_update(r);
}

static void
on_more(uv_idle_t *idle)
{
    struct run *r = idle->data;
    uv_idle_stop(idle);
    if (!is_full(r))
        run_iteration_read(r, TURNS);
    run_flow_settle(&r->flow);
    run_iteration_check(r);
    run_loop_update(r);
}

static void
on_news(uv_async_t *news)
{
    struct run *r = news->data;
    run_keep_tick(&r->keep);
    run_loop_update(r);
}

static void
tell_news(void *ctx)
{
    struct run *r = ctx;
    uv_async_send(&r->news);
}

/* -- time -- */

static uint64_t
left_ms(uint64_t since_ns, uint64_t ms)
{
    return clock_left_ms(since_ns + ms * 1000000, clock_mono_ns());
}

static uint64_t
facts_ms(const struct run *r)
{
    const struct run_facts *f = &r->keep.facts;
    return f->is_changed ? left_ms(f->at_mono_ns, FACTS_MS) : UINT64_MAX;
}

static uint64_t
input_ms(const struct run *r)
{
    return run_input_has_begun(&r->input) ? left_ms(r->input_at_ns, r->opt->flush_ms)
                                          : UINT64_MAX;
}

static void
on_tick(uv_timer_t *timer)
{
    struct run *r = timer->data;
    if (!input_ms(r))
        run_input_pass_begun(&r->input);
    run_flow_tick(&r->flow);
    run_keep_tick(&r->keep);
    if (!facts_ms(r))
        run_facts_write(&r->keep, false);
    run_iteration_check(r);
    run_loop_update(r);
}

/* -- the messages that come before our input -- */

static uint64_t
replay_ms(const struct run *r)
{
    return r->is_running && r->input.to_fd >= 0
               ? run_replay_due_ms(&r->replay, r->input.from_fd >= 0, clock_mono_ns())
               : UINT64_MAX;
}

static void
end_replay(struct run *r)
{
    const struct run_script *s = r->opt->script;
    r->input.is_held = false;
    if (s->over)
        s->over(s->ctx);
    run_input_on_write(&r->input); /* it may be at its end */
}

static void
go_on(struct run *r)
{
    enum turn_agent agent = turn_decoder_agent(r->flow.decoder);
    r->replay.is_agent |= agent != TURN_AUTO && agent != TURN_PLAIN;
    while (!replay_ms(r)) {
        const struct run_said *said = run_replay_next(&r->replay, clock_mono_ns());
        if (!said) {
            end_replay(r);
            return;
        }
        run_input_say(&r->input, said->text);
        run_input_on_write(&r->input);
    }
}

static uint64_t
sooner(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void
set_timer(struct run *r)
{
    uint64_t due = sooner(run_flow_due_ms(&r->flow), run_keep_due_ms(&r->keep));
    due = sooner(due, sooner(facts_ms(r), input_ms(r)));
    due = sooner(due, sooner(run_iteration_due_ms(r), replay_ms(r)));
    if (due == UINT64_MAX || r->is_over)
        uv_timer_stop(&r->tick_timer);
    else /* at once would be before anything else, again and again */
        uv_timer_start(&r->tick_timer, on_tick, due ? due : 1, 0);
}

/* -- what is waited for -- */

void
run_loop_update(struct run *r)
{
    go_on(r);
    run_wire_look(r);
    bool reads = run_input_wants_read(&r->input);
    bool writes = run_input_wants_write(&r->input);
    bool has_out = r->has_out && !r->out.is_gone;
    note_lost(r);
    run_watch_set(&r->watch, RUN_WATCH_IN, reads ? r->input.from_fd : -1, EPOLLIN);
    run_watch_set(&r->watch, RUN_WATCH_TO, writes ? r->input.to_fd : -1, EPOLLOUT);
    run_watch_set(&r->watch, RUN_WATCH_OUT, has_out ? r->out.fd : -1,
                  has_out && pty_output_waiting(&r->out) ? EPOLLOUT : 0);
    bool is_read = r->is_running && !run_pipes_are_over(&r->pipes) && !is_full(r);
    run_watch_set(&r->watch, RUN_WATCH_PIPES, is_read ? r->pipes.epoll_fd : -1, EPOLLIN);
    if (is_read && r->has_more && !uv_is_active((uv_handle_t *)&r->more_idle))
        uv_idle_start(&r->more_idle, on_more);
    if (r->input.from_fd < 0)
        run_entire_asked(&r->keep);
    uv_update_time(&r->loop); /* the disk may have taken its time */
    set_timer(r);
}

/* -- signals -- */

static void
on_signal(uv_signal_t *handle, int signo)
{
    struct run *r = handle->data;
    if (signo == SIGCHLD)
        run_iteration_reap(r);
    else if (signo == SIGTSTP)
        run_suspend(r);
    else
        run_stop(r, signo);
    run_iteration_check(r);
    run_loop_update(r);
}

/* What our parent has us ignore stays ignored: nohup. */
static bool
is_ignored(int signo)
{
    struct sigaction act;
    return sigaction(signo, NULL, &act) == 0 && act.sa_handler == SIG_IGN;
}

static int
listen_to_signals(struct run *r)
{
    int e = 0;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_DFL); /* ignored, it would take the command's status away */
    for (int i = 0; i < RUN_SIGNALS && !e; i++) {
        e = uv_signal_init(&r->loop, &r->signals[i]);
        r->signals[i].data = r;
        if (!e && !is_ignored(signal_list[i]))
            e = uv_signal_start(&r->signals[i], on_signal, signal_list[i]);
    }
    return e;
}

/* -- life -- */

/* The loop itself comes first: the tape may have news as soon as it is there. */
int
run_loop_init(struct run *r, struct err *err)
{
    int e = uv_loop_init(&r->loop);
    if (e < 0)
        return err_code(err, e, "cannot make a loop");
    uv_timer_init(&r->loop, &r->tick_timer);
    uv_timer_init(&r->loop, &r->grace_timer);
    uv_idle_init(&r->loop, &r->more_idle);
    r->tick_timer.data = r->grace_timer.data = r->more_idle.data = r;
    e = uv_async_init(&r->loop, &r->news, on_news);
    r->news.data = r;
    r->on_news = tell_news;
    if (e < 0)
        return err_code(err, e, "cannot make a loop");
    e = run_watch_init(&r->watch, err);
    if (e < 0)
        return e;
    e = uv_poll_init(&r->loop, &r->watch_poll, r->watch.fd);
    r->watch_poll.data = r;
    if (!e)
        e = uv_poll_start(&r->watch_poll, UV_READABLE, on_watch);
    if (!e)
        e = listen_to_signals(r);
    return e < 0 ? err_code(err, e, "cannot make a loop") : 0;
}

void
run_loop_run(struct run *r)
{
    r->is_over = false;
    run_loop_update(r);
    run_iteration_check(r);
    while (!r->is_over)
        uv_run(&r->loop, UV_RUN_ONCE);
}

void
run_loop_leave(struct run *r)
{
    r->is_over = true;
}

void
run_loop_look(struct run *r)
{
    uv_run(&r->loop, UV_RUN_NOWAIT);
}

/* All is kept, and nobody listens to them any more: what comes from now on must not take
 * the command's status from us. */
static void
hold_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    for (int i = 0; i < RUN_SIGNALS - 2; i++)
        sigaddset(&set, signal_list[i]);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

static void
close_handle(uv_handle_t *handle, void *ctx)
{
    (void)ctx;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

void
run_loop_close(struct run *r)
{
    if (!r->on_news) /* it was never made */
        return;
    uv_run(&r->loop, UV_RUN_NOWAIT); /* the door */
    hold_signals();
    uv_walk(&r->loop, close_handle, NULL);
    uv_run(&r->loop, UV_RUN_DEFAULT);
    uv_loop_close(&r->loop);
    run_watch_release(&r->watch);
}
