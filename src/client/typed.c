/* SPDX-License-Identifier: MIT */
/* typed.c -- from the client's stdin to the session, as much as that takes. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/file.h"
#include "client/client_priv.h"

enum { INPUT_SIZE = 16 << 10, CTRL_C = 3, EARLY_MAX = 32 << 10 };

void
client_open_input(struct client *c)
{
    c->is_input_open = c->opt->in_fd >= 0;
    c->in_fd = c->is_input_open ? pty_reopen_nonblock(c->opt->in_fd, O_RDONLY) : -1;
    if (c->in_fd < 0)
        c->in_fd = c->opt->in_fd;
    c->keys.is_watching = c->early_keys.is_watching = c->opt->kind == CLIENT_WATCH;
}

void
client_close_input(struct client *c)
{
    if (c->in_fd != c->opt->in_fd)
        close(c->in_fd);
}

static void
send_input(struct client *c, struct view v)
{
    c->window -= v.n;
    if (v.n)
        client_say(c, (struct ipc_message){ .selector = IPC_INPUT, .bytes = v });
}

/* Nobody types blindly into a session: a recorder that does not answer is left by
 * Ctrl-C, and keys wait for the picture. */
static void
hold_input(struct client *c, struct view v)
{
    AUTO(buf) ignored = { 0 };
    if (keys_take(&c->early_keys, v, &ignored) || memchr(v.p, CTRL_C, v.n))
        client_detach(c, 0);
    else if (c->early.n < EARLY_MAX)
        buf_append(&c->early, v.p, v.n);
}

static void
take_input(struct client *c, struct view v)
{
    AUTO(buf) for_session = { 0 };
    if (c->opt->kind == CLIENT_RECORD) {
        send_input(c, v);
        return;
    }
    if (!show_has_begun(&c->show)) {
        hold_input(c, v);
        return;
    }
    bool leaves = keys_take(&c->keys, v, &for_session);
    send_input(c, (struct view){ for_session.p, for_session.n });
    if (leaves)
        client_detach(c, 0);
}

void
client_take_early(struct client *c)
{
    if (!c->early.n || !show_has_begun(&c->show))
        return;
    take_input(c, (struct view){ c->early.p, c->early.n });
    buf_release(&c->early);
}

void
client_read_input(struct client *c)
{
    uint8_t bytes[INPUT_SIZE];
    size_t room = c->window < sizeof(bytes) ? c->window : sizeof(bytes);
    ssize_t n = file_read(c->in_fd, bytes, room);
    if (n == -EAGAIN)
        return;
    if (n > 0) {
        take_input(c, (struct view){ bytes, (size_t)n });
        return;
    }
    bool is_typed = c->opt->tty->fd == c->opt->in_fd;
    if (is_typed && n == -EIO && !pty_tty_is_foreground(c->opt->tty)) {
        client_suspend(c); /* it is somebody else's for now */
        return;
    }
    c->is_input_open = false;
    if (is_typed)
        client_hang_up(c); /* a terminal has no end but its own */
    else
        client_say(c, (struct ipc_message){ .selector = IPC_INPUT_END });
}
