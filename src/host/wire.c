/* SPDX-License-Identifier: MIT */
/*
 * wire.c -- the proxy that records what the command asks of model APIs.
 *
 * It is a program of its own (tap/tap.h). Should there be none the command runs without;
 * should it die it is started again, and the command finds it where it was. At the end it
 * is told, and waited for as long as it says that it works: what it has to write is of
 * the session, which else is left to `recover`.
 */
#include <stdio.h>
#include <unistd.h>

#include "host/host_priv.h"

enum { END_MS = 5000 /* without a word from it, while it writes the last lines */ };

static void on_wire(uv_poll_t *poll, int status, int events);

/* -- before the command -- */

void
host_wire_open(struct host *h)
{
    const struct host_options *o = h->opt;
    struct err err;
    h->tap.listen_fd = h->tap.fd = -1;
    if (!o->is_wired)
        return;
    h->tap_opt = (struct tap_options){
        .home = o->home,
        .id = o->id,
        .clock = o->clock,
        .tape_path = h->folder.tape_path,
        .cwd = o->cwd,
        .upstream = o->upstream,
        .ca_file = o->ca_file,
        .has_anchors = true,
        .has_turns = true,
        .is_entire = o->is_entire,
    };
    h->has_tap = tap_open(&h->tap, &h->tap_opt, &err) == 0;
    if (!h->has_tap)
        snprintf(h->tap_trouble, sizeof(h->tap_trouble),
                 "%.300s; what goes over the wire is not recorded", err.text);
}

void
host_wire_cancel(struct host *h)
{
    if (!h->has_tap)
        return;
    tap_kill(&h->tap);
    tap_release(&h->tap);
    h->has_tap = false;
}

/* -- what it says -- */

/* Once; what comes later is in the log. */
static void
say(struct host *h, const char *text)
{
    if (h->has_told_wire)
        host_log(h, "%s", text);
    else
        host_say(h, text);
    h->has_told_wire = true;
}

/* What the session has used, and by which model and agent: two words, a NUL between. */
static void
note_used(struct host *h, const struct ipc_message *m)
{
    h->used = (struct session_usage){ m->field[0], m->field[1], m->field[2], m->field[3],
                                      m->field[4] };
    buf_clear(&h->used_names);
    buf_append(&h->used_names, m->bytes.p, m->bytes.n);
    const char *model = buf_str(&h->used_names);
    const char *agent = strlen(model) < m->bytes.n ? model + strlen(model) + 1 : "";
    h->meta.usage = h->used.calls == IPC_NONE ? NULL : &h->used;
    h->meta.model = *model ? model : NULL;
    h->meta.agent = *agent ? agent : NULL;
}

static void
take(struct host *h, const struct ipc_message *m)
{
    char line[sizeof(((struct err *)0)->text)];
    switch (m->selector) {
    case IPC_ANCHOR:
        tap_tell(&h->tap,
                 &(struct ipc_message){
                     .selector = IPC_DONE,
                     .field = { 0, host_anchor(h), recorder_now_ns(&h->recorder) } });
        break;
    case IPC_WARN:
        snprintf(line, sizeof(line), "%.*s", (int)m->bytes.n, (const char *)m->bytes.p);
        say(h, line);
        break;
    case IPC_SAID:
        host_log(h, "%.*s", (int)m->bytes.n, (const char *)m->bytes.p);
        break;
    case IPC_USED:
        note_used(h, m);
        break;
    default:
        break;
    }
}

/* -- it comes and goes -- */

static void
watch(struct host *h)
{
    uv_poll_init(&h->loop, &h->tap_poll, h->tap.fd);
    h->tap_poll.data = h;
    uv_poll_start(&h->tap_poll, UV_READABLE, on_wire);
    h->is_tap_watched = true;
}

