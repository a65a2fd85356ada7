/* SPDX-License-Identifier: MIT */
/*
 * wire.c -- the proxy that records what the command asks of model APIs (tap/tap.h).
 *
 * There is one for all iterations. What the command's own stream tells as a conversation
 * is not told once more by the proxy: only where that is no agent's, it does.
 */
#include <poll.h>
#include <stdio.h>

#include "run/run_priv.h"

enum { END_MS = 5000 /* without a word from it, while it writes the last lines */ };

static void on_wire(uv_poll_t *poll, int status, int events);

static bool
is_agent(enum turn_agent agent)
{
    return agent != TURN_AUTO && agent != TURN_PLAIN;
}

static void
say(struct run *r, const char *text)
{
    AUTO(buf) line = { 0 };
    if (r->wire.has_told)
        return;
    r->wire.has_told = true;
    buf_printf(&line, "%s%s", text, r->is_running ? "; the command goes on" : "");
    r->opt->say(r->opt->ctx, buf_str(&line));
}

/* -- before the command -- */

void
run_wire_open(struct run *r)
{
    const struct run_options *o = r->opt;
    struct run_wire *w = &r->wire;
    AUTO(buf) text = { 0 };
    struct err err = { 0 };
    w->tap.listen_fd = w->tap.fd = -1;
    if (!o->is_wired)
        return;
    w->is_told = is_agent(o->agent) || is_agent(r->prompt.agent);
    w->opt = (struct tap_options){
        .home = o->home,
        .id = r->keep.id,
        .clock = r->keep.clock,
        .tape_path = r->keep.folder.tape_path,
        .cwd = o->root,
        .upstream = o->upstream,
        .ca_file = o->ca_file,
        .has_turns = !w->is_told,
    };
    w->is_open = r->keep.has_folder && tap_open(&w->tap, &w->opt, &err) == 0;
    if (w->is_open)
        return;
    buf_printf(&text, "%s; what goes over the wire is not recorded, but the command runs",
               err.text[0] ? err.text : "the library does not take this run");
    say(r, buf_str(&text));
}

/* -- what it says -- */

/* It completes what was left. Who waits for that at the end is told, once. */
static void
note_work(struct run *r, const char *text)
{
    if (r->wire.is_waited_for && !r->wire.has_told_work)
        r->opt->say(r->opt->ctx, text);
    r->wire.has_told_work |= r->wire.is_waited_for;
}

static void
take(struct run *r, const struct ipc_message *m)
{
    char line[sizeof(((struct err *)0)->text)];
    snprintf(line, sizeof(line), "%.*s", (int)m->bytes.n, (const char *)m->bytes.p);
    if (m->selector == IPC_WARN) {
        say(r, line);
    } else if (m->selector == IPC_SAID) {
        note_work(r, line);
    } else if (m->selector == IPC_USED) {
        const uint8_t *end = memchr(m->bytes.p, 0, m->bytes.n);
        run_facts_learn(
            &r->keep,
            &(struct session_usage){ m->field[0], m->field[1], m->field[2], m->field[3],
                                     m->field[4] },
            (struct view){ m->bytes.p, end ? (size_t)(end - m->bytes.p) : m->bytes.n });
    }
}

/* -- it comes and goes -- */

static void
watch(struct run *r)
{
    struct run_wire *w = &r->wire;
    uv_poll_init(&r->loop, &w->poll, w->tap.fd);
    w->poll.data = r;
    uv_poll_start(&w->poll, UV_READABLE, on_wire);
    w->is_watched = true;
}

void
run_wire_begin(struct run *r)
{
    if (!r->wire.is_open)
        return;
    uv_timer_init(&r->loop, &r->wire.timer);
    r->wire.timer.data = r;
    watch(r);
}

static void
on_closed(uv_handle_t *handle)
{
    struct run *r = handle->data;
    r->wire.is_closing = false;
}

/* tap closes its descriptor: the loop must not look at it any more. */
static void
unwatch(struct run *r)
{
    if (!r->wire.is_watched)
        return;
    r->wire.is_watched = false;
    r->wire.is_closing = true;
    uv_close((uv_handle_t *)&r->wire.poll, on_closed);
}

static void
on_again(uv_timer_t *timer)
{
    struct run *r = timer->data;
    uint64_t wait_ms = 1;
    int e = r->wire.is_closing ? -EAGAIN : tap_again(&r->wire.tap, &wait_ms);
    if (!e)
        watch(r);
    else if (e == ERR_LIMIT)
        r->opt->say(r->opt->ctx, "the proxy cannot be kept alive: the command's requests "
                                 "to model APIs fail from now on");
    else
        uv_timer_start(timer, on_again, wait_ms, 0);
}

static void
on_wire(uv_poll_t *poll, int status, int events)
{
    struct run *r = poll->data;
    struct ipc_message m;
    uint64_t wait_ms = 0;
    int e;
    (void)status, (void)events;
    while ((e = tap_next(&r->wire.tap, &m, &wait_ms)) > 0)
        take(r, &m);
    if (e == 0)
        return;
    unwatch(r);
    say(r, "the proxy has died, and is started again; requests that were going on have "
           "broken off");
    uv_timer_start(&r->wire.timer, on_again, wait_ms, 0);
}

void
run_wire_look(struct run *r)
{
    struct run_wire *w = &r->wire;
    if (!w->is_open || w->is_told || !is_agent(turn_decoder_agent(r->flow.decoder)))
        return;
    w->is_told = true;
    w->opt.has_turns = false; /* of one that is started again, too */
    tap_tell(&w->tap, &(struct ipc_message){ .selector = IPC_TURNS });
}

/* -- the end -- */

/* Until it has written all, or is put down as it says nothing any more. */
static void
wait_for_end(struct run *r)
{
    struct tap *t = &r->wire.tap;
    uint64_t due_ns = clock_mono_ns() + (uint64_t)END_MS * 1000000, ignored, left_ms;
    struct ipc_message m;
    int e;
    r->wire.is_waited_for = true;
    while (t->fd >= 0 && (left_ms = clock_left_ms(due_ns, clock_mono_ns())) > 0) {
        struct pollfd p = { .fd = t->fd, .events = POLLIN };
        while ((e = tap_next(t, &m, &ignored)) > 0) {
            take(r, &m);
            due_ns = clock_mono_ns() + (uint64_t)END_MS * 1000000;
        }
        if (e < 0)
            return;
        (void)poll(&p, 1, (int)left_ms);
    }
}

void
run_wire_finish(struct run *r)
{
    struct run_wire *w = &r->wire;
    uint64_t ignored;
    if (!w->is_open)
        return;
    unwatch(r);
    uv_timer_stop(&w->timer);
    tap_dismiss(&w->tap);
    wait_for_end(r);
    if (tap_owes(&w->tap)) { /* it had died: the next one completes what it has left */
        tap_kill(&w->tap);
        (void)tap_again(&w->tap, &ignored);
        tap_dismiss(&w->tap);
        wait_for_end(r);
    }
    tap_kill(&w->tap);
    r->keep.is_owed = tap_owes(&w->tap);
    tap_release(&w->tap);
    w->is_open = false;
}
