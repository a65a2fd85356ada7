/* SPDX-License-Identifier: MIT */
/*
 * bounds -- what a report over a recording cannot do without.
 *
 * usage: bounds brotli|decode|feed FILE.ahr
 *
 * brotli: the streams of its blocks, decoded and thrown away. decode: the recording read
 * as ahr reads it, checked, record by record. feed: that, and every byte through the
 * terminal model, with the scrollback that reports have. The caller takes the time.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tape/brotli.h"
#include "tape/reader.h"
#include "term/term.h"

static int
fail(const char *what)
{
    fprintf(stderr, "bounds: %s\n", what);
    return 1;
}

static int
brotli_alone(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        return fail("cannot open it");
    size_t size = (size_t)st.st_size;
    const uint8_t *p = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED)
        return fail("cannot map it");
    uint8_t *out = malloc(TAPE_BLOCK_RAW_MAX);
    struct tape_block b;
    int r = out ? 0 : fail("out of memory");
    for (size_t at = 0; !r && at + TAPE_BLOCK_HEAD <= size;
         at += TAPE_BLOCK_HEAD + b.packed_len)
        if (tape_block_parse(p + at, &b) ||
            tape_inflate((struct view){ p + at + TAPE_BLOCK_HEAD, b.packed_len }, out,
                         b.raw_len))
            r = fail("no block where one should be");
    free(out);
    close(fd);
    return r;
}

static int
read_all(const char *path, struct term *t)
{
    struct tape_reader_options opt = { 0 };
    struct tape_reader *r;
    struct tape_record rec;
    struct err err;
    uint64_t bytes = 0;
    if (tape_reader_open(&r, tape_io_files(), path, &opt, &err) < 0)
        return fail(err.text);
    while (tape_reader_next(r, &rec)) {
        if (t && rec.tag == TAPE_RESIZE)
            term_resize(t, rec.cols, rec.rows);
        if (rec.tag != TAPE_DATA)
            continue;
        bytes += rec.bytes.n;
        if (t)
            term_feed(t, rec.bytes.p, rec.bytes.n, rec.byte_off);
    }
    tape_reader_close(r);
    return bytes ? 0 : fail("nothing in it");
}

int
main(int argc, char **argv)
{
    if (argc != 3)
        return fail("usage: bounds brotli|decode|feed FILE.ahr");
    if (!strcmp(argv[1], "brotli"))
        return brotli_alone(argv[2]);
    if (!strcmp(argv[1], "decode"))
        return read_all(argv[2], NULL);
    struct term_options opt = term_options_default();
    struct term *t = term_new(&opt);
    int r = t ? read_all(argv[2], t) : fail("out of memory");
    term_free(t);
    return r;
}
