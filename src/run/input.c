/* SPDX-License-Identifier: MIT */
/*
 * Our standard input is shared with the shell and others: O_NONBLOCK set on it would be
 * theirs as well. So a terminal is opened once more, and the rest is read only when there
 * is something.
 */
#include "run/input_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/file.h"
#include "pty/tty.h"

enum {
    READ_SIZE = 64 << 10,
    WAITING_MAX = 1 << 20, /* until no more of ours is read */
    TYPED_MAX = 1 << 20,
    LINE_MAX_BYTES = 1 << 20,
    KEPT_MAX = 16 << 20,
    TURNS_MAX = 16, /* writes at once, so that others have their turn */
};

/* -- what our standard input is -- */

static bool
is_nothing(int fd)
{
    struct stat st;
    int how = fcntl(fd, F_GETFL);
    return how < 0 || (how & O_ACCMODE) == O_WRONLY || fstat(fd, &st) ||
           S_ISDIR(st.st_mode) ||
           (S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3)); /* /dev/null */
}

static bool
is_away(int fd)
{
    struct pty_tty tty = { .fd = fd };
    return !pty_tty_is_foreground(&tty);
}

/* epoll refuses what is always readable. */
static bool
can_be_polled(int fd)
{
    struct epoll_event e = { .events = EPOLLIN };
    int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    bool can = epoll_fd < 0 || !epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &e) ||
               errno != EPERM;
    if (epoll_fd >= 0)
        close(epoll_fd);
    return can;
}

static void
open_terminal(struct run_input *in, int fd)
{
    if (is_away(fd))
        return;
    int own = pty_reopen_nonblock(fd, O_RDONLY);
    in->is_terminal = true;
    in->is_own = own >= 0;
    in->from_fd = own >= 0 ? own : fd;
}

void
run_input_init(struct run_input *in, int from_fd, bool is_one_prompt, bool is_repeated,
               run_message_fn fn, void *ctx)
{
    *in = (struct run_input){ .from_fd = -1,
                              .to_fd = -1,
                              .is_one_prompt = is_one_prompt,
                              .is_kept_whole = true,
                              .kept = { .ceiling = KEPT_MAX },
                              .fn = fn,
                              .ctx = ctx };
    signal(SIGPIPE, SIG_IGN); /* a command that has closed its input is told by EPIPE */
    if (from_fd < 0 || is_nothing(from_fd))
        return;
    if (isatty(from_fd)) {
        open_terminal(in, from_fd);
        return;
    }
    in->from_fd = from_fd;
    in->is_pulled = !can_be_polled(from_fd);
    in->is_kept = is_repeated;
}

static void
close_from(struct run_input *in)
{
    if (in->is_own)
        close(in->from_fd);
    in->is_own = false;
    in->from_fd = -1;
}

static void
close_to(struct run_input *in)
{
    if (in->to_fd >= 0)
        close(in->to_fd);
    in->to_fd = -1;
    queue_clear(&in->waiting);
    buf_clear(&in->line);
    buf_clear(&in->typed);
}

void
run_input_release(struct run_input *in)
{
    close_from(in);
    close_to(in);
    queue_release(&in->waiting);
    buf_release(&in->line);
    buf_release(&in->typed);
    buf_release(&in->kept);
}

/* -- messages -- */

/* Told first, then on its way. */
static void
pass(struct run_input *in, struct view message, bool has_newline)
{
    if (message.n || has_newline) {
        in->fn(in->ctx, message, !has_newline && !in->is_ending);
        in->is_told = true;
    }
    queue_put(&in->waiting, message);
    if (has_newline)
        queue_put(&in->waiting, (struct view){ (const uint8_t *)"\n", 1 });
}

static void
pass_line(struct run_input *in, struct buf *line, bool has_newline)
{
    pass(in, (struct view){ line->p, line->n }, has_newline);
    buf_clear(line);
}

static void
begin_line(struct run_input *in, struct buf *line, struct view v, size_t max)
{
    if (line->n + v.n > max)
        pass_line(in, line, false);
    if (v.n && buf_append(line, v.p, v.n) < 0) {
        buf_clear(line);
        pass(in, v, false); /* out of memory: in pieces, then */
    }
}

/* Whole lines are on their way, and one that has begun waits in `line`. */
static void
take_lines(struct run_input *in, struct buf *line, struct view v)
{
    const uint8_t *end;
    while (v.n && (end = memchr(v.p, '\n', v.n))) {
        struct view first = { v.p, (size_t)(end - v.p) };
        v = (struct view){ end + 1, v.n - first.n - 1 };
        if (!line->n) {
            pass(in, first, true);
            continue;
        }
        begin_line(in, line, first, LINE_MAX_BYTES);
        pass_line(in, line, true);
    }
    begin_line(in, line, v, LINE_MAX_BYTES);
}

static void
take(struct run_input *in, struct view v)
{
    if (in->is_one_prompt)
        begin_line(in, &in->line, v, KEPT_MAX);
    else
        take_lines(in, &in->line, v);
}

/* A prompt's last newline is how a line ends, and no part of what is said. */
static void
end_message(struct run_input *in)
{
    struct buf *line = &in->line;
    bool has_newline = line->n && line->p[line->n - 1] == '\n';
    line->n -= has_newline;
    in->is_ending = true;
    if (line->n || has_newline)
        pass_line(in, line, has_newline);
    in->is_ending = false;
}

bool
run_input_has_begun(const struct run_input *in)
{
    return in->line.n && !in->is_one_prompt && in->to_fd >= 0;
}

void
run_input_pass_begun(struct run_input *in)
{
    if (run_input_has_begun(in))
        pass_line(in, &in->line, false);
}

