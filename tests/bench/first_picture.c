/* SPDX-License-Identifier: MIT */
/*
 * first_picture.c -- how long a command takes to show something on a terminal.
 *
 *     first_picture TIMES COLS ROWS TEXT COMMAND [ARG]...
 *
 * Starts the command so many times on a terminal of its own, which goes away as soon as
 * the text has come; it should be what is drawn last. Prints a line for each time:
 * microseconds from the start.
 */
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

enum { PATIENCE_MS = 10000, CHUNK = 64 << 10, TEXT_MAX = 256 };

/* Reads until the text has come. */
static int
wait_for(int fd, const char *text)
{
    static char bytes[TEXT_MAX + CHUNK];
    struct pollfd p = { .fd = fd, .events = POLLIN };
    size_t length = strlen(text), kept = 0;
    while (poll(&p, 1, PATIENCE_MS) > 0) {
        ssize_t n = file_read(fd, bytes + kept, CHUNK);
        if (n <= 0)
            return -1;
        size_t have = kept + (size_t)n;
        if (memmem(bytes, have, text, length))
            return 0;
        kept = have < length ? have : length - 1;
        memmove(bytes, bytes + have - kept, kept);
    }
    return -1;
}

static int
show_once(const struct winsize *size, const char *text, char **command)
{
    int fd;
    uint64_t begin_ns = clock_mono_ns();
    pid_t pid = forkpty(&fd, NULL, NULL, size);
    if (pid == 0) {
        execvp(command[0], command);
        _exit(127);
    }
    if (pid < 0)
        return -1;
    int r = wait_for(fd, text);
    uint64_t end_ns = clock_mono_ns();
    close(fd);
    if (r < 0)
        kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    if (!r)
        printf("%.1f\n", (double)(end_ns - begin_ns) / 1e3);
    return r;
}

int
main(int argc, char **argv)
{
    if (argc < 6 || !argv[4][0] || strlen(argv[4]) > TEXT_MAX)
        return 2;
    struct winsize size = { .ws_col = (unsigned short)strtoul(argv[2], NULL, 10),
                            .ws_row = (unsigned short)strtoul(argv[3], NULL, 10) };
    for (long times = strtol(argv[1], NULL, 10); times > 0; times--) {
        if (show_once(&size, argv[4], argv + 5) < 0) {
            fprintf(stderr, "first_picture: %s did not show it\n", argv[5]);
            return 1;
        }
    }
    return 0;
}
