/* SPDX-License-Identifier: MIT */
/*
 * syncer.c -- records made-up output until it is killed: `syncer FILE
 * interval|block|always`.
 *
 * Prints a line whenever more bytes are safe from a loss of power: how many.
 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "tape/writer.h"

enum { PIECE = 3000 };

int
main(int argc, char **argv)
{
    struct tape_writer_options opt = tape_writer_defaults;
    struct tape_writer *w;
    struct err err;
    if (argc != 3)
        return 2;
    opt.sync = !strcmp(argv[2], "always")  ? TAPE_SYNC_ALWAYS
               : !strcmp(argv[2], "block") ? TAPE_SYNC_BLOCK
                                           : TAPE_SYNC_INTERVAL;
    opt.block_bytes = 16 << 10;
    opt.sync_ns = 2000000;
    if (tape_writer_open(&w, tape_io_files(), argv[1], &opt, &err) < 0) {
        fprintf(stderr, "syncer: %s\n", err.text);
        return 1;
    }
    uint8_t piece[PIECE];
    uint64_t told = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (uint32_t i = 0;; i++) {
        struct tape_writer_status st;
        for (size_t k = 0; k < PIECE; k++)
            piece[k] = (uint8_t)(k % 7 ? 'a' + i % 26 : i * 31 + k);
        tape_writer_append(w,
                           (struct tape_record){ .ts_ns = i, .bytes = { piece, PIECE } });
        tape_writer_status(w, &st);
        if (st.synced_byte_off > told) {
            told = st.synced_byte_off;
            printf("%" PRIu64 "\n", told);
        }
        usleep(100);
    }
}
