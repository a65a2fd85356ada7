/* SPDX-License-Identifier: MIT */
/*
 * asker.c -- a program that writes and at once asks its recorder for a snapshot, many
 * times: `asker COUNT FIRST_ID REPLIES`.
 *
 * Output is not processed, so that it knows where it stands: each reply must name that
 * byte. Each reply is a line `id anchor_byte ts_ns` of the file REPLIES, written before
 * the next question; a refusal is `id - text`. Pieces have from 0 to 20,000 bytes, more
 * than a PTY holds; every 16th question comes by a new connection. The text is TEXT over
 * and over. With COUNT 0 it never ends. Exit status: 1 when an anchor was wrong.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/file.h"
#include "mock/notify.h"
#include "support/rng.h"

#define TEXT "all work and no play makes the agent a dull one\r\n"

enum { PIECE_MAX = 20000, CONNECTION_ASKS = 16 };

_Noreturn static void
die(const char *what, int r)
{
    fprintf(stderr, "asker: %s: %s\n", what, strerror(-r));
    exit(2);
}

static void
plain_output(void)
{
    struct termios t;
    if (tcgetattr(STDOUT_FILENO, &t) < 0)
        die("stdout", -errno);
    t.c_oflag &= (tcflag_t)~OPOST;
    if (tcsetattr(STDOUT_FILENO, TCSANOW, &t) < 0)
        die("stdout", -errno);
}

/* Mostly a few bytes, as tools write them; now and then more than the PTY takes. */
static size_t
piece_size(uint32_t *rng)
{
    uint32_t sort = rng_below(rng, 64);
    return rng_below(rng, sort == 0 ? PIECE_MAX : sort < 8 ? 3000 : 100);
}

static void
write_piece(uint64_t at, size_t n)
{
    char piece[PIECE_MAX];
    for (size_t i = 0; i < n; i++)
        piece[i] = TEXT[(at + i) % (sizeof(TEXT) - 1)];
    int r = file_write_all(STDOUT_FILENO, piece, n);
    if (r < 0)
        die("stdout", r);
}

static void
tell(int fd, uint64_t id, const struct notify_reply *reply)
{
    char line[400];
    int n = reply->is_done
                ? snprintf(line, sizeof(line), "%" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
                           reply->id, reply->anchor_byte, reply->ts_ns)
                : snprintf(line, sizeof(line), "%" PRIu64 " - %s\n", id, reply->text);
    int r = file_write_all(fd, line, (size_t)n);
    if (r < 0)
        die("replies", r);
}

static int
connected(int fd)
{
    if (fd >= 0)
        close(fd);
    fd = notify_open(NULL);
    if (fd < 0)
        die("AHR_IPC", fd);
    return fd;
}

int
main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    uint64_t count = strtoull(argv[1], NULL, 10), id = strtoull(argv[2], NULL, 10);
    uint64_t written = 0, wrong = 0;
    uint32_t rng = rng_seed((uint32_t)id);
    int fd = -1, replies = open(argv[3], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (replies < 0)
        die(argv[3], -errno);
    plain_output();
    for (uint64_t i = 0; !count || i < count; i++, id++) {
        struct notify_reply reply;
        if (i % CONNECTION_ASKS == 0)
            fd = connected(fd);
        size_t n = piece_size(&rng);
        write_piece(written, n);
        written += n;
        int r = notify_snapshot(fd, id, "after a piece", &reply);
        if (r < 0)
            die("snapshot", r);
        tell(replies, id, &reply);
        if (!reply.is_done || reply.id != id || reply.anchor_byte != written)
            wrong++;
    }
    return wrong > 0;
}
