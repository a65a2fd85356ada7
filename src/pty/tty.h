/* SPDX-License-Identifier: MIT */
/*
 * tty.h -- the user's own terminal: raw mode and back, its size.
 */
#ifndef PTY_TTY_H
#define PTY_TTY_H

#include <stdbool.h>
#include <stdint.h>
#include <termios.h>

struct pty_tty {
    int fd; /* borrowed; -1: there is none */
    struct termios saved, raw;
    bool is_raw;
};

/* fd's settings are saved; false when it is no terminal. */
bool pty_tty_init(struct pty_tty *t, int fd);
/* Is this process in the terminal's foreground? True also where it is not our controlling
 * terminal and cannot stop us, and where it has gone: nobody would continue us. */
bool pty_tty_is_foreground(const struct pty_tty *t);
/* 0 or -errno; in the background SIGTTOU comes, and -EINTR where that has a handler. */
int pty_tty_set_raw(struct pty_tty *t);
void pty_tty_restore(struct pty_tty *t);
/* What another process does for one that could not: puts the saved state back if the
 * terminal is still as raw as it was left; else false: it was given back, and somebody
 * else may be using it by now. */
bool pty_tty_restore_left(int fd, const struct termios *saved, const struct termios *raw);

/* What ends the modes that a program may leave on a terminal: a sequence that was cut
 * off; then colours, margins, keys, mouse, paste, focus and the cursor as they are at
 * first. The cursor stays where it is, and so does the alternate screen. */
#define PTY_TTY_CALM                                                                \
    "\030\033\\\033[0m\0337\033[r\0338\033[?1l\033>\033[?7h\033[?9l\033[?1000l"     \
    "\033[?1002l\033[?1003l\033[?1004l\033[?1005l\033[?1006l\033[?1015l\033[?2004l" \
    "\033[?2026l\033[<u\033[?25h"

/* The wheel's arrow keys are off at first on some terminals and on on others: what they
 * were is saved by the terminal, which knows, and put back. */
#define PTY_TTY_WHEEL_SAVE "\033[?1007s"
#define PTY_TTY_WHEEL_BACK "\033[?1007r"

/* What ends what one may leave besides: the cursor's shape, a screen in reverse, a mouse
 * told in pixels. */
#define PTY_TTY_PLAIN "\033[0 q\033[?5l\033[?1016l" PTY_TTY_WHEEL_BACK

/* What takes a terminal's alternate screen, blank and calm, and what gives it back. On
 * that screen first: keyboard modes of the one before are not ours to end. */
#define PTY_TTY_TAKE \
    "\030\033\\\033[?1049h" PTY_TTY_WHEEL_SAVE PTY_TTY_CALM "\033[H\033[2J"
#define PTY_TTY_GIVE PTY_TTY_CALM PTY_TTY_WHEEL_BACK "\033[?1049l"

/* A live session's picture has a title and modes of its own besides. The last is what
 * somebody else writes for a viewer that was killed over one. */
#define PTY_TTY_PUSH_TITLE "\033[22;0t"
#define PTY_TTY_POP_TITLE  "\033[23;0t"
#define PTY_TTY_GIVE_LEFT  PTY_TTY_CALM PTY_TTY_PLAIN "\033[?1049l" PTY_TTY_POP_TITLE

/* As much as the terminal takes at once. */
void pty_tty_write(int fd, const char *bytes);

/* False when fd has no size, or one of 0. */
bool pty_size(int fd, uint16_t *ret_cols, uint16_t *ret_rows);
int pty_set_size(int fd, uint16_t cols, uint16_t rows);

/* The same file without a shared O_NONBLOCK: a non-blocking descriptor of its own for a
 * terminal or pipe, so that the shell and others who have it are not affected. -1 with
 * errno where that cannot be had (sockets, regular files). how: O_RDONLY or O_WRONLY. */
int pty_reopen_nonblock(int fd, int how);

#endif
