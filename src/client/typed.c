/* SPDX-License-Identifier: MIT */
/* typed.c -- from the client's stdin to the session, as much as that takes. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "client/client_priv.h"

enum {
    INPUT_SIZE = 16 << 10,
    CTRL_C = 3,
    EARLY_MAX = 32 << 10,
    UNSENT_MAX = 64 << 10, /* what the session does not take, until no more is read */
};

void
client_open_input(struct client *c)
{
    c->is_input_open = c->opt->in_fd >= 0;
    c->in_fd = c->is_input_open ? pty_reopen_nonblock(c->opt->in_fd, O_RDONLY) : -1;
    if (c->in_fd < 0)
        c->in_fd = c->opt->in_fd;
    c->early_prefix.key = c->opt->prefix;
}

void
client_close_input(struct client *c)
{
    if (c->in_fd != c->opt->in_fd)
        close(c->in_fd);
    buf_release(&c->early);
    queue_release(&c->unsent);
}

/* -- to the session -- */

void
client_send_typed(struct client *c)
{
    while (queue_size(&c->unsent) && c->window && !c->has_ended) {
        struct view v = queue_view(&c->unsent);
        v.n = v.n < c->window ? v.n : c->window;
        v.n = v.n < INPUT_SIZE ? v.n : INPUT_SIZE;
        c->window -= v.n;
        client_say(c, (struct ipc_message){ .selector = IPC_INPUT, .bytes = v });
        queue_drop(&c->unsent, v.n);
    }
    queue_compact(&c->unsent);
}

void
client_type_bytes(struct client *c, struct view v)
{
    if (c->opt->kind == CLIENT_WATCH || queue_put(&c->unsent, v) < 0)
        return;
    c->typed += v.n;
    client_send_typed(c);
}

void
client_type_text(struct client *c, const char *text)
{
    client_type_bytes(c, (struct view){ (const uint8_t *)text, strlen(text) });
}

/* -- from the terminal -- */

/* Are keys the viewer's to look at? */
static bool
is_viewed(const struct client *c)
{
    return c->show.way == SHOW_DRAWING && look_keeps_rows(&c->show.look);
}

bool
client_reads_input(const struct client *c)
{
    if (!c->is_input_open || c->has_ended)
        return c->is_input_open && c->lingers;
    if (c->opt->kind == CLIENT_RECORD && c->early.n >= EARLY_MAX)
        return false;
    return is_viewed(c) ? queue_size(&c->unsent) < UNSENT_MAX : c->window;
}

/* As the viewer will have it. */
static bool
leaves(struct client *c, struct view v)
{
    AUTO(buf) ignored = { 0 };
    struct tui_prefix *p = &c->early_prefix;
    if (memchr(v.p, CTRL_C, v.n) ||
        (c->opt->kind == CLIENT_WATCH && memchr(v.p, 'q', v.n)))
        return true;
    while (v.n) {
        tui_prefix_take(p, &v, &ignored);
        if (!v.n || !p->is_held || tui_prefix_again(p, &v, &ignored) || !v.n)
            continue;
        p->is_held = false;
        if (v.p[0] == 'd')
            return true;
        v.p++, v.n--;
    }
    return false;
}

/* Nobody types blindly into a session: keys wait for the picture, and a recorder that
 * does not answer is left by Ctrl-C; but not by who has started it. */
static void
hold_input(struct client *c, struct view v)
{
    if (c->opt->kind != CLIENT_RECORD && leaves(c, v))
        client_detach(c, 0);
    else if (c->early.n < EARLY_MAX)
        buf_append(&c->early, v.p, v.n);
}

/* What is typed behind a wish comes after it: behind a detach it is nobody's. */
static void
take_keys(struct client *c, struct view v)
{
    AUTO(buf) for_session = { 0 };
    while (v.n && !c->is_done) {
        buf_clear(&for_session);
        tui_viewer_type(c->show.look.viewer, &v, clock_mono_ns(), &for_session);
        client_type_bytes(c, (struct view){ for_session.p, for_session.n });
        client_take_wishes(c);
    }
}

static void
take_input(struct client *c, struct view v)
{
    if (is_viewed(c) && c->show.look.viewer) {
        take_keys(c, v);
    } else if (c->opt->kind != CLIENT_RECORD || (is_viewed(c) && !c->show.model.term)) {
        hold_input(c, v);
    } else {
        client_type_bytes(c, v);
    }
}

void
client_take_early(struct client *c)
{
    struct buf early = c->early;
    if (!early.n || !c->show.look.viewer || c->is_done)
        return;
    c->early = (struct buf){ 0 };
    take_input(c, (struct view){ early.p, early.n });
    buf_release(&early);
}

void
client_read_input(struct client *c)
{
    uint8_t bytes[INPUT_SIZE];
    bool is_bounded = !is_viewed(c) && c->window < sizeof(bytes);
    ssize_t n = file_read(c->in_fd, bytes, is_bounded ? c->window : sizeof(bytes));
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