static void
on_again(uv_timer_t *timer)
{
    struct host *h = timer->data;
    uint64_t wait_ms = 0;
    if (h->is_tap_over || h->is_over)
        return;
    if (h->is_tap_closing) { /* the old one's watch goes first */
        uv_timer_start(timer, on_again, 1, 0);
        return;
    }
    int r = tap_again(&h->tap, &wait_ms);
    if (!r)
        watch(h);
    else if (r == ERR_LIMIT)
        host_say(h, "the proxy cannot be kept alive: the command's requests to model "
                    "APIs fail from now on");
    else
        uv_timer_start(timer, on_again, wait_ms, 0);
}

static void
on_closed(uv_handle_t *handle)
{
    struct host *h = handle->data;
    h->is_tap_closing = false;
}

/* tap closes its descriptor: the loop must not look at it any more. */
static void
unwatch(struct host *h)
{
    if (!h->is_tap_watched)
        return;
    h->is_tap_watched = false;
    h->is_tap_closing = true;
    uv_close((uv_handle_t *)&h->tap_poll, on_closed);
}

/* -- the end -- */

static void
end(struct host *h)
{
    h->is_tap_over = true;
    h->is_tap_owing = tap_owes(&h->tap);
    uv_timer_stop(&h->tap_timer);
    tap_release(&h->tap);
    host_try_finish(h);
}

static void
on_late(uv_timer_t *timer)
{
    struct host *h = timer->data;
    host_log(h, "the proxy does not end, and is put down");
    unwatch(h);
    tap_kill(&h->tap);
    end(h);
}

static void
dismiss(struct host *h)
{
    tap_dismiss(&h->tap);
    uv_timer_start(&h->tap_timer, on_late, END_MS, 0);
}

/* It has died: another one completes what it has left. */
static void
on_last(uv_timer_t *timer)
{
    struct host *h = timer->data;
    uint64_t wait_ms;
    if (h->is_tap_closing) { /* the old one's watch goes first */
        uv_timer_start(timer, on_last, 1, 0);
        return;
    }
    h->is_tap_last = true;
    tap_kill(&h->tap);
    if (tap_again(&h->tap, &wait_ms) < 0) {
        end(h);
        return;
    }
    watch(h);
    dismiss(h);
}

bool
host_wire_holds(struct host *h)
{
    if (!h->has_tap || h->is_tap_over)
        return false;
    if (h->is_tap_dismissed)
        return true;
    h->is_tap_dismissed = true;
    if (h->is_tap_watched)
        dismiss(h);
    else if (tap_owes(&h->tap))
        uv_timer_start(&h->tap_timer, on_last, 0, 0);
    else
        h->is_tap_over = true;
    if (h->is_tap_over)
        tap_release(&h->tap);
    return !h->is_tap_over;
}

/* -- while it runs -- */

static void
on_wire(uv_poll_t *poll, int status, int events)
{
    struct host *h = poll->data;
    struct ipc_message m;
    uint64_t wait_ms = 0;
    int r;
    (void)status, (void)events;
    while ((r = tap_next(&h->tap, &m, &wait_ms)) > 0) {
        take(h, &m);
        if (h->is_tap_dismissed)
            uv_timer_start(&h->tap_timer, on_late, END_MS, 0);
    }
    if (r < 0) {
        unwatch(h);
        if (h->is_tap_dismissed && !h->is_tap_last && tap_owes(&h->tap)) {
            uv_timer_start(&h->tap_timer, on_last, 0, 0);
        } else if (h->is_tap_dismissed) {
            end(h);
        } else if (!h->is_over) {
            say(h, "the proxy has died, and is started again; requests that were going "
                   "on have broken off");
            uv_timer_start(&h->tap_timer, on_again, wait_ms, 0);
        }
    }
    host_loop_update(h);
}

void
host_wire_begin(struct host *h)
{
    if (h->tap_trouble[0])
        say(h, h->tap_trouble);
    if (h->has_tap)
        watch(h);
}

void
host_wire_reap(struct host *h)
{
    if (h->has_tap)
        tap_reap(&h->tap);
}
