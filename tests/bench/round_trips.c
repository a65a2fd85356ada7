/* SPDX-License-Identifier: MIT */
/*
 * round_trips.c -- how long a recorder takes to answer, and what is the least for it.
 *
 *     round_trips snapshot SOCKET TIMES    a snapshot and its reply
 *     round_trips status SOCKET TIMES      a question that needs no disk
 *     round_trips together SOCKET TIMES N  N snapshots at once, each on its connection
 *     round_trips ping TIMES               as many bytes to another process and back
 *     round_trips fdatasync TIMES FILE...  4 KiB more in each file, on disk
 *
 * Prints a line for each time: microseconds. Before each there is a pause, so that the
 * other side is asleep and has nothing left to do.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "ipc/message.h"
#include "ipc/socket.h"

enum { PAUSE_US = 2000, PAGE = 4096, TOGETHER_MAX = 60, FILES_MAX = 2 };
static const char label[] = "a step is done";

static void
tell(uint64_t begin_ns)
{
    printf("%.1f\n", (double)(clock_mono_ns() - begin_ns) / 1e3);
}

/* -- a recorder -- */

static int
say(int fd, uint8_t selector, uint64_t id)
{
    AUTO(buf) out = { 0 };
    struct ipc_message m = { .selector = selector, .field = { id } };
    if (selector == IPC_SNAPSHOT)
        m.bytes = (struct view){ (const uint8_t *)label, strlen(label) };
    ipc_message_put(&out, &m, IPC_TO_HOST);
    return file_write_all(fd, out.p, out.n);
}

/* One frame, which is to be the good answer. */
static int
hear(int fd, uint8_t selector)
{
    uint8_t bytes[4096];
    size_t n = 0;
    struct ipc_frame frame;
    ssize_t size;
    while (!(size = ipc_frame_get((struct view){ bytes, n }, &frame))) {
        ssize_t r = file_read(fd, bytes + n, sizeof(bytes) - n);
        if (r <= 0)
            return -ECONNRESET;
        n += (size_t)r;
    }
    return size < 0 || frame.selector != selector ? -EPROTO : 0;
}

static int
reach(const char *path, int *fds, size_t n)
{
    struct ipc_address at;
    struct err err;
    if (ipc_address_parse(&at, path, &err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        fds[i] = ipc_connect(&at, &err);
        if (fds[i] < 0)
            return -1;
    }
    return 0;
}

static int
ask(const char *path, long times, uint8_t selector, uint8_t answer, size_t together)
{
    int fds[TOGETHER_MAX];
    if (together > TOGETHER_MAX || reach(path, fds, together) < 0)
        return -1;
    for (long t = 0; t < times; t++) {
        int r = 0;
        usleep(PAUSE_US);
        uint64_t begin_ns = clock_mono_ns();
        for (size_t i = 0; i < together; i++)
            r |= say(fds[i], selector, (uint64_t)t * together + i);
        for (size_t i = 0; i < together && !r; i++)
            r |= hear(fds[i], answer);
        if (r < 0)
            return r;
        tell(begin_ns);
    }
    return 0;
}

/* -- lower bounds -- */

static void
send_back(int fd)
{
    char bytes[64];
    for (ssize_t n; (n = file_read(fd, bytes, sizeof(bytes))) > 0;)
        if (file_write_all(fd, bytes, (size_t)n) < 0)
            break;
    _exit(0);
}

static int
ping(long times)
{
    char bytes[64];
    int ends[2], r = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
        return -1;
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        send_back(ends[1]);
    }
    close(ends[1]);
    for (; times > 0 && !r && pid > 0; times--) {
        usleep(PAUSE_US);
        uint64_t begin_ns = clock_mono_ns();
        r = file_write_all(ends[0], label, strlen(label));
        if (!r && file_read(ends[0], bytes, sizeof(bytes)) <= 0)
            r = -1;
        tell(begin_ns);
    }
    close(ends[0]);
    waitpid(pid, NULL, 0);
    return pid < 0 ? -1 : r;
}

static int
sync_pages(long times, char **paths, size_t n)
{
    static const char page[PAGE];
    int fds[FILES_MAX], r = n <= FILES_MAX ? 0 : -1;
    for (size_t i = 0; i < n && !r; i++) {
        fds[i] = open(paths[i], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        r = fds[i] < 0 ? -1 : 0;
    }
    for (; times > 0 && !r; times--) {
        usleep(PAUSE_US);
        uint64_t begin_ns = clock_mono_ns();
        for (size_t i = 0; i < n && !r; i++)
            r = file_write_all(fds[i], page, sizeof(page));
        for (size_t i = 0; i < n && !r; i++)
            r = fdatasync(fds[i]);
        tell(begin_ns);
    }
    return r;
}

int
main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[1] : "", *path = argc > 3 ? argv[2] : "";
    bool is_bare = !strcmp(what, "ping") || !strcmp(what, "fdatasync");
    long times = argc > 3 || is_bare ? strtol(argv[is_bare ? 2 : 3], NULL, 10) : 0;
    int r = -1;
    if (!strcmp(what, "snapshot"))
        r = ask(path, times, IPC_SNAPSHOT, IPC_DONE, 1);
    else if (!strcmp(what, "status"))
        r = ask(path, times, IPC_STATUS, IPC_STATE, 1);
    else if (!strcmp(what, "together") && argc > 4)
        r = ask(path, times, IPC_SNAPSHOT, IPC_DONE, strtoul(argv[4], NULL, 10));
    else if (!strcmp(what, "ping"))
        r = ping(times);
    else if (!strcmp(what, "fdatasync"))
        r = sync_pages(times, argv + 3, (size_t)argc - 3);
    if (r < 0)
        fprintf(stderr, "round_trips: no answer\n");
    return r < 0;
}