void
run_input_say(struct run_input *in, struct view message)
{
    if (in->to_fd < 0)
        return;
    pass(in, message, true);
    if (in->is_one_prompt) {
        close_from(in);
        in->is_held = false;
    }
}

int
run_input_send(struct run_input *in, struct view bytes)
{
    if (in->to_fd < 0)
        return -EPIPE;
    if (queue_size(&in->waiting) + in->typed.n + bytes.n > WAITING_MAX + TYPED_MAX)
        return ERR_LIMIT;
    bool has_enter = bytes.n && bytes.p[bytes.n - 1] == '\r';
    bytes.n -= has_enter;
    take_lines(in, &in->typed, bytes);
    if (has_enter)
        pass_line(in, &in->typed, true);
    return 0;
}

/* -- reading -- */

static void
keep(struct run_input *in, struct view v)
{
    if (!in->is_kept || !in->is_kept_whole)
        return;
    /* Half of it would be worse than none. */
    if (buf_append(&in->kept, v.p, v.n) < 0) {
        in->is_kept_whole = false;
        buf_release(&in->kept);
    }
    in->again_at = in->kept.n;
}

/* Of what is shared with others and may be empty by now. */
static ssize_t
read_shared(int fd, void *p, size_t n)
{
    struct iovec v = { p, n };
    ssize_t got = preadv2(fd, &v, 1, -1, RWF_NOWAIT);
    if (got >= 0 || errno == EAGAIN || errno == EINTR)
        return got >= 0 ? got : -EAGAIN;
    struct pollfd ask = { .fd = fd, .events = POLLIN };
    return poll(&ask, 1, 0) > 0 ? file_read(fd, p, n) : -EAGAIN;
}

/* SIGTTIN would stop us: blocked, the read says EIO. */
static ssize_t
read_terminal(int fd, bool is_own, void *p, size_t n)
{
    sigset_t ttin, before;
    sigemptyset(&ttin);
    sigaddset(&ttin, SIGTTIN);
    sigprocmask(SIG_BLOCK, &ttin, &before);
    ssize_t got = is_own ? file_read(fd, p, n) : read_shared(fd, p, n);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return got == -EIO && is_away(fd) ? -EAGAIN : got;
}

/* A count; 0 when there is nothing now, or ever. */
static size_t
read_more(struct run_input *in)
{
    uint8_t bytes[READ_SIZE];
    ssize_t n = in->is_terminal
                    ? read_terminal(in->from_fd, in->is_own, bytes, sizeof(bytes))
                : in->is_pulled ? file_read(in->from_fd, bytes, sizeof(bytes))
                                : read_shared(in->from_fd, bytes, sizeof(bytes));
    if (n == -EAGAIN)
        return 0;
    if (n <= 0) {
        close_from(in);
        end_message(in);
        return 0;
    }
    struct view v = { bytes, (size_t)n };
    keep(in, v);
    take(in, v);
    return v.n;
}

/* What an earlier iteration has had: all of it, before more is read. */
static bool
has_again(const struct run_input *in)
{
    return in->again_at < in->kept.n;
}

static void
take_again(struct run_input *in)
{
    size_t left = in->kept.n - in->again_at, n = left < READ_SIZE ? left : READ_SIZE;
    struct view v = { in->kept.p + in->again_at, n };
    in->again_at += n;
    take(in, v);
    if (!has_again(in) && in->from_fd < 0)
        end_message(in);
}

/* What comes without being waited for. */
static bool
has_at_hand(const struct run_input *in)
{
    return !in->is_held && (has_again(in) || (in->is_pulled && in->from_fd >= 0));
}

static void
refill(struct run_input *in)
{
    while (!queue_size(&in->waiting) && has_at_hand(in)) {
        if (has_again(in))
            take_again(in);
        else
            read_more(in);
    }
}

bool
run_input_wants_read(const struct run_input *in)
{
    return in->to_fd >= 0 && in->from_fd >= 0 && !in->is_pulled && !has_again(in) &&
           !in->is_held && queue_size(&in->waiting) < WAITING_MAX &&
           !(in->is_terminal && is_away(in->from_fd));
}

/* -- writing -- */

/* All of it is written, and no more will come. */
static bool
is_over(const struct run_input *in)
{
    return !in->is_held && in->from_fd < 0 && !has_again(in) && !queue_size(&in->waiting);
}

/* Is there room for more? */
static bool
write_some(struct run_input *in)
{
    struct view v = queue_view(&in->waiting);
    if (in->on_write && in->is_told)
        in->on_write(in->ctx);
    in->is_told = false;
    ssize_t n = write(in->to_fd, v.p, v.n);
    if (n >= 0) {
        queue_drop(&in->waiting, (size_t)n);
        return (size_t)n == v.n;
    }
    if (errno != EAGAIN && errno != EINTR)
        close_to(in); /* it is not read any more */
    return false;
}

bool
run_input_wants_write(const struct run_input *in)
{
    return in->to_fd >= 0 && (queue_size(&in->waiting) || has_at_hand(in));
}

void
run_input_on_write(struct run_input *in)
{
    for (int i = 0; i < TURNS_MAX && in->to_fd >= 0; i++) {
        refill(in);
        if (!queue_size(&in->waiting) || !write_some(in))
            break;
    }
    if (in->to_fd >= 0 && is_over(in))
        close_to(in);
}

void
run_input_on_read(struct run_input *in)
{
    if (!run_input_wants_read(in))
        return;
    read_more(in);
    run_input_on_write(in);
}

void
run_input_begin(struct run_input *in, int to_fd)
{
    close_to(in);
    in->to_fd = to_fd;
    in->again_at = 0;
    if (to_fd >= 0)
        run_input_on_write(in);
}
