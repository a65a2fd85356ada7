/* SPDX-License-Identifier: MIT */
/*
 * key_echo.c -- how long a key takes to come back as an echo.
 *
 *     key_echo KEYS PAUSE_US COMMAND [ARG]...   types at the command on a PTY, key by key
 *     key_echo echo                             the program: sends back what it reads
 *
 * The command is to run the program, or to show a terminal on which it runs: letters of
 * control sequences are no echo. Prints a line for each key: microseconds. Between keys
 * there is a pause, so that everybody is asleep when the next one comes.
 */
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

enum { PATIENCE_MS = 10000, END = 4 /* ^D */ };
static const char ready[] = "ready>";

static int
echo(void)
{
    struct termios raw;
    char c;
    if (tcgetattr(STDIN_FILENO, &raw) < 0)
        return 1;
    cfmakeraw(&raw);
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    if (file_write_all(STDOUT_FILENO, ready, strlen(ready)) < 0)
        return 1;
    while (file_read(STDIN_FILENO, &c, 1) == 1 && c != END)
        if (file_write_all(STDOUT_FILENO, &c, 1) < 0)
            return 1;
    return 0;
}

/* What of a control sequence has come. */
enum state { TEXT, ESCAPE, CSI, STRING };

/* Is it a character that is shown? */
static bool
is_text(enum state *state, char c)
{
    switch (*state) {
    case TEXT:
        *state = c == '\033' ? ESCAPE : TEXT;
        return c != '\033';
    case ESCAPE:
        if (c >= ' ' && c <= '/')
            return false;
        *state = c == '[' ? CSI : strchr("]P_^X", c) ? STRING : TEXT;
        return false;
    case CSI:
        *state = c >= '@' ? TEXT : CSI;
        return false;
    case STRING:
        *state = c == '\a' ? TEXT : c == '\033' ? ESCAPE : STRING;
        return false;
    }
    return false;
}

/* Reads until `last` comes. */
static int
wait_for(int fd, enum state *state, char last)
{
    char bytes[4096];
    struct pollfd p = { .fd = fd, .events = POLLIN };
    while (poll(&p, 1, PATIENCE_MS) > 0) {
        ssize_t n = file_read(fd, bytes, sizeof(bytes));
        bool has_come = false;
        if (n <= 0)
            return -1;
        for (ssize_t i = 0; i < n; i++)
            has_come |= is_text(state, bytes[i]) && bytes[i] == last;
        if (has_come)
            return 0;
    }
    return -1;
}

static int
type(int fd, long keys, useconds_t pause_us)
{
    enum state state = TEXT;
    if (wait_for(fd, &state, ready[strlen(ready) - 1]) < 0)
        return -1;
    for (long i = 0; i < keys; i++) {
        char key = (char)('a' + i % 26);
        usleep(pause_us);
        uint64_t begin_ns = clock_mono_ns();
        if (file_write_all(fd, &key, 1) < 0 || wait_for(fd, &state, key) < 0)
            return -1;
        printf("%.1f\n", (double)(clock_mono_ns() - begin_ns) / 1e3);
    }
    char end = END;
    return file_write_all(fd, &end, 1);
}

/* Whatever it still says, until it is gone. */
static void
see_off(int fd, pid_t pid)
{
    char bytes[256];
    while (file_read(fd, bytes, sizeof(bytes)) > 0)
        continue;
    waitpid(pid, NULL, 0);
}

int
main(int argc, char **argv)
{
    struct winsize size = { .ws_col = 80, .ws_row = 24 };
    int fd;
    if (argc == 2 && !strcmp(argv[1], "echo"))
        return echo();
    if (argc < 4)
        return 2;
    useconds_t pause_us = (useconds_t)strtoul(argv[2], NULL, 10);
    pid_t pid = forkpty(&fd, NULL, NULL, &size);
    if (pid == 0) {
        execvp(argv[3], argv + 3);
        _exit(127);
    }
    if (pid < 0 || type(fd, strtol(argv[1], NULL, 10), pause_us) < 0) {
        fprintf(stderr, "key_echo: %s sent no echo\n", argv[3]);
        if (pid > 0)
            kill(pid, SIGTERM);
        return 1;
    }
    see_off(fd, pid);
    return 0;
}
