/* SPDX-License-Identifier: MIT */
#include "tui/screen_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "pty/signals.h"

enum {
    COLS = 80, /* of a terminal that does not know its size */
    ROWS = 24,
    PATIENCE_MS = 500, /* for the bytes that give the terminal back */
};

/* -- taken and given back -- */

void
tui_screen_put(struct tui_screen *s, struct view bytes)
{
    pty_output_put(&s->out, bytes);
}

static void
put(struct tui_screen *s)
{
    tui_screen_put(s, (struct view){ s->bytes.p, s->bytes.n });
    buf_clear(&s->bytes);
}

static void
drain(struct tui_screen *s)
{
    uint64_t end_ns = clock_mono_ns() + PATIENCE_MS * 1000000ULL, now_ns;
    while (pty_output_waiting(&s->out) && (now_ns = clock_mono_ns()) < end_ns) {
        struct pollfd fd = { .fd = s->out.fd, .events = POLLOUT };
        if (poll(&fd, 1, (int)((end_ns - now_ns) / 1000000) + 1) > 0)
            pty_output_flush(&s->out);
    }
}

static void
take(struct tui_screen *s)
{
    while (s->tty.fd >= 0 && !pty_tty_is_foreground(&s->tty))
        pty_signals_stop_self();
    if (s->tty.fd >= 0)
        pty_tty_set_raw(&s->tty);
    tui_screen_resize(s);
    if (s->viewer)
        tui_viewer_begin(s->viewer, &s->bytes);
    else
        term_canvas_begin(&s->canvas, PTY_TTY_TAKE, &s->bytes);
    put(s);
}

/* Modes first: they hold even if the terminal takes nothing any more. */
static void
give_back(struct tui_screen *s)
{
    pty_tty_restore(&s->tty);
    if (s->viewer)
        tui_viewer_end(s->viewer, &s->bytes);
    else if (s->canvas.is_on)
        term_canvas_end(&s->canvas, PTY_TTY_GIVE, &s->bytes);
    put(s);
    drain(s);
}

static void
find_keys(struct tui_screen *s, int in_fd)
{
    s->own_fd = -1;
    if (pty_tty_init(&s->tty, in_fd))
        return;
    s->own_fd = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
    if (s->own_fd >= 0)
        pty_tty_init(&s->tty, s->own_fd);
}

static void
open_fds(struct tui_screen *s, int in_fd, int out_fd)
{
    find_keys(s, in_fd);
    pty_output_open(&s->out, out_fd);
    pty_signals_hold();
    pty_signals_listen();
    pty_guard_post(&s->guard, &s->tty, PTY_TTY_GIVE);
    take(s);
}

int
tui_screen_open(struct tui_screen *s, int in_fd, int out_fd, struct err *err)
{
    uint16_t cols = COLS, rows = ROWS;
    *s = (struct tui_screen){ .own_fd = -1 };
    pty_size(out_fd, &cols, &rows);
    int e = term_canvas_init(&s->canvas, cols, rows);
    if (e < 0)
        return err_code(err, e, "cannot make a screen of %ux%u", cols, rows);
    open_fds(s, in_fd, out_fd);
    return 0;
}

void
tui_screen_open_for(struct tui_screen *s, struct tui_viewer *viewer, int in_fd,
                    int out_fd)
{
    *s = (struct tui_screen){ .own_fd = -1, .viewer = viewer };
    open_fds(s, in_fd, out_fd);
}

void
tui_screen_close(struct tui_screen *s)
{
    give_back(s);
    pty_guard_relieve(&s->guard);
    pty_output_close(&s->out);
    if (!s->viewer)
        term_canvas_release(&s->canvas);
    buf_release(&s->bytes);
    if (s->own_fd >= 0)
        close(s->own_fd);
}

/* -- somebody else's for a while -- */

void
tui_screen_suspend(struct tui_screen *s, bool is_job)
{
    give_back(s);
    pty_signals_suspend(is_job);
    take(s);
}

void
tui_screen_lend(struct tui_screen *s, void (*use)(void *ctx), void *ctx)
{
    give_back(s);
    use(ctx);
    take(s);
}

/* What the terminal shows by now is not known. */
void
tui_screen_resume(struct tui_screen *s)
{
    if (s->viewer) {
        tui_viewer_end(s->viewer, &s->bytes);
        buf_clear(&s->bytes);
    } else {
        term_canvas_end(&s->canvas, "", &s->bytes);
    }
    take(s);
}

/* -- its size -- */

unsigned
tui_screen_cols(const struct tui_screen *s)
{
    return term_cols(s->canvas.shown);
}

unsigned
tui_screen_rows(const struct tui_screen *s)
{
    return term_rows(s->canvas.shown);
}

void
tui_screen_resize(struct tui_screen *s)
{
    uint16_t cols, rows;
    bool has_size = pty_size(s->out.given_fd, &cols, &rows);
    if (has_size && s->viewer)
        tui_viewer_resize(s->viewer, cols, rows, &s->bytes);
    else if (has_size)
        term_canvas_resize(&s->canvas, cols, rows, &s->bytes);
    put(s);
}

void
tui_screen_redraw(struct tui_screen *s)
{
    term_canvas_end(&s->canvas, "", &s->bytes);
    term_canvas_begin(&s->canvas, PTY_TTY_CALM "\033[H\033[2J", &s->bytes);
    put(s);
}

/* -- pictures and keys -- */

bool
tui_screen_is_ready(const struct tui_screen *s)
{
    return !pty_output_waiting(&s->out);
}

int
tui_screen_show(struct tui_screen *s, struct view bytes)
{
    term_canvas_paint(&s->canvas, bytes);
    int e = term_canvas_show(&s->canvas, NULL, &s->bytes);
    put(s);
    return e;
}

bool
tui_screen_wait(struct tui_screen *s, int timeout_ms)
{
    enum { IN, OUT };
    struct pollfd fds[] = { { .fd = s->tty.fd, .events = POLLIN },
                            { .fd = pty_output_waiting(&s->out) ? s->out.fd : -1,
                              .events = POLLOUT } };
    if (pty_signals_poll(fds, 2, timeout_ms) <= 0)
        return false;
    if (fds[OUT].revents)
        pty_output_flush(&s->out);
    return fds[IN].revents;
}

ssize_t
tui_screen_read(struct tui_screen *s, void *p, size_t n)
{
    ssize_t got = s->tty.fd < 0 ? 0 : read(s->tty.fd, p, n);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return 0;
    return got > 0 ? got : -EIO;
}
