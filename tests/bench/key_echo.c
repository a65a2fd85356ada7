/* SPDX-License-Identifier: MIT */
/*
 * key_echo.c -- how long a key takes to come back as an echo.
 *
 *     key_echo KEYS COMMAND [ARG]...   types at the command on a PTY, key by key
 *     key_echo echo                    the program: sends back what it reads
 *
 * The command is to run the program. Prints a line for each key: microseconds. Between
 * keys there is a pause, so that everybody is asleep when the next one comes.
 */
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

enum { PAUSE_US = 1500, PATIENCE_MS = 10000, END = 4 /* ^D */ };
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

/* Reads until `last` comes. */
static int
wait_for(int fd, char last)
{
    char bytes[256];
    struct pollfd p = { .fd = fd, .events = POLLIN };
    while (poll(&p, 1, PATIENCE_MS) > 0) {
        ssize_t n = file_read(fd, bytes, sizeof(bytes));
        if (n <= 0)
            return -1;
        if (memchr(bytes, last, (size_t)n))
            return 0;
    }
    return -1;
}

static int
type(int fd, long keys)
{
    if (wait_for(fd, ready[strlen(ready) - 1]) < 0)
        return -1;
    for (long i = 0; i < keys; i++) {
        char key = (char)('a' + i % 26);
        usleep(PAUSE_US);
        uint64_t begin_ns = clock_mono_ns();
        if (file_write_all(fd, &key, 1) < 0 || wait_for(fd, key) < 0)
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
    if (argc < 3)
        return 2;
    pid_t pid = forkpty(&fd, NULL, NULL, &size);
    if (pid == 0) {
        execvp(argv[2], argv + 2);
        _exit(127);
    }
    if (pid < 0 || type(fd, strtol(argv[1], NULL, 10)) < 0) {
        fprintf(stderr, "key_echo: %s sent no echo\n", argv[2]);
        if (pid > 0)
            kill(pid, SIGTERM);
        return 1;
    }
    see_off(fd, pid);
    return 0;
}
