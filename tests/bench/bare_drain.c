/* SPDX-License-Identifier: MIT */
/*
 * bare_drain.c -- the least that a recorder must do: `bare_drain BATCH_US COMMAND
 * [ARG]...`
 *
 * Runs the command on a PTY, reads all that it writes and forgets it. With a batch each
 * wake-up waits that long before it reads all that has come; with 0 it is one read a
 * poll. Prints how many bytes there were.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pty.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* One read, or in a batch all that is there; false at the end. */
static bool
drain(int fd, long batch_us, uint64_t *total)
{
    static char bytes[64 << 10];
    ssize_t n;
    if (batch_us)
        nanosleep(&(struct timespec){ .tv_nsec = batch_us * 1000 }, NULL);
    do {
        n = read(fd, bytes, sizeof(bytes));
        *total += n > 0 ? (uint64_t)n : 0;
    } while (batch_us && n > 0);
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

int
main(int argc, char **argv)
{
    struct winsize size = { .ws_col = 80, .ws_row = 24 };
    int fd, status;
    uint64_t total = 0;
    if (argc < 3)
        return 2;
    long batch_us = strtol(argv[1], NULL, 10);
    pid_t pid = forkpty(&fd, NULL, NULL, &size);
    if (pid == 0) {
        execvp(argv[2], argv + 2);
        _exit(127);
    }
    if (pid < 0 || fcntl(fd, F_SETFL, O_NONBLOCK) < 0) {
        perror("bare_drain");
        return 1;
    }
    prctl(PR_SET_TIMERSLACK, 1UL);
    struct pollfd p = { .fd = fd, .events = POLLIN };
    do
        poll(&p, 1, -1);
    while (drain(fd, batch_us, &total));
    waitpid(pid, &status, 0);
    printf("%" PRIu64 "\n", total);
    return status != 0;
}
