/* SPDX-License-Identifier: MIT */
/*
 * Settings are changed at once (TCSANOW): waiting for the output to drain would hang on a
 * terminal that was stopped with ^S, and what is written before keeps its processing
 * anyway.
 */
#include "pty/tty.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

bool
pty_tty_init(struct pty_tty *t, int fd)
{
    *t = (struct pty_tty){ .fd = -1 };
    if (tcgetattr(fd, &t->saved))
        return false;
    t->fd = fd;
    t->raw = t->saved;
    cfmakeraw(&t->raw);
    return true;
}

bool
pty_tty_is_foreground(const struct pty_tty *t)
{
    if (t->fd < 0)
        return false;
    pid_t group = tcgetpgrp(t->fd);
    return group < 0 ? errno == ENOTTY || errno == EIO : group == getpgrp();
}

int
pty_tty_set_raw(struct pty_tty *t)
{
    /* In the background this stops us or fails with EINTR, as it should. */
    if (tcsetattr(t->fd, TCSANOW, &t->raw))
        return -errno;
    t->is_raw = true;
    return 0;
}

/* Also from the background, where SIGTTOU would stop us. */
static void
put_back(int fd, const struct termios *saved)
{
    sigset_t ttou, before;
    sigemptyset(&ttou);
    sigaddset(&ttou, SIGTTOU);
    sigprocmask(SIG_BLOCK, &ttou, &before);
    tcsetattr(fd, TCSANOW, saved);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

void
pty_tty_restore(struct pty_tty *t)
{
    if (t->is_raw)
        put_back(t->fd, &t->saved);
    t->is_raw = false;
}

/* Speed and framing are the line's own, and drivers adjust them. */
static bool
is_same(const struct termios *a, const struct termios *b)
{
    return a->c_iflag == b->c_iflag && a->c_oflag == b->c_oflag &&
           a->c_lflag == b->c_lflag && !memcmp(a->c_cc, b->c_cc, sizeof(a->c_cc));
}

bool
pty_tty_restore_left(int fd, const struct termios *saved, const struct termios *raw)
{
    struct termios now;
    if (tcgetattr(fd, &now) || !is_same(&now, raw))
        return false;
    put_back(fd, saved);
    return true;
}

void
pty_tty_write(int fd, const char *bytes)
{
    int own_fd = pty_reopen_nonblock(fd, O_WRONLY);
    if (own_fd < 0)
        return;
    (void)!write(own_fd, bytes, strlen(bytes));
    close(own_fd);
}

bool
pty_size(int fd, uint16_t *ret_cols, uint16_t *ret_rows)
{
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) || !size.ws_col || !size.ws_row)
        return false;
    *ret_cols = size.ws_col;
    *ret_rows = size.ws_row;
    return true;
}

int
pty_set_size(int fd, uint16_t cols, uint16_t rows)
{
    struct winsize size = { .ws_col = cols, .ws_row = rows };
    return ioctl(fd, TIOCSWINSZ, &size) ? -errno : 0;
}

/* Opened once more it is the same file: a FIFO, or a terminal that is no PTY's master (to
 * open that makes a new PTY). */
static bool
can_reopen(int fd, const struct stat *st)
{
    unsigned number;
    return S_ISFIFO(st->st_mode) || (isatty(fd) && ioctl(fd, TIOCGPTN, &number));
}

int
pty_reopen_nonblock(int fd, int how)
{
    struct stat st, again;
    char path[32];
    if (fstat(fd, &st))
        return -1;
    if (!can_reopen(fd, &st)) {
        errno = ENOTSUP;
        return -1;
    }
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    int own = open(path, how | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (own < 0)
        return -1;
    if (fstat(own, &again) || again.st_dev != st.st_dev || again.st_ino != st.st_ino) {
        close(own);
        errno = ENOTSUP;
        return -1;
    }
    return own;
}
