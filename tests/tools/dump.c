/* SPDX-License-Identifier: MIT */
/*
 * dump.c -- a recording as lines of text, for comparison with tests/ahr_reader.py.
 *
 *     data TS OFF LEN SUM      resize TS COLS ROWS      input TS LEN SUM
 *     mark TS CODE VAL         snapshot TS ID ANCHOR LEN SUM
 *     damage SUFFIX OFFSET LENGTH     (SUFFIX: what the file's name adds to the
 * recording's, or -)
 *
 * SUM is the sum of (index + 1) * byte modulo 2^32.
 */
#include <inttypes.h>
#include <stdio.h>

#include "tape/reader.h"

static const char *path;

static void
print_damage(void *ctx, const struct tape_notice *n)
{
    (void)ctx;
    const char *suffix = n->file + strlen(path);
    if (n->kind != TAPE_NOTE_WARNING)
        printf("damage %s %" PRIu64 " %" PRIu64 "\n", *suffix ? suffix : "-", n->offset,
               n->length);
}

static uint32_t
sum(struct view v)
{
    uint32_t s = 0;
    for (size_t i = 0; i < v.n; i++)
        s += (uint32_t)(i + 1) * v.p[i];
    return s;
}

static void
print_record(const struct tape_record *r)
{
    switch ((enum tape_tag)r->tag) {
    case TAPE_DATA:
        printf("data %" PRIu64 " %" PRIu64 " %zu %u\n", r->ts_ns, r->byte_off, r->bytes.n,
               sum(r->bytes));
        return;
    case TAPE_RESIZE:
        printf("resize %" PRIu64 " %u %u\n", r->ts_ns, r->cols, r->rows);
        return;
    case TAPE_INPUT:
        printf("input %" PRIu64 " %zu %u\n", r->ts_ns, r->bytes.n, sum(r->bytes));
        return;
    case TAPE_MARK:
        printf("mark %" PRIu64 " %u %u\n", r->ts_ns, r->code, r->val);
        return;
    case TAPE_SNAPSHOT:
        printf("snapshot %" PRIu64 " %" PRIu64 " %" PRIu64 " %zu %u\n", r->ts_ns,
               r->snapshot_id, r->byte_off, r->bytes.n, sum(r->bytes));
        return;
    }
}

int
main(int argc, char **argv)
{
    struct tape_reader_options opt = { .notice = print_damage };
    struct tape_reader *r;
    struct tape_record rec;
    struct err err;
    path = argc == 2 ? argv[1] : "";
    if (tape_reader_open(&r, tape_io_files(), path, &opt, &err) < 0) {
        fprintf(stderr, "dump: %s\n", err.text);
        return 1;
    }
    while (tape_reader_next(r, &rec))
        print_record(&rec);
    tape_reader_close(r);
    return 0;
}
