/* SPDX-License-Identifier: MIT */
#include "host/feeder_priv.h"

#include <errno.h>
#include <unistd.h>

enum { STEP = 512 }; /* bytes between two looks at the terminal's state */

size_t
feeder_waiting(const struct feeder *f)
{
    return f->waiting.n - f->waiting_at;
}

/* It may never be empty: what is done goes when it is more than what waits. */
static void
forget_done(struct feeder *f)
{
    size_t n = feeder_waiting(f);
    if (f->waiting_at <= n)
        return;
    if (n)
        memmove(f->waiting.p, f->waiting.p + f->waiting_at, n);
    f->waiting.n = n;
    f->waiting_at = 0;
}

int
feeder_add(struct feeder *f, struct view bytes)
{
    forget_done(f);
    return buf_append(&f->waiting, bytes.p, bytes.n);
}

void
feeder_end(struct feeder *f)
{
    f->is_end = true;
}

bool
feeder_has_waiting(const struct feeder *f)
{
    return f->ready_at < f->ready.n || f->waiting_at < f->waiting.n ||
           (f->is_end && !f->is_end_sent);
}

bool
feeder_is_begun(const struct feeder *f)
{
    return f->ready_at && f->ready_at < f->ready.n;
}

/* A password is being asked for: canonical, and no echo. */
static bool
is_secret(const struct feeder *f, const struct termios *state)
{
    return !f->is_piped && (state->c_lflag & ICANON) && !(state->c_lflag & ECHO);
}

static void
prepare_bytes(struct feeder *f, const struct termios *state)
{
    size_t n = f->waiting.n - f->waiting_at;
    struct view in = { f->waiting.p + f->waiting_at, n < STEP ? n : STEP };
    if (f->recorder)
        recorder_input(f->recorder, in, is_secret(f, state));
    if (f->is_piped)
        pty_feed_put(&f->feed, state, in, &f->ready);
    else
        buf_append(&f->ready, in.p, in.n);
    f->waiting_at += in.n;
    f->ready_input = in.n;
}

/* Fills `ready` from what waits. */
static void
prepare(struct feeder *f)
{
    struct termios state = { 0 };
    buf_clear(&f->ready);
    f->ready_at = f->ready_input = 0;
    if ((f->is_piped || f->recorder) && tcgetattr(f->master_fd, &state) < 0)
        state = (struct termios){ 0 }; /* as raw */
    if (f->waiting_at < f->waiting.n) {
        prepare_bytes(f, &state);
    } else {
        pty_feed_end(&f->feed, &state, &f->ready);
        f->is_end_sent = true;
    }
}

static ssize_t
write_some(struct feeder *f)
{
    ssize_t n;
    do
        n = write(f->master_fd, f->ready.p + f->ready_at, f->ready.n - f->ready_at);
    while (n < 0 && errno == EINTR);
    return n;
}

size_t
feeder_pump(struct feeder *f)
{
    size_t done = 0;
    while (feeder_has_waiting(f)) {
        if (f->ready_at == f->ready.n)
            prepare(f);
        ssize_t n = f->ready.n ? write_some(f) : 0;
        if (f->ready.n && (n == 0 || (n < 0 && errno == EAGAIN)))
            break;
        if (n < 0) /* nobody reads any more */
            n = (ssize_t)(f->ready.n - f->ready_at);
        f->ready_at += (size_t)n;
        if (f->ready_at == f->ready.n) {
            done += f->ready_input;
            f->ready_input = 0;
        }
    }
    return done;
}
