/* SPDX-License-Identifier: MIT */
/*
 * marked_stream.c -- lines that say when they were written, for frame_times.c.
 *
 *     marked_stream BYTES_A_SECOND SECONDS
 *
 * 0 bytes a second: as fast as they are taken. Every tenth line is "<F NUMBER STAMP
 * CHECK>", where STAMP is the monotonic clock in microseconds just before it was written;
 * so there is one on each screen of ten rows and more.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "bench/marked.h"

enum { LINES = 10, BLOCKS = 4, ROOM = 8192 };

/* Some lines, marked now; no two blocks look alike. */
static size_t
fill(char *text, uint64_t *number)
{
    size_t n = 0;
    uint64_t stamp_us = clock_mono_ns() / 1000;
    for (int block = 0; block < BLOCKS; block++) {
        ++*number;
        for (int i = 1; i < LINES; i++)
            n += (size_t)snprintf(text + n, ROOM - n,
                                  "%c line %d of block %" PRIu64
                                  ": some text as a build prints it, ok\r\n",
                                  (char)('a' + (*number + (uint64_t)i) % 26), i, *number);
        n += (size_t)snprintf(text + n, ROOM - n,
                              MARK_BEGIN "%" PRIu64 " %" PRIu64 " %" PRIu64 ">\r\n",
                              *number, stamp_us, mark_check(*number, stamp_us));
    }
    return n;
}

static void
sleep_until(uint64_t ns)
{
    struct timespec t = { .tv_sec = (time_t)(ns / 1000000000),
                          .tv_nsec = (long)(ns % 1000000000) };
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

int
main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    static char text[ROOM];
    uint64_t rate = strtoull(argv[1], NULL, 10), begin_ns = clock_mono_ns();
    uint64_t end_ns = begin_ns + strtoull(argv[2], NULL, 10) * 1000000000;
    uint64_t number = 0, bytes = 0;
    while (clock_mono_ns() < end_ns) {
        size_t n = fill(text, &number);
        if (file_write_all(STDOUT_FILENO, text, n) < 0)
            return 1;
        bytes += n;
        if (rate)
            sleep_until(begin_ns + bytes * 1000000000 / rate);
    }
    return 0;
}
