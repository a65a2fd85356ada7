/* SPDX-License-Identifier: MIT */
/* terminal.c -- what becomes of a client when its terminal or a signal says so. */
#include "base/clock.h"
#include "client/client_priv.h"
#include "pty/signals.h"
#include "tui/editor.h"

enum {
    PATIENCE_MS =
        8000, /* a signal after this finds a host that does not come to an end */
};

void
client_detach(struct client *c, int signo)
{
    telling_finish(c); /* the host takes them before it lets us go */
    client_say(c, (struct ipc_message){ .selector = IPC_DETACH });
    c->result->end = CLIENT_DETACHED;
    c->result->signo = signo;
    c->is_done = true;
}

void
client_hang_up(struct client *c)
{
    if (c->has_hung_up)
        return;
    c->has_hung_up = true;
    c->is_input_open = false;
    if (c->has_ended)
        c->is_done = true;
    else if (c->opt->is_detachable || c->opt->kind != CLIENT_RECORD)
        client_detach(c, 0);
    else
        client_say(c, (struct ipc_message){ .selector = IPC_HANGUP });
}

/* -- its size -- */

void
client_tell_size(struct client *c)
{
    uint16_t cols, rows;
    int fd = c->opt->is_out_terminal ? c->opt->out_fd : c->opt->tty->fd;
    if (fd < 0 || !pty_size(fd, &cols, &rows))
        return;
    show_resize(&c->show, cols, rows);
    if (c->opt->has_fixed_cols)
        cols = c->opt->cols;
    if (c->opt->has_fixed_rows)
        rows = c->opt->rows;
    if (c->opt->kind == CLIENT_WATCH || (cols == c->cols && rows == c->rows))
        return;
    c->cols = cols;
    c->rows = rows;
    client_say(c,
               (struct ipc_message){ .selector = IPC_RESIZE, .field = { cols, rows } });
}

/* -- somebody else's for a while -- */

static void
give_terminal(struct client *c)
{
    pty_tty_restore(c->opt->tty);
    show_suspend(&c->show);
}

static void
take_terminal(struct client *c)
{
    if (c->opt->tty->fd >= 0 && c->is_input_open)
        pty_tty_set_raw(c->opt->tty);
    client_tell_size(c);
    show_resume(&c->show);
}

void
client_suspend(struct client *c)
{
    give_terminal(c);
    pty_signals_stop_self();
}

void
client_edit(struct client *c, const char *path, unsigned line)
{
    struct err err;
    give_terminal(c);
    int r = tui_editor(path, line, c->opt->in_fd, c->opt->out_fd, &err);
    take_terminal(c);
    tui_viewer_edited(c->show.look.viewer, r < 0 ? &err : NULL);
}

static void
resume(struct client *c)
{
    struct pty_tty *tty = c->opt->tty;
    if (c->has_hung_up) /* the kernel continues those whose terminal goes away */
        return;
    if (tty->fd >= 0 && !pty_tty_is_foreground(tty))
        client_suspend(c);
    else
        take_terminal(c);
}

void
client_suspend_job(struct client *c)
{
    give_terminal(c);
    pty_signals_suspend(true);
    resume(c);
}

/* -- the end -- */

static void
stop_session(struct client *c, int signo)
{
    uint64_t now_ns = clock_mono_ns();
    if (c->stop_at_ns && now_ns - c->stop_at_ns > (uint64_t)PATIENCE_MS * 1000000) {
        c->result->end = CLIENT_LEFT;
        c->result->signo = signo;
        c->is_done = true;
        return;
    }
    if (!c->stop_at_ns)
        c->stop_at_ns = now_ns;
    c->show.is_stopping = true;
    if (signo == SIGHUP)
        client_hang_up(c);
    else
        client_say(c, (struct ipc_message){ .selector = IPC_STOP,
                                            .field = { (uint64_t)signo } });
}

static void
stop(struct client *c, int signo)
{
    if (c->has_ended) /* nothing keeps us but a terminal that takes no more */
        c->is_done = true;
    else if (c->opt->kind == CLIENT_RECORD)
        stop_session(c, signo);
    else
        client_detach(c, signo);
}

void
client_handle_signals(struct client *c)
{
    for (int signo; (signo = pty_signals_next());)
        switch (signo) {
        case SIGWINCH:
            client_tell_size(c);
            break;
        case SIGTSTP:
        case SIGTTOU:
        case SIGTTIN:
            client_suspend(c);
            break;
        case SIGCONT:
            resume(c);
            break;
        default:
            stop(c, signo);
            break;
        }
}
