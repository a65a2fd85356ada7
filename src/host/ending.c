/* SPDX-License-Identifier: MIT */
/*
 * ending.c -- how a session ends, and what is said of it.
 *
 * The child has exited by itself, or was told to: then what is left in the PTY is read,
 * the recording finished, its facts written, its folder moved, its branch points made if
 * they were asked for, its index begun, and the client told, in this order.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/signame.h"
#include "host/host_priv.h"

enum {
    GRACE_MS = 5000,      /* for a child that was told to end */
    SAME_STOP_MS = 500,   /* two signals within this are one request */
    DRAIN_QUIET_MS = 100, /* a PTY that others keep open has ended when it is silent */
    DRAIN_MAX_MS = 2000,  /* … or after this */
    DRAIN_TURNS = 16,     /* at once; more than a PTY can hold */
    LEAVE_MS = 2000,      /* for those who only look, to read the end */
};

static void
on_grace(uv_timer_t *timer)
{
    struct host *h = timer->data;
    if (!h->has_exited)
        pty_child_signal(&h->child, SIGKILL);
}

void
host_stop(struct host *h, int signo)
{
    if (h->has_exited || signo <= 0 || signo >= NSIG)
        return;
    uint64_t now_ns = clock_mono_ns();
    if (!h->stop_signo) {
        h->stop_signo = signo;
        h->stop_at_ns = now_ns;
        if (h->link) /* whoever does not read does not keep it from ending */
            h->link->is_lossy = true;
        host_log(h, "SIG%s: the command is told", signame(signo));
        pty_child_signal(&h->child, signo);
        uv_timer_start(&h->grace_timer, on_grace, GRACE_MS, 0);
    } else if (now_ns - h->stop_at_ns >= (uint64_t)SAME_STOP_MS * 1000000) {
        pty_child_signal(&h->child, SIGKILL);
    }
}

void
host_reap(struct host *h)
{
    int status;
    pid_t pid;
    while (!h->has_exited &&
           (pid = waitpid(h->child.pid, &status, WNOHANG | WUNTRACED)) != 0) {
        if (pid < 0 && errno == EINTR)
            continue;
        if (pid < 0) /* somebody else has reaped it; how it ended is not known */
            status = 0;
        if (WIFSTOPPED(status)) {
            /* Nobody is there who could continue it. But one that is not in the
             * foreground and wants the terminal would only be stopped again. */
            if (WSTOPSIG(status) != SIGTTIN && WSTOPSIG(status) != SIGTTOU)
                killpg(h->child.pid, SIGCONT);
            continue;
        }
        h->has_exited = true;
        h->wait_status = status;
        h->exit_at_ns = clock_mono_ns();
        close(h->slave_fd); /* from here on the PTY can come to its end */
        h->slave_fd = -1;
        host_try_finish(h);
    }
}

/* Nobody of those that keep the PTY open has written anything for a while. */
static void
on_drained(uv_timer_t *timer)
{
    struct host *h = timer->data;
    if (!host_is_full(h) && !host_drain(h, DRAIN_TURNS))
        h->is_pty_closed = true;
    host_try_finish(h);
    host_loop_update(h);
}

void
host_say(struct host *h, const char *text)
{
    AUTO(buf) line = { 0 };
    host_log(h, "%s", text);
    buf_printf(&line, "%s%s", text, h->has_exited ? "" : "; the command goes on");
    host_broadcast(
        h, &(struct ipc_message){ .selector = IPC_TROUBLE, .bytes = { line.p, line.n } });
    host_show(h, (struct view){ 0 }, 0);
}

void
host_say_trouble(struct host *h, const char *text)
{
    snprintf(h->trouble, sizeof(h->trouble), "%s", text);
    /* Once: what comes later is in the log, and in what is said at the end. */
    if (h->has_told_trouble)
        host_log(h, "%s", text);
    else
        host_say(h, text);
    h->has_told_trouble = true;
}

void
host_tell_trouble(struct host *h)
{
    struct err err;
    if (!h->is_over && tape_writer_trouble(h->recorder.tape, &err))
        host_say_trouble(h, err.text);
}

static void
judge(struct host *h)
{
    struct session_meta *m = &h->meta;
    int status = h->wait_status;
    if (WIFEXITED(status)) {
        m->exit_code = WEXITSTATUS(status);
        m->status = m->exit_code ? SESSION_FAILED : SESSION_COMPLETED;
    } else {
        /* The two that keys send are a person's doing. */
        bool is_key = WTERMSIG(status) == SIGINT || WTERMSIG(status) == SIGQUIT;
        m->exit_code = 128 + WTERMSIG(status);
        m->status = is_key ? SESSION_ABORTED : SESSION_CRASHED;
        m->signal = signame(WTERMSIG(status));
    }
    if (h->stop_signo) {
        m->status = SESSION_ABORTED;
        m->signal = signame(h->stop_signo);
    }
    m->ended_at_ns = recorder_now_ns(&h->recorder);
    m->host_pid = 0;
}

