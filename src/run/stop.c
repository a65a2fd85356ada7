/* SPDX-License-Identifier: MIT */
/*
 * stop.c -- how a command is ended: by the signal that we were sent; by SIGTERM when
 * another one comes or it takes its time; then by SIGKILL.
 */
#include <signal.h>

#include "pty/signals.h"
#include "run/run_priv.h"

enum {
    GRACE_MS = 5000,
    SAME_STOP_MS = 200, /* two signals within this are one request */
};

static void on_grace(uv_timer_t *timer);

static void
press(struct run *r)
{
    r->stop_step++;
    if (r->is_running && !r->has_exited)
        run_child_signal(&r->child, r->stop_step == 2 ? SIGTERM : SIGKILL);
    if (r->stop_step < 3)
        uv_timer_start(&r->grace_timer, on_grace, GRACE_MS, 0);
}

static void
on_grace(uv_timer_t *timer)
{
    press(timer->data);
}

void
run_stop(struct run *r, int signo)
{
    uint64_t now_ns = clock_mono_ns();
    if (signo <= 0 || signo >= NSIG)
        return;
    if (r->stop_signo) {
        if (now_ns - r->stop_at_ns >= (uint64_t)SAME_STOP_MS * 1000000)
            press(r);
        r->stop_at_ns = now_ns;
        r->stop_taken = r->out.taken;
        return;
    }
    r->stop_signo = signo;
    r->stop_at_ns = now_ns;
    r->stop_taken = r->out.taken;
    r->stop_step = 1;
    if (r->is_running && !r->has_exited)
        run_child_signal(&r->child, signo);
    uv_timer_start(&r->grace_timer, on_grace, GRACE_MS, 0);
}

void
run_suspend(struct run *r)
{
    bool is_alive = r->is_running && !r->has_exited;
    if (is_alive)
        run_child_signal(&r->child, SIGTSTP);
    pty_signals_suspend(false);
    if (is_alive)
        run_child_signal(&r->child, SIGCONT);
}
