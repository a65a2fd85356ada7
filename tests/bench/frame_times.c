/* SPDX-License-Identifier: MIT */
/*
 * frame_times.c -- what a program shows on a terminal, and how old that is.
 *
 *     frame_times COLS ROWS MILLISECONDS COMMAND [ARG]...
 *
 * Runs the command on a terminal of its own and reads all that it writes, into a model of
 * that terminal, until it ends or the time is over (0: never). When a newer line of
 * marked_stream.c is to be seen, that is a picture. Prints at the end
 *
 *     bytes N                      that were written to the terminal
 *     picture AGE_US DISTANCE_US   since the line was written; since the last picture
 */
#include <inttypes.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "bench/marked.h"
#include "term/term.h"

enum { CHUNK = 64 << 10, LINE_ENOUGH = 64 };

struct outer {
    struct term *term;
    struct buf line; /* for reading */
    uint64_t newest, last_us, bytes;
    struct buf pictures; /* what is printed of them */
};

/* Whether the text has a newer mark, whole. */
static bool
is_newer(struct outer *o, const char *text, uint64_t *ret_stamp_us)
{
    uint64_t number, stamp_us, check;
    const char *at = strstr(text, MARK_BEGIN);
    if (!at || sscanf(at + strlen(MARK_BEGIN), "%" SCNu64 " %" SCNu64 " %" SCNu64 ">",
                      &number, &stamp_us, &check) != 3)
        return false;
    if (number <= o->newest || check != mark_check(number, stamp_us))
        return false;
    o->newest = number;
    *ret_stamp_us = stamp_us;
    return true;
}

/* The row of the screen in use; enough of it for a mark. */
static const char *
read_row(struct outer *o, unsigned row)
{
    buf_clear(&o->line);
    for (unsigned col = 0; col < term_cols(o->term) && o->line.n < LINE_ENOUGH; col++) {
        struct term_cell cell;
        term_cell_at(o->term, row, col, &cell);
        buf_append(&o->line, cell.text.n ? (const char *)cell.text.p : " ",
                   cell.text.n ? cell.text.n : 1);
    }
    return buf_str(&o->line);
}

static void
look(struct outer *o, uint64_t now_us)
{
    uint64_t stamp_us = 0;
    bool has_new = false;
    for (unsigned row = 0; row < term_rows(o->term); row++)
        if (term_is_damaged(o->term, row))
            has_new |= is_newer(o, read_row(o, row), &stamp_us);
    term_damage_clear(o->term);
    if (!has_new)
        return;
    buf_printf(&o->pictures, "picture %" PRIu64 " %" PRIu64 "\n", now_us - stamp_us,
               o->last_us ? now_us - o->last_us : 0);
    o->last_us = now_us;
}

static void
read_all(struct outer *o, int fd, uint64_t end_ns)
{
    static char bytes[CHUNK];
    struct pollfd p = { .fd = fd, .events = POLLIN };
    for (;;) {
        uint64_t now_ns = clock_mono_ns();
        if (end_ns && now_ns >= end_ns)
            return;
        int left_ms = end_ns ? (int)((end_ns - now_ns) / 1000000) + 1 : -1;
        if (poll(&p, 1, left_ms) <= 0)
            continue;
        ssize_t n = file_read(fd, bytes, sizeof(bytes));
        uint64_t now_us = clock_mono_ns() / 1000;
        if (n <= 0)
            return;
        term_feed(o->term, bytes, (size_t)n, o->bytes);
        o->bytes += (uint64_t)n;
        look(o, now_us);
    }
}

int
main(int argc, char **argv)
{
    if (argc < 5)
        return 2;
    struct winsize size = { .ws_col = (unsigned short)strtoul(argv[1], NULL, 10),
                            .ws_row = (unsigned short)strtoul(argv[2], NULL, 10) };
    uint64_t ms = strtoull(argv[3], NULL, 10);
    struct outer o = { .pictures.ceiling = (size_t)256 << 20 };
    struct term_options opt = { .cols = size.ws_col, .rows = size.ws_row };
    int fd;
    if (!(o.term = term_new(&opt)))
        return 1;
    pid_t pid = forkpty(&fd, NULL, NULL, &size);
    if (pid == 0) {
        execvp(argv[4], argv + 4);
        _exit(127);
    }
    if (pid < 0)
        return 1;
    read_all(&o, fd, ms ? clock_mono_ns() + ms * 1000000 : 0);
    close(fd);
    kill(pid, SIGTERM);
    waitpid(pid, NULL, 0);
    printf("bytes %" PRIu64 "\n%s", o.bytes, buf_str(&o.pictures));
    buf_release(&o.pictures);
    buf_release(&o.line);
    term_free(o.term);
    return 0;
}