static void
tell_end(struct host *h)
{
    const struct session_meta *m = &h->meta;
    const char *text = h->end_err.text;
    int signo = h->stop_signo                 ? h->stop_signo
                : WIFSIGNALED(h->wait_status) ? WTERMSIG(h->wait_status)
                                              : 0;
    host_dismiss(h, &(struct ipc_message){
                        .selector = IPC_ENDED,
                        .field = { m->status, (uint64_t)m->exit_code, (uint64_t)signo,
                                   m->total_bytes, m->missing_bytes,
                                   m->ended_at_ns - m->started_at_ns, h->end_flags },
                        .bytes = { (const uint8_t *)text, strlen(text) },
                    });
}

/* The recording is closed with result r: what becomes of its meta and its folder. Returns
 * the first error. */
static int
put_away(struct host *h, int r, struct err *err)
{
    struct err other = { 0 };
    /* How it ended is known, whatever became of the recording. */
    int r_meta = host_facts_end(h, &other);
    if (!r && r_meta < 0) {
        *err = other;
        return r_meta;
    }
    if (!r)
        return session_folder_finish(&h->folder, err);
    /* What is not whole stays in live/, where `recover` looks for it; what is whole but
     * under another name than the out-file's is not to be found by it. */
    if (r == -ESTALE && h->folder.is_outside)
        session_folder_finish(&h->folder, &other);
    return r;
}

static void
finish(struct host *h)
{
    struct tape_writer_status st;
    struct err *err = &h->end_err;
    uint64_t off = h->recorder.byte_off;
    host_show(h, recorder_flush(&h->recorder), off);
    judge(h);
    host_tell_trouble(h);
    host_doors_close(h);
    int r = recorder_finish(&h->recorder, &st, err);
    bool is_owed = !r && h->is_tap_owing; /* all that is ours is there */
    if (is_owed)
        r = err_set(err, -EIO, "not all of what went over the wire is in order yet");
    host_notes_finish(h); /* until then the tape may sync them */
    h->is_over = true;
    host_dismiss_taker(h);
    if (st.trouble.code)
        host_say_trouble(h, st.trouble.text);
    h->meta.total_bytes = st.byte_off;
    h->meta.gaps = st.gaps;
    h->meta.missing_bytes = st.dropped_bytes + st.unsaved_bytes;
    h->meta.is_suspect = st.is_suspect;
    r = put_away(h, r, err);
    if (!r)
        err->text[0] = 0;
    host_log(h, "%s%s%s", session_status_name(h->meta.status), r ? ": " : "", err->text);
    h->end_flags = (r == -ESTALE ? IPC_ENDED_ASTRAY
                    : r          ? IPC_ENDED_LEFT
                                 : 0) |
                   (st.is_suspect ? IPC_ENDED_SUSPECT : 0);
    if (!is_owed &&
        (h->end_flags & IPC_ENDED_LEFT)) /* what is not answered was not taken */
        host_pay_in_doubt(h);
    else
        host_pay(h, true);
}

void
host_try_leave(struct host *h)
{
    if (h->points_pid)
        return;
    for (struct conn *c = h->conns, *next; c; c = next) {
        next = c->next;
        if (!conn_has_waiting(c, &h->reel))
            host_drop_conn(h, c);
    }
    if (!h->conns)
        uv_stop(&h->loop);
}

static void
on_leave(uv_timer_t *timer)
{
    struct host *h = timer->data;
    for (struct conn *c = h->conns, *next; c; c = next) {
        next = c->next;
        if (c != h->link)
            host_drop_conn(h, c);
    }
    host_try_leave(h);
}

void
host_conclude(struct host *h)
{
    host_start_index(h);
    tell_end(h);
    uv_timer_start(&h->leave_timer, on_leave, LEAVE_MS, 0);
    host_try_leave(h);
}

void
host_try_finish(struct host *h)
{
    if (h->is_over)
        return;
    bool is_full = host_is_full(h);
    if (!is_full)
        host_drain(h, DRAIN_TURNS);
    bool is_late = clock_mono_ns() - h->exit_at_ns >= (uint64_t)DRAIN_MAX_MS * 1000000;
    if (!h->is_pty_closed && (is_full || !is_late)) {
        uv_update_time(&h->loop); /* we may have waited for the disk */
        uv_timer_start(&h->drain_timer, on_drained, DRAIN_QUIET_MS, 0);
        return;
    }
    if (host_wire_holds(h))
        return;
    finish(h);
    uv_poll_stop(&h->pty_poll);
    h->pty_events = 0;
    if (!host_make_points(h))
        host_conclude(h);
}
