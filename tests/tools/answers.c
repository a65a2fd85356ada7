/* SPDX-License-Identifier: MIT */
/* answers.c -- what the terminal would send back for the bytes on stdin. usage: answers
 * COLS ROWS */
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "term/term.h"

static void
answer(void *ctx, const void *p, size_t n)
{
    (void)ctx;
    if (file_write_all(STDOUT_FILENO, p, n) < 0)
        _exit(1);
}

int
main(int argc, char **argv)
{
    struct term_options opt = term_options_default();
    if (argc != 3)
        return 2;
    opt.cols = (unsigned)strtoul(argv[1], NULL, 10);
    opt.rows = (unsigned)strtoul(argv[2], NULL, 10);
    opt.reply = answer;
    struct term *t = term_new(&opt);
    if (!t)
        return 1;
    uint8_t bytes[4096];
    uint64_t off = 0;
    ssize_t n;
    while ((n = file_read(STDIN_FILENO, bytes, sizeof(bytes))) > 0) {
        term_feed(t, bytes, (size_t)n, off);
        off += (uint64_t)n;
    }
    term_free(t);
    return n < 0;
}
